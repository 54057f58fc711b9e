// Calls of libraries: a C function of the program for each, whose body is the call. Tensors in another order
// of dimensions are forms of the value, made once and kept while somebody reads them; what a call writes in a
// form is written back only where somebody reads the plain value.
#include <fmt/ranges.h>

#include <cmath>

#include "function.h"
#include "mrvlc/partition/partition.h"

namespace mrvlc::chost {
namespace {

using partition::CallArgument;
constexpr size_t kLongArray = 16;  // numbers; longer ones lie with the weights
constexpr size_t kLongLine = 100;  // columns of all arguments; beyond that each has a line

// Elements of a constant in the order of the permuted dimensions.
Tensor permuted(const Tensor& t, const std::vector<int64_t>& perm) {
  Shape shape, strides;
  const Shape all = row_major_strides(t.shape());
  for (int64_t d : perm) {
    shape.push_back(t.shape()[static_cast<size_t>(d)]);
    strides.push_back(all[static_cast<size_t>(d)]);
  }
  Tensor out(TensorType{t.elem(), shape});
  const auto from = t.bytes();
  const auto to = out.mutable_data<std::byte>();
  const size_t size = t.elements() == 0 ? 0 : from.size() / static_cast<size_t>(t.elements());
  Shape at(shape.size());
  for (int64_t i = 0; i < t.elements(); ++i) {
    int64_t source = 0;
    for (size_t d = 0; d < at.size(); ++d) source += at[d] * strides[d];
    std::copy_n(from.data() + static_cast<size_t>(source) * size, size,
                to.data() + static_cast<size_t>(i) * size);
    for (size_t d = at.size(); d-- > 0 && ++at[d] == shape[d];) at[d] = 0;
  }
  return out;
}

bool fits_int32(int64_t i) {
  return i >= INT32_MIN && i <= INT32_MAX;
}

std::string integer_text(int64_t i) {
  if (i == INT32_MIN || i == INT64_MIN)  // the digits alone are too large for the type
    return i == INT32_MIN ? "INT32_MIN" : "INT64_MIN";
  return fits_int32(i) ? fmt::format("{}", i) : fmt::format("INT64_C({})", i);
}

template <class T>
std::string real_text(T value, std::string_view suffix) {
  if (std::isnan(value)) return "NAN";
  if (std::isinf(value)) return value < 0 ? "-INFINITY" : "INFINITY";
  std::string text = fmt::format("{}", value);
  if (text.find_first_of(".e") == std::string::npos) text += ".0";
  return text + std::string(suffix);
}

class CallEmitter {
 public:
  CallEmitter(Program& program, Step& step)
      : program_(program),
        step_(step),
        call_(program.partition.calls[static_cast<size_t>(step.group.call)]),
        f_(program, step.group.nodes, call_.function) {}

  void run() {
    std::vector<std::string> arguments;
    for (const CallArgument& a : call_.arguments) arguments.push_back(text(a));
    size_t columns = 0;
    for (const std::string& a : arguments) columns += a.size() + 2;
    const std::string call =
        fmt::format("{}({})", call_.function, fmt::join(arguments, columns > kLongLine ? ",\n      " : ", "));
    if (call_.returns) {
      f_.use_errors();
      f_.put("const long returned = (long){};", call);
      f_.put("if (returned != {0}) return {1}_fail(error, {1}_ERROR_LIBRARY, (int)returned, {2}u, {1}_n{2});",
             *call_.returns, program_.options.name, program_.expr(f_.head().id).index());
    } else {
      f_.put("{};", call);
    }
    program_.call_symbols[static_cast<size_t>(step_.group.call)] = f_.symbol();
    step_.before.push_back(f_.finish());
  }

 private:
  std::string text(const CallArgument& a) {
    switch (a.kind) {
      case CallArgument::Kind::Tensor:
        return tensor(a);
      case CallArgument::Kind::Integer:
        return integer_text(a.integer);
      case CallArgument::Kind::Real:
        return real_text(a.real, "");
      case CallArgument::Kind::Text:
        return c_string(a.text);
      case CallArgument::Kind::Name:
        return a.text;
      case CallArgument::Kind::Array:
        return array(a);
      case CallArgument::Kind::Structure: {
        std::vector<std::string> members;
        for (const CallArgument& i : a.items) members.push_back(text(i));
        return fmt::format("{}({}){{{}}}", a.address ? "&" : "", a.text, fmt::join(members, ", "));
      }
      case CallArgument::Kind::Scratch:
        return a.integer == 0 ? "NULL" : f_.scratch(a.integer);
    }
    return {};
  }

  std::string array(const CallArgument& argument) {
    const std::vector<CallArgument>& items = argument.items;
    auto any = [&](auto holds) { return std::ranges::any_of(items, holds); };
    const bool real = any([](const CallArgument& a) { return a.kind == CallArgument::Kind::Real; });
    const bool names = any([](const CallArgument& a) { return a.kind == CallArgument::Kind::Name; });
    const bool wide = any([](const CallArgument& a) { return !fits_int32(a.integer); });
    const std::string_view type = real ? "float" : wide ? "int64_t" : "int32_t";
    if (items.size() > kLongArray && !names) {
      const std::string name = table(items, real, wide);
      return argument.writable ? fmt::format("({}*)(uintptr_t){}", type, name) : name;
    }
    std::vector<std::string> texts;
    for (const CallArgument& a : items) {
      const double value = a.kind == CallArgument::Kind::Real ? a.real : static_cast<double>(a.integer);
      const bool is_name = a.kind == CallArgument::Kind::Name;
      texts.push_back(is_name ? a.text
                      : real  ? real_text(static_cast<float>(value), "f")
                              : integer_text(a.integer));
    }
    return fmt::format("({}[]){{{}}}", type, fmt::join(texts, ", "));
  }

  std::string table(const std::vector<CallArgument>& items, bool real, bool wide) {
    const ElementType elem = real ? ElementType::F32 : wide ? ElementType::I64 : ElementType::I32;
    Tensor t(TensorType{elem, {static_cast<int64_t>(items.size())}});
    for (size_t i = 0; i < items.size(); ++i) {
      const bool is_real = items[i].kind == CallArgument::Kind::Real;
      if (real) {
        t.set_double(static_cast<int64_t>(i),
                     is_real ? items[i].real : static_cast<double>(items[i].integer));
      } else {
        t.set_int(static_cast<int64_t>(i), items[i].integer);
      }
    }
    return f_.table(t);
  }

  std::string tensor(const CallArgument& a) {
    const std::string name = pointer(a);
    if (!a.writable || a.written) return name;
    return fmt::format("({}*)(uintptr_t){}", ops::c_type(type(a.value).elem), name);
  }

  std::string pointer(const CallArgument& a) {
    const std::string name = name_of(a);
    if (in_place(a)) return a.written ? f_.write(a.value, name) : f_.read(a.value, name);
    if (const Tensor* constant = program_.graph.constant(a.value))
      return f_.table(permuted(*constant, a.perm));
    const std::string_view c_type = ops::c_type(type(a.value).elem);
    if (a.written) return f_.write_buffer(written_form(a), c_type, name);
    return f_.read_buffer(read_form(a), c_type, name);
  }

  // x0, x1, ... and y0, ...: one for each form of a value.
  std::string name_of(const CallArgument& a) {
    auto& names = a.written ? written_ : read_;
    const auto perm = in_place(a) ? std::vector<int64_t>() : a.perm;
    const auto [it, is_new] = names.emplace(std::pair(a.value, perm), names.size());
    return fmt::format("{}{}", a.written ? 'y' : 'x', it->second);
  }

  const TensorType& type(ir::ValueId v) const { return program_.graph.value(v).type; }

  bool in_place(const CallArgument& a) const { return keeps_order(type(a.value).shape, a.perm); }

  BufferId form_buffer(const CallArgument& a) {
    Buffer buffer;
    buffer.bytes = memory_bytes(type(a.value));
    return program_.add_buffer(buffer);
  }

  BufferId read_form(const CallArgument& a) {
    auto [it, is_new] = program_.forms.try_emplace({a.value, a.perm});
    if (is_new) {
      it->second = form_buffer(a);
      step_.before.push_back(
          emit_form(program_, f_.head().id, {a.value, a.perm}, it->second, true, form_name(a)));
    }
    return it->second;
  }

  BufferId written_form(const CallArgument& a) {
    auto [it, is_new] = program_.forms.try_emplace({a.value, a.perm});
    if (!is_new) return it->second;
    it->second = form_buffer(a);
    if (read_plain(a))
      step_.after.push_back(
          emit_form(program_, f_.head().id, {a.value, a.perm}, it->second, false, form_name(a)));
    return it->second;
  }

  std::string form_name(const CallArgument& a) {
    return fmt::format("{}_{}", name_of(a), fmt::join(a.perm, ""));
  }

  // Does anybody read the value in another form than this?
  bool read_plain(const CallArgument& made) const {
    if (program_.graph.is_output(made.value)) return true;
    const auto& users = program_.graph.value(made.value).users;
    return std::ranges::any_of(users, [&](ir::NodeId user) {
      const partition::Call* call = program_.call_of(user);
      return call == nullptr || reads_otherwise(call->arguments, made);
    });
  }

  bool reads_otherwise(const std::vector<CallArgument>& arguments, const CallArgument& made) const {
    return std::ranges::any_of(arguments, [&](const CallArgument& a) {
      const bool other = a.kind == CallArgument::Kind::Tensor && a.value == made.value && a.perm != made.perm;
      return other || reads_otherwise(a.items, made);
    });
  }

  Program& program_;
  Step& step_;
  const partition::Call& call_;
  Function f_;
  std::map<Form, size_t> read_, written_;  // numbers of parameters
};

}  // namespace

void emit_library_call(Program& program, Step& step) {
  CallEmitter(program, step).run();
}

}  // namespace mrvlc::chost
