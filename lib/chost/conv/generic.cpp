// Convolutions of any rank, of doubles, and with weights computed at run time: plain loops, in the order of
// the definition.
#include "function.h"
#include "mrvlc/ops/params.h"

namespace mrvlc::chost {
namespace {

// `(i0 * n1 + i1) * n2 + i2` for variables VAR0.. over the extents.
std::string flat_index(std::string_view var, const std::vector<int64_t>& extents) {
  std::string text = fmt::format("{}0", var);
  for (size_t d = 1; d < extents.size(); ++d)
    text = fmt::format("({}) * {} + {}{}", text, extents[d], var, d);
  return text;
}

void begin_loops(Function& f, std::string_view var, const std::vector<int64_t>& extents) {
  for (size_t d = 0; d < extents.size(); ++d) f.loop(fmt::format("{}{}", var, d), extents[d]);
}

void end_loops(Function& f, size_t n) {
  for (size_t d = 0; d < n; ++d) f.close();
}

int64_t product(const std::vector<int64_t>& extents) {
  int64_t n = 1;
  for (int64_t e : extents) n *= e;
  return n;
}

// float or double
std::string_view element_type(Function& f) {
  return ops::c_type(f.program().graph.value(f.head().outputs[0]).type.elem);
}

std::string bias_of(Function& f, std::string_view channel) {
  bool has_bias = f.head().inputs.size() > 2 && f.head().inputs[2].valid();
  return has_bias ? fmt::format("{}[{}]", f.read(f.head().inputs[2], "x2"), channel) : "0";
}

}  // namespace

Status emit_generic_conv(Function& f) {
  MRVLC_ASSIGN(ops::ConvParams p, ops::conv_params(ops::infer_context(f.program().graph, f.head())));
  std::string x = f.read(f.head().inputs[0], "x0"), w = f.read(f.head().inputs[1], "x1");
  std::string y = f.write(f.head().outputs[0], "y0");
  int64_t channels = p.in_channels / p.group, m = p.out_channels / p.group;
  f.loop("n", p.batch);
  f.loop("m", p.out_channels);
  begin_loops(f, "o", p.output);
  f.put("{} sum = {};", element_type(f), bias_of(f, "m"));
  f.loop("c", channels);
  for (size_t d = 0; d < p.kernel.size(); ++d) {
    f.loop(fmt::format("k{}", d), p.kernel[d]);
    f.put("const ptrdiff_t i{0} = o{0} * {1} + k{0} * {2} - {3};", d, p.strides[d], p.dilations[d],
          p.pads_begin[d]);
    f.put("if (i{0} < 0 || i{0} >= {1}) continue;", d, p.input[d]);
  }
  f.put("sum += {}[((n * {} + m / {} * {} + c) * {}) + {}] * {}[((m * {} + c) * {}) + {}];", x, p.in_channels,
        m, channels, product(p.input), flat_index("i", p.input), w, channels, product(p.kernel),
        flat_index("k", p.kernel));
  end_loops(f, p.kernel.size() + 1);
  f.put("{}[(n * {} + m) * {} + {}] = sum;", y, p.out_channels, product(p.output), flat_index("o", p.output));
  end_loops(f, p.output.size() + 2);
  return {};
}

Status emit_generic_conv_transpose(Function& f) {
  MRVLC_ASSIGN(ops::ConvParams p,
               ops::conv_transpose_params(ops::infer_context(f.program().graph, f.head())));
  std::string x = f.read(f.head().inputs[0], "x0"), w = f.read(f.head().inputs[1], "x1");
  std::string y = f.write(f.head().outputs[0], "y0");
  int64_t channels = p.in_channels / p.group, m = p.out_channels / p.group, plane = product(p.output);
  f.loop("n", p.batch);
  f.loop("m", p.out_channels);
  f.put("{}* const to = {} + (n * {} + m) * {};", element_type(f), y, p.out_channels, plane);
  f.put("for (ptrdiff_t i = 0; i < {}; ++i) to[i] = {};", plane, bias_of(f, "m"));
  f.loop("c", channels);
  f.put("const {}* const from = {} + (n * {} + m / {} * {} + c) * {};", element_type(f), x, p.in_channels, m,
        channels, product(p.input));
  f.put("const {}* const kernel = {} + ((m / {} * {} + c) * {} + m % {}) * {};", element_type(f), w, m,
        channels, m, m, product(p.kernel));
  begin_loops(f, "i", p.input);
  for (size_t d = 0; d < p.kernel.size(); ++d) {
    f.loop(fmt::format("k{}", d), p.kernel[d]);
    f.put("const ptrdiff_t o{0} = i{0} * {1} + k{0} * {2} - {3};", d, p.strides[d], p.dilations[d],
          p.pads_begin[d]);
    f.put("if (o{0} < 0 || o{0} >= {1}) continue;", d, p.output[d]);
  }
  f.put("to[{}] += from[{}] * kernel[{}];", flat_index("o", p.output), flat_index("i", p.input),
        flat_index("k", p.kernel));
  end_loops(f, 2 * p.kernel.size() + 3);
  return {};
}

}  // namespace mrvlc::chost
