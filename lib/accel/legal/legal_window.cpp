// Convolutions and pools: windows over one or two spatial dimensions.
#include <algorithm>
#include <bit>

#include "legal/legal.h"
#include "mrvlc/ops/op_kind.h"
#include "mrvlc/ops/quantized.h"

namespace mrvlc::accel {
namespace {

constexpr int64_t kMaxSize = (int64_t{1} << 31) - 1;  // origins of windows are signed 32-bit fields
constexpr int64_t kMaxWindow = 65535;                 // kernel, stride, dilation, pad

Legality weights(const LegalContext& c) {
  MRVLC_LEGAL(constant_input(c, 1, "weights"));
  return constant_input(c, 2, "bias");
}

// Whether the window of output o along dimension d reads at least one element of the input.
bool reads_input(const ops::PoolParams& p, size_t d, int64_t o) {
  int64_t start = o * p.strides[d] - p.pads_begin[d];
  int64_t first = start >= 0 ? 0 : ceil_div(-start, p.dilations[d]);
  return first < p.kernel[d] && start + first * p.dilations[d] < p.input[d];
}

// A maximum over nothing has no value, and the divisor of an average would be 0. Windows that start inside
// the input read it; left are those that start before it, and the last one.
Legality no_empty_window(const ops::PoolParams& p) {
  for (size_t d = 0; d < p.input.size(); ++d) {
    int64_t before = std::min(ceil_div(p.pads_begin[d], p.strides[d]), p.output[d]);
    int64_t bad = p.output[d];
    for (int64_t o = 0; o < before && bad == p.output[d]; ++o) {
      if (!reads_input(p, d, o)) bad = o;
    }
    if (bad == p.output[d] && !reads_input(p, d, p.output[d] - 1)) bad = p.output[d] - 1;
    if (bad == p.output[d]) continue;
    return refuse("window reads input", fmt::format("output {} of dimension {} reads padding only", bad, d),
                  "at least one element", "a window lies in the padding altogether.");
  }
  return legal();
}

}  // namespace

Legality legal_window(const LegalContext& c, const ops::WindowParams& p, int64_t batch) {
  auto spatial = static_cast<int64_t>(p.input.size());
  if (spatial < 1 || spatial > 2) {
    return refuse("spatial dimensions", std::to_string(spatial), "1 or 2",
                  fmt::format("it has {} spatial dimensions; the accelerator takes 1 or 2.", spatial));
  }
  MRVLC_LEGAL(at_most("batch", "the batch", batch, c.machine.max_batch));
  for (const auto* sizes : {&p.input, &p.output}) {
    for (int64_t v : *sizes) MRVLC_LEGAL(at_most("spatial size", "a spatial size", v, kMaxSize));
  }
  for (const auto* field : {&p.kernel, &p.strides, &p.dilations, &p.pads_begin, &p.pads_end}) {
    for (int64_t v : *field) MRVLC_LEGAL(at_most("window", "a number of its window", v, kMaxWindow));
  }
  for (const auto* pads : {&p.pads_begin, &p.pads_end}) {
    for (int64_t v : *pads) {
      if (v < 0)
        return refuse("pads >= 0", std::to_string(v), "0",
                      fmt::format("a pad is {}; the accelerator takes none below 0.", v));
    }
  }
  return legal();
}

Legality legal_conv(const LegalContext& c) {
  MRVLC_LEGAL(weights(c));
  auto p = ops::conv_params(ops::infer_context(c.graph, c.anchor()));
  return p.ok() ? legal_window(c, *p, p->batch) : refuse(p.error());
}

Legality legal_conv_transpose(const LegalContext& c) {
  MRVLC_LEGAL(weights(c));
  auto p = ops::conv_transpose_params(ops::infer_context(c.graph, c.anchor()));
  return p.ok() ? legal_window(c, *p, p->batch) : refuse(p.error());
}

namespace {

constexpr int64_t kMostSums = int64_t{1} << 18;  // that are looked at one by one

// Whether each sum of `count` integers that can occur, times 1 / count, becomes the integer that its quotient
// becomes. The operand is not scaled: sums are whole numbers.
bool divides_exactly(const LegalContext& c, const ir::Node& quantize, int64_t count) {
  const ir::Value& x = c.graph.value(c.anchor().inputs[0]);
  if (x.kind != ir::ValueKind::Result || !c.graph.node(x.producer).is(Op::DequantizeLinear)) return false;
  const ir::Node& dequantize = c.graph.node(x.producer);
  if (!legal_quantization(c, dequantize).ok || !legal_quantization(c, quantize).ok) return false;
  const auto number = [&](const ir::Node& n, size_t i) {
    return c.has(n, i) ? static_cast<float>(c.graph.constant(n.inputs[i])->as_double(0)) : 0.0f;
  };
  const ops::IntRange codes = ops::range_of(c.type(dequantize.inputs[0]).elem),
                      results = ops::range_of(c.type(quantize.outputs[0]).elem);
  if (number(dequantize, 1) != 1 || count * (codes.high - codes.low + 1) > kMostSums) return false;
  const auto from = static_cast<int64_t>(number(dequantize, 2)),
             to = static_cast<int64_t>(number(quantize, 2));
  const float scale = number(quantize, 1), size = static_cast<float>(count), share = 1.0f / size;
  const auto stored = [&](float v) { return ops::quantized(v, scale, to, results); };
  for (int64_t sum = count * (codes.low - from); sum <= count * (codes.high - from); ++sum) {
    const auto v = static_cast<float>(sum);
    if (stored(v * share) != stored(v / size)) return false;
  }
  return true;
}

// Averages over a fixed count are a product with its reciprocal, which integers of 8 bits may show.
Legality exact_average(const LegalContext& c, const ops::PoolParams& p) {
  int64_t count = 1;
  for (int64_t k : p.kernel) count *= k;
  const ir::Node& last = c.graph.node(c.layer.nodes.back());
  if (!last.is(Op::QuantizeLinear) || !p.count_include_pad ||
      std::has_single_bit(static_cast<uint64_t>(count)) || divides_exactly(c, last, count))
    return legal();
  return refuse(
      "window with count_include_pad, quantised", std::to_string(count), "a power of two",
      fmt::format("it divides by {}, padding included, which the accelerator does by a product; its "
                  "integers could be off by one.",
                  count));
}

}  // namespace

Legality legal_pool(const LegalContext& c) {
  MRVLC_LEGAL(outputs_unused(c, 1));
  auto p = ops::pool_params(ops::infer_context(c.graph, c.anchor()));
  if (!p.ok()) return refuse(p.error());
  MRVLC_LEGAL(legal_window(c, *p, p->batch));
  if (c.layer.nodes.size() > 1 && p->count_include_pad && p->ceil_mode) {
    return refuse(
        "ceil_mode", "1", "0",
        "windows that reach past the padding are corrected after they are stored, not in the same layer.");
  }
  MRVLC_LEGAL(exact_average(c, *p));
  return no_empty_window(*p);
}

}  // namespace mrvlc::accel
