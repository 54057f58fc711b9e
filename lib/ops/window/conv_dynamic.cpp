// Convolutions over sizes known at run time only.
#include "window/conv_dynamic.h"

#include "window/window_dynamic.h"

namespace mrvlc::ops {
namespace {

Texts kernel_of(const EmitContext& c, size_t weights) {
  Texts dims = in_dims(c, weights);
  return {dims.begin() + 2, dims.end()};
}

// An attribute that must say what the weights do.
void check_kernel_shape(EmitContext& c, size_t weights) {
  const InferContext view = emit_view(c);
  const std::vector<int64_t>& given = view.ints_attr("kernel_shape");
  for (size_t d = 0; d < given.size(); ++d) {
    auto axis = static_cast<int64_t>(d + 2);
    if (c.in_type(weights).is_dynamic(axis))
      require_equal(c, c.in_dim(weights, axis), fmt::format("{}", given[d]));
  }
}

// Constants G (groups), C and M (channels of one group of the operand and of the result).
void declare_channels(EmitContext& c, size_t weights, bool transposed) {
  const int64_t group = c.node().int_attr("group");
  const std::string in = c.in_dim(0, 1), rows = c.in_dim(weights, 0), columns = c.in_dim(weights, 1);
  const std::string& of_group = transposed ? rows : columns;  // channels the weights have for the operand
  if (!c.in_type(0).is_static() || !c.in_type(weights).is_static()) {
    std::string expected = transposed ? in : fmt::format("{} / {}", in, group);
    c.fail_if(fmt::format("{} != {} || {} % {} != 0 || {} < 1", of_group, expected, in, group, in));
    if (!transposed) c.fail_if(fmt::format("{0} % {1} != 0 || {0} < 1", rows, group));
  }
  c.line(fmt::format("const int64_t G = {}, C = {} / G, M = {};", group, in,
                     transposed ? columns : fmt::format("{} / G", rows)));
}

void check_bias(EmitContext& c, const std::string& channels) {
  if (!c.has(2) || (c.in_type(2).is_static() && c.in_type(1).is_static())) return;
  c.fail_if(fmt::format("{} != {}", c.in_dim(2, 0), channels));
}

std::string bias_text(const EmitContext& c) {
  return c.has(2) ? fmt::format("{}[m]", c.in(2)) : "0";
}

// Loops over images n and channels m of the result, or over rows in between.
void open_to(EmitContext& c, std::string_view var, std::string_view count) {
  c.open(fmt::format("for (int64_t {0} = 0; {0} < {1}; ++{0})", var, count));
}

void close(EmitContext& c, int blocks) {
  for (int i = 0; i < blocks; ++i) c.close();
}

// What one kind of convolution makes of a weight and a run of the data.
struct Terms {
  std::string start;   // a row's first value
  std::string weight;  // declares v, the weight at `k`
  std::string step;    // adds the element at x[at] to row[o]
};

void emit_rows(EmitContext& c, const Terms& terms) {
  std::string_view out = c_type(c.out_type(0).elem);
  const std::string row =
      fmt::format("{0}* const row = {1} + ((n * G * M + m) * rows + r) * width;", out, c.out(0));
  open_to(c, "n", c.in_dim(0, 0));
  open_to(c, "r", "rows");
  open_to(c, "m", "G * M");
  c.line(row);
  c.line(fmt::format("for (int64_t o = 0; o < width; ++o) row[o] = {};", terms.start));
  c.close();
  open_taps(c);
  open_to(c, "m", "G * M");
  c.line(row);
  open_to(c, "i", "C");
  c.line("const int64_t k = (m * C + i) * taps + t;");
  c.line(terms.weight);
  c.line("const int64_t base = (n * G * C + m / M * C + i) * plane + from;");
  c.line("for (int64_t o = low; o < high; ++o) " + terms.step);
  close(c, 5);
}

void declare_conv(EmitContext& c, size_t weights) {
  check_kernel_shape(c, weights);
  declare_channels(c, weights, false);
  declare_window(c, kernel_of(c, weights));
  size_window(c, false);
  c.set_dims(0, window_dims(c, c.in_dim(weights, 0), "out"));
  declare_window_sizes(c);
  c.line(fmt::format("const int64_t step = w.stride[{}];", c.in_type(0).shape.size() - 3));
}

// The sums of a row of every channel lie in scratch memory before they become elements of the result.
void emit_summed_rows(EmitContext& c, const Terms& terms, const StoreConvSum& store) {
  const Shape& most = c.out_type(0).shape;
  c.line(fmt::format("int32_t* const sums = (int32_t*){};", c.scratch(4 * most[1] * most.back())));
  open_to(c, "n", c.in_dim(0, 0));
  open_to(c, "r", "rows");
  c.line("for (int64_t o = 0; o < G * M * width; ++o) sums[o] = 0;");
  open_taps(c);
  open_to(c, "m", "G * M");
  c.line("int32_t* const row = sums + m * width;");
  open_to(c, "i", "C");
  c.line("const int64_t k = (m * C + i) * taps + t;");
  c.line(terms.weight);
  c.line("const int64_t base = (n * G * C + m / M * C + i) * plane + from;");
  c.line("for (int64_t o = low; o < high; ++o) " + terms.step);
  close(c, 3);
  open_to(c, "m", "G * M");
  open_to(c, "o", "width");
  c.line("uint32_t sum = (uint32_t)sums[m * width + o];");
  store("((n * G * M + m) * rows + r) * width + o");
  close(c, 4);
}

}  // namespace

Status emit_dynamic_conv(EmitContext& c) {
  MRVLC_TRY(require_widened(c));
  check_bias(c, c.in_dim(1, 0));
  std::string weight = fmt::format("const {} v = {}[k];", c_type(c.in_type(1).elem), c.in(1));
  declare_conv(c, 1);
  emit_rows(c, {bias_text(c), weight, fmt::format("row[o] += v * {}[base + o * step];", c.in(0))});
  return {};
}

Status emit_dynamic_integer_conv(EmitContext& c, const IntegerConvText& t,
                                 const std::function<StoreConvSum()>& prepare) {
  c.line(fmt::format("const int32_t zero = {};", t.data_zero));
  declare_conv(c, t.weights);
  emit_summed_rows(
      c,
      {"0", fmt::format("const int32_t v = (int32_t){}[k] - {};", c.in(t.weights), t.weights_zero),
       fmt::format("row[o] = (int32_t)((uint32_t)row[o] + (uint32_t)(v * ({}[base + o * step] - zero)));",
                   c.in(t.data))},
      prepare());
  return {};
}

Status emit_dynamic_conv_transpose(EmitContext& c) {
  MRVLC_TRY(require_widened(c));
  std::string_view type = c_type(c.out_type(0).elem);
  check_kernel_shape(c, 1);
  declare_channels(c, 1, true);
  check_bias(c, "G * M");
  declare_window(c, kernel_of(c, 1), true);
  size_transposed_window(c);
  c.set_dims(0, window_dims(c, "G * M", "in"));
  declare_window_sizes(c);
  c.line(fmt::format("const int64_t step = w.stride[{}];", c.in_type(0).shape.size() - 3));
  open_to(c, "n", c.in_dim(0, 0));
  open_to(c, "m", "G * M");
  c.line(fmt::format("{}* const to = {} + (n * G * M + m) * plane;", type, c.out(0)));
  c.line(fmt::format("for (int64_t i = 0; i < plane; ++i) to[i] = {};", bias_text(c)));
  open_to(c, "r", "rows");
  open_taps(c);
  open_to(c, "i", "C");
  c.line("const int64_t channel = m / M * C + i;");
  c.line(fmt::format("const {0} v = {1}[(channel * M + m % M) * taps + t];", type, c.in(1)));
  c.line(
      fmt::format("const {0}* const x = {1} + ((n * G * C + channel) * rows + r) * width;", type, c.in(0)));
  c.line("for (int64_t o = low; o < high; ++o) to[from + o * step] += v * x[o];");
  close(c, 5);
  return {};
}

}  // namespace mrvlc::ops
