// The C function of a task. Rows are counted from where its result and inboxes begin: parts that differ in
// their place alone have the same text.
#include "code/kernels.h"

#include <fmt/format.h>

#include <cmath>
#include <cstdio>

#include "plan/memory.h"

namespace mrvlc::mesh {
namespace {

std::string number(float v) {
  if (std::isnan(v)) return "NAN";
  if (std::isinf(v)) return v > 0 ? "INFINITY" : "-INFINITY";
  char text[48];
  std::snprintf(text, sizeof text, "%af", static_cast<double>(v));
  return text[0] == '-' ? "(" + std::string(text) + ")" : text;
}

class TaskWriter {
 public:
  TaskWriter(const NetworkOf& network, const Task& task, std::string index)
      : n_(network),
        t_(task),
        l_(network.layers[task.layer]),
        i_(std::move(index)),
        result_(network.tensors[l_.planned.output]) {}

  std::string run() {
    line("static void task_{}(void *memory, uint32_t image) {{", i_);
    line("  struct memory *const m = memory;");
    for (size_t k = 0; k < t_.inboxes.size(); ++k) inbox(k);
    line("  {} *const out = m->{};", c_type(result_.elem), result_name(i_));
    line("  (void)image;");
    switch (l_.planned.kind) {
      case Kind::Conv:
        conv();
        break;
      case Kind::Pool:
        pool();
        break;
      case Kind::Map:
        map();
        break;
      case Kind::Softmax:
        softmax();
        break;
      case Kind::Move:
        move();
        break;
    }
    line("}}");
    return std::move(text_);
  }

 private:
  template <class... Args>
  void line(fmt::format_string<Args...> format, Args&&... args) {
    fmt::format_to(std::back_inserter(text_), format, std::forward<Args>(args)...);
    text_ += '\n';
  }
  const Tensor3& operand(size_t k) const { return n_.tensors[l_.planned.inputs[k]]; }

  void inbox(size_t k) {
    const Inbox& in = t_.inboxes[k];
    const int64_t elements = volume(operand(k), in.box);
    const std::string at = in.slots == 1 ? "" : fmt::format(" + image % {}u * {}u", in.slots, elements);
    line("  const {} *const x{} = m->{}{};", c_type(operand(k).elem), k, inbox_name(k, i_), at);
  }

  // Loops over the result; `row`, `column` and `channel` are from its begin.
  void open_result() {
    line("  for (int32_t row = 0; row < {}; ++row)", t_.box.rows);
    line("    for (int32_t column = 0; column < {}; ++column)", result_.width);
    line("      for (int32_t channel = 0; channel < {}; ++channel) {{", t_.box.channels);
  }
  // Loops over the taps of the window that lie in the operand; x and y are the operand's.
  void open_window() {
    const Window& w = l_.planned.window;
    const Columns& c = l_.columns;
    const Box& in = t_.inboxes[0].box;
    line("        for (int32_t ky = 0; ky < {}; ++ky) {{", w.kernel);
    line("          const int32_t y = row * {} + ky * {} - ({});", w.stride, w.dilation,
         w.pad + in.row - t_.box.row * w.stride);
    line("          if (y < 0 || y >= {}) continue;", in.rows);
    line("          for (int32_t kx = 0; kx < {}; ++kx) {{", c.kernel);
    line("            const int32_t x = column * {} + kx * {} - {};", c.stride, c.dilation, c.pad);
    line("            if (x < 0 || x >= {}) continue;", operand(0).width);
  }
  std::string result_index() const {
    return fmt::format("out[(row * {} + column) * {} + channel]", result_.width, t_.box.channels);
  }

  void conv() {
    const ConvData& c = l_.conv;
    const Box& in = t_.inboxes[0].box;
    open_result();
    line("        uint32_t sum = (uint32_t)m->bias_{}[channel];", i_);
    open_window();
    line(
        "            sum += mrvl_mac_{}(x0 + (y * {} + x) * {}{}, m->weights_{} + ((channel * {} + ky) * {} "
        "+ kx) * {}, {}, {}, {});",
        operand(0).elem == Elem::U8 ? "u8" : "i8", operand(0).width, in.channels, group_offset(), i_,
        l_.planned.window.kernel, l_.columns.kernel, c.group_channels, c.group_channels, c.input_zero,
        c.weight_zero);
    line("          }}\n        }}");
    if (l_.rounding)
      line("        {} = ({}){};", result_index(), c_type(result_.elem),
           rounded(fmt::format("(float)(int32_t)sum * m->factor_{}[channel]", i_), false));
    else
      line("        {} = (int32_t)sum;", result_index());
    line("      }}");
  }
  // Where the operand channels of the result channel's group begin.
  std::string group_offset() const {
    const int64_t groups = l_.planned.window.group;
    if (groups == 1) return "";
    const int64_t of_result = result_.channels / groups;
    return fmt::format(" + (channel + {}) / {} * {}", t_.box.channel % of_result, of_result,
                       l_.conv.group_channels);
  }
  // Of a number that is not yet divided by the scale, where `divide`.
  std::string rounded(const std::string& value, bool divide) const {
    const Rounding& r = *l_.rounding;
    const std::string v = divide ? fmt::format("({}) / {}", value, number(r.scale)) : value;
    return fmt::format("mrvl_round({}, {}, {}, {})", v, r.zero, r.low, r.high);
  }
  // A number of the result, as it is stored.
  std::string stored(const std::string& value) const {
    return l_.rounding ? fmt::format("({}){}", c_type(result_.elem), rounded(value, true)) : value;
  }
  // An element of an operand as a number.
  static std::string loaded(const Step& s, size_t k, const std::string& index) {
    if (s.op == Step::Op::Load) return fmt::format("(float)x{}[{}]", k, index);
    return fmt::format("(float)(x{}[{}] - ({})) * {}", k, index, s.zero, number(s.scale));
  }

  void pool() {
    const Box& in = t_.inboxes[0].box;
    const std::string at = fmt::format("(y * {} + x) * {} + channel", operand(0).width, in.channels);
    const bool elements = l_.steps.empty();
    open_result();
    line("        {} best = 0;\n        double sum = 0;\n        int32_t count = 0;",
         elements ? "int32_t" : "float");
    open_window();
    if (elements)
      line("            const int32_t v = x0[{}];", at);
    else
      line("            const float v = {};", loaded(l_.steps[0], 0, at));
    line("            if (count == 0 || v > best) best = v;");
    line("            sum += (double)v;\n            ++count;\n          }}\n        }}");
    line("        (void)sum;");
    if (elements)
      line("        {} = ({})best;", result_index(), c_type(result_.elem));
    else
      line("        {} = {};", result_index(), stored(l_.is_max ? "best" : "(float)(sum / (double)count)"));
    line("      }}");
  }

  std::string step_text(const Step& s, size_t at) const {
    const auto binary = [&](char op) { return fmt::format("v{} {} v{}", s.a, op, s.b); };
    switch (s.op) {
      case Step::Op::Load:
      case Step::Op::Dequantize:
        return loaded(s, s.a, "i");
      case Step::Op::Constant:
        return s.numbers.size() == 1 ? number(s.numbers[0]) : fmt::format("m->numbers{}_{}[channel]", at, i_);
      case Step::Op::Add:
        return binary('+');
      case Step::Op::Sub:
        return binary('-');
      case Step::Op::Mul:
        return binary('*');
      case Step::Op::Div:
        return binary('/');
      case Step::Op::Min:
        return fmt::format("v{0} < v{1} ? v{0} : v{1}", s.a, s.b);
      case Step::Op::Max:
        return fmt::format("v{0} > v{1} ? v{0} : v{1}", s.a, s.b);
      case Step::Op::Relu:
        return fmt::format("v{0} > 0.0f ? v{0} : 0.0f", s.a);
      case Step::Op::Neg:
        return fmt::format("-v{}", s.a);
    }
    return "";
  }
  void map() {
    const int64_t pixels = t_.box.rows * result_.width;
    line("  for (int32_t pixel = 0; pixel < {}; ++pixel)", pixels);
    line("    for (int32_t channel = 0; channel < {}; ++channel) {{", t_.box.channels);
    line("      const int32_t i = pixel * {} + channel;", t_.box.channels);
    if (!l_.table.empty()) {
      line("      out[i] = ({})m->table_{}[(uint8_t)x0[i]];", c_type(result_.elem), i_);
    } else {
      for (size_t s = 0; s < l_.steps.size(); ++s)
        line("      const float v{} = {};", s, step_text(l_.steps[s], s));
      line("      out[i] = {};", stored(fmt::format("v{}", l_.steps.size() - 1)));
    }
    line("    }}");
  }

  void softmax() {
    const std::string v = loaded(l_.steps[0], 0, fmt::format("lane * {} + i", result_.channels));
    const std::string each = fmt::format("    for (int32_t i = 0; i < {}; ++i) {{", result_.channels);
    line("  for (int32_t lane = 0; lane < {}; ++lane) {{", t_.box.rows * result_.width);
    line("    float peak = -INFINITY;\n    double sum = 0;");
    line("{}\n      const float v = {};\n      if (v > peak) peak = v;\n    }}", each, v);
    line("{}\n      const float v = {};\n      sum += exp((double)v - (double)peak);\n    }}", each, v);
    line("{}\n      const float v = {};", each, v);
    line("      const float share = (float)(exp((double)v - (double)peak) / sum);");
    line("      out[lane * {} + i] = {};\n    }}\n  }}", result_.channels, stored("share"));
  }

  void move() {
    for (size_t k = 0; k < l_.copies.size(); ++k) {
      const Copy& copy = l_.copies[k];
      std::string from = std::to_string(copy.from), to = std::to_string(copy.to), indent = "  ";
      for (size_t d = 0; d < copy.loops.size(); ++d, indent += "  ") {
        line("{0}for (int32_t i{1} = 0; i{1} < {2}; ++i{1})", indent, d, copy.loops[d].count);
        from += fmt::format(" + i{} * {}", d, copy.loops[d].from);
        to += fmt::format(" + i{} * {}", d, copy.loops[d].to);
      }
      line("{}out[{}] = x{}[{}];", indent, to, k, from);
    }
  }

  const NetworkOf& n_;
  const Task& t_;
  const Layer& l_;
  const std::string i_;
  const Tensor3& result_;
  std::string text_;
};

}  // namespace

std::string task_text(const NetworkOf& network, const Task& task, const std::string& index) {
  return TaskWriter(network, task, index).run();
}

}  // namespace mrvlc::mesh
