// Layers from what the rules matched: windows, scales as shifts, and the refusal of what the machine cannot
// do.
#include "layer.h"

#include <algorithm>
#include <cmath>
#include <cstring>

#include "region.h"

namespace vta {
namespace {

constexpr int64_t kMost = 2147483647;
constexpr int kMostShift = 30;

// log2 of a ratio of scales, each of which is a power of two.
int log2_of(double ratio, std::initializer_list<double> scales) {
  int exponent = 0;
  require(std::frexp(ratio, &exponent) == 0.5, "scale ratio is a power of two", shown(ratio), "2^n",
          "scale ratio " + shown(ratio) + " is no power of two");
  for (const double scale : scales) {
    int unused = 0;
    require(std::frexp(scale, &unused) == 0.5, "scale is a power of two", shown(scale), "2^n",
            "scale " + shown(scale) + " is no power of two, and ONNX rounds its products");
  }
  return exponent - 1;
}

struct Range {
  int64_t low, high;
};

// Of a sum of products of int8 and what is added, over all outputs.
Range sums_of(const Weights& w, int64_t taps, const int32_t* bias) {
  if (!w.data) return {-128 * w.factor * taps, 128 * w.factor * taps};
  const int64_t each = w.inside * taps;
  Range all{0, 0};
  for (int64_t o = 0; o < w.outputs; ++o) {
    int64_t low = bias ? bias[o] : 0, high = low;
    for (int64_t k = 0; k < each; ++k) {
      const int64_t v = w.data[w.columns ? k * w.outputs + o : o * each + k];
      low += v > 0 ? v * -128 : v * 127;
      high += v > 0 ? v * 127 : v * -128;
    }
    all = {std::min(all.low, low), std::max(all.high, high)};
  }
  return all;
}

void check_sums(Range r) {
  require(r.low >= -kMost && r.high <= kMost, "sums fit 32 bits", std::to_string(std::max(-r.low, r.high)),
          "2147483647", "sums of products, with what rounding adds, could leave 32 bits");
}

AluStep shift_left(int by) {
  AluStep left;
  left.kind = AluStep::kShiftLeft;
  left.shift = static_cast<uint32_t>(by);
  return left;
}

// Appends y = clip(round(x * 2^-shift)) for accumulators in `range`, with a bias that may be null.
void requantize(Term& term, int shift, Range range, bool relu, const int32_t* bias) {
  require(shift <= kMostShift, "shift of the sums", std::to_string(shift), "30",
          "the result's scale is too large");
  const int64_t half = shift > 0 ? int64_t{1} << (shift - 1) : 0;
  check_sums({range.low, range.high + half});
  if (bias || half) {
    AluStep add;
    add.kind = AluStep::kBias;
    add.sums.assign(term.weights.outputs, static_cast<int32_t>(half));
    if (bias)
      std::transform(add.sums.begin(), add.sums.end(), bias, add.sums.begin(), [](int32_t h, int32_t b) {
        return static_cast<int32_t>(static_cast<uint32_t>(h) + static_cast<uint32_t>(b));
      });
    term.after.push_back(std::move(add));
  }
  AluStep last;
  last.low = relu ? 0 : -128;
  if (shift < 0) {
    // What is beyond int8 stays beyond it, so clipping first keeps the shift within 32 bits.
    term.after.push_back(last);
    term.after.push_back(shift_left(std::min(-shift, 8)));
  } else {
    last.shift = static_cast<uint32_t>(shift);
  }
  term.after.push_back(last);
}

Window window_of(const mrvl_plugin_node& node, std::vector<int64_t> kernel) {
  const auto fits = [](const std::vector<int64_t>& v, size_t count, int64_t low) {
    return v.size() == count &&
           std::all_of(v.begin(), v.end(), [low](int64_t x) { return x >= low && x < 65536; });
  };
  kernel = integers(node, "kernel_shape", kernel);
  const auto strides = integers(node, "strides", {1, 1}), dilations = integers(node, "dilations", {1, 1});
  const auto pads = integers(node, "pads", {0, 0, 0, 0});
  require(fits(kernel, 2, 1) && fits(strides, 2, 1) && fits(dilations, 2, 1) && fits(pads, 4, 0), "window",
          "another", "two numbers up to 65535", "windows have two dimensions, and pads are not negative");
  return {kernel[0], kernel[1], strides[0], strides[1], pads[0], pads[1], dilations[0], dilations[1]};
}

void check_auto_pad(const mrvl_plugin_node& node) {
  for (uint32_t i = 0; i < node.attribute_count; ++i) {
    const mrvl_plugin_attribute& a = node.attributes[i];
    if (std::string_view(a.name) != "auto_pad" || !a.text) continue;
    const std::string_view is(a.text, a.count);
    require(is == "NOTSET" || is.empty(), "auto_pad", std::string(is), "NOTSET", "pads are not written out");
  }
}

// A dense layer behind an image that is read as a row is a convolution with a kernel as large as the image.
void whole_image(Term& term) {
  const Tensor& x = term.input;
  const uint64_t all = uint64_t{x.c} * x.h * x.w;
  require(x.n == 1, "images", std::to_string(x.n), "1", "a dense layer reads one image");
  require(all == term.weights.inside, "inputs", std::to_string(all),
          std::to_string(term.weights.inside).c_str(), "weights are of other inputs");
  term.window.kh = x.h, term.window.kw = x.w;
  term.weights.inside = x.c;
}

bool is_conv(const mrvl_plugin_node& node) {
  const std::string_view op = node.op_type;
  return op == "Conv" || op == "QLinearConv";
}

void set_weights(Term& term, const Captures& at, const mrvl_plugin_node& node) {
  const mrvl_plugin_value* v = at.value("w");
  Weights& w = term.weights;
  w.data = at.weights("w");
  const bool conv = is_conv(node);
  require(v->rank == (conv ? 4u : 2u), "rank of the weights", std::to_string(v->rank), conv ? "4" : "2",
          "weights are an image's kernels, or a matrix");
  w.columns = !conv && integer(node, "transB", 0) == 0;
  w.group = conv ? static_cast<uint32_t>(integer(node, "group", 1)) : 1;
  w.outputs = static_cast<uint32_t>(v->dims[w.columns ? 1 : 0]);
  w.inside = static_cast<uint32_t>(v->dims[w.columns ? 0 : 1]);
  if (!conv && !term.input.last) whole_image(term);
  if (conv) {
    check_auto_pad(node);
    term.window = window_of(node, {v->dims[2], v->dims[3]});
    require(term.window.kh == v->dims[2] && term.window.kw == v->dims[3], "kernel_shape", "another",
            "that of the weights", "the kernel is not that of the weights");
  }
  require(w.outputs && w.inside && w.group && uint64_t{w.inside} * w.group == term.input.c &&
              w.outputs % w.group == 0,
          "channels", std::to_string(term.input.c), std::to_string(w.inside * w.group).c_str(),
          "weights are of other channels");
}

// The bias as int32, or null.
const int32_t* bias_of(const Captures& at, double scale, uint32_t outputs) {
  const mrvl_plugin_value* b = at.value("b");
  if (!b) return nullptr;
  at.check_zero("zb");
  require(b->rank == 0 || b->dims[b->rank - 1] == int64_t{outputs}, "bias is a row", "another shape",
          "a number for each output", "a bias is the same for all rows");
  require(b->data && b->elem == 6 && b->bytes == uint64_t{outputs} * 4, "bias is a constant of int32",
          "another", "int32 for each output", "a bias is a constant of int32 for each output");
  // Operators of integers have no scale for it.
  if (at.value("sb"))
    require(at.scale("sb") == scale, "scale of the bias", shown(at.scale("sb")), shown(scale).c_str(),
            "the bias has another scale than the products");
  return static_cast<const int32_t*>(b->data);
}

void products(Layer& layer, const Captures& at, const mrvl_plugin_node& node) {
  // With a sum behind the convolution, what is between both has names of its own.
  const bool summed = at.node("a") != nullptr;
  const char* result = summed ? "s1" : "sy";
  Term term;
  term.input = at.tensor("x");
  require(number(node, "alpha", 1) == 1 && number(node, "beta", 1) == 1 && integer(node, "transA", 0) == 0,
          "alpha, beta, transA", "another", "1, 1, 0", "products have no factors, and no transposed input");
  set_weights(term, at, node);
  for (const char* zero : {"zx", "zw", summed ? "z1" : "zy"}) at.check_zero(zero);
  const double sx = at.scale("sx"), sw = at.scale("sw"), sy = at.scale(result);
  const int shift = -log2_of(sx * sw / sy, {sx, sw, sy});
  const int32_t* bias = bias_of(at, sx * sw, term.weights.outputs);
  const Range range = sums_of(term.weights, term.window.kh * term.window.kw, bias);
  check_sums(range);
  requantize(term, shift, range, at.node(summed ? "r1" : "r") != nullptr, bias);
  if (!term.input.last && !is_conv(node)) layer.output.last = false;
  layer.terms.push_back(std::move(term));
}

void check_same(const Tensor& a, const Tensor& b) {
  require(a.n == b.n && a.c == b.c && a.h == b.h && a.w == b.w && a.last == b.last, "one shape", "two", "one",
          "operands of a sum have one shape");
}

// A second operand is added to the int8 results that the first term leaves in the accumulators.
void residual(Layer& layer, const Captures& at) {
  for (const char* zero : {"z2", "zx2", "zy"}) at.check_zero(zero);
  const double sa = at.scale("s2"), sb = at.scale("sx2"), sy = at.scale("sy");
  require(sa == at.scale("s1"), "scale of the convolution", shown(sa), shown(at.scale("s1")).c_str(),
          "it is read with another scale");
  const int more = log2_of(sa / sb, {sa, sb, sy});
  require(more <= 16 && more >= -6, "scales of the operands", shown(sa / sb), "2^-6 to 2^16",
          "one operand's steps are too small beside the other's");
  Term other;
  other.input = at.tensor("x2");
  check_same(other.input, layer.output);
  other.weights.outputs = other.weights.inside = other.input.c;
  if (more > 0) layer.terms[0].after.push_back(shift_left(more));
  if (more < 0) other.weights.factor = static_cast<int8_t>(1 << -more);
  const int64_t most = 128 * ((int64_t{1} << std::abs(more)) + 1);
  requantize(other, -log2_of(std::min(sa, sb) / sy, {}), {-most, most}, at.node("r") != nullptr, nullptr);
  layer.terms.push_back(std::move(other));
}

// One term for each operand in steps of the smaller scale; the larger one's are shifted left before the other
// comes.
void sum(Layer& layer, const Captures& at) {
  const Tensor a = at.tensor("x"), b = at.tensor("x2");
  check_same(a, b);
  for (const char* zero : {"zx", "zx2", "zy"}) at.check_zero(zero);
  const double sa = at.scale("sx"), sb = at.scale("sx2"), sy = at.scale("sy");
  const int more = log2_of(sa / sb, {sa, sb, sy});
  require(std::abs(more) <= 16, "scales of the operands", shown(sa / sb), "2^-16 to 2^16",
          "one operand's steps are too small beside the other's");
  Term first, second;
  first.input = more >= 0 ? a : b;
  second.input = more >= 0 ? b : a;
  first.weights.outputs = second.weights.outputs = first.weights.inside = second.weights.inside = a.c;
  const int by = std::abs(more);
  if (by <= 6) {
    first.weights.factor = static_cast<int8_t>(1 << by);
  } else {
    first.after.push_back(shift_left(by));
  }
  const int64_t most = 128 * ((int64_t{1} << by) + 1);
  requantize(second, -log2_of(std::min(sa, sb) / sy, {}), {-most, most}, at.node("r") != nullptr, nullptr);
  layer.terms = {std::move(first), std::move(second)};
}

void elementwise(Layer& layer, const Captures& at) {
  Term term;
  term.input = at.tensor("x");
  term.weights.outputs = term.weights.inside = term.input.c;
  for (const char* zero : {"zx", "zy"}) at.check_zero(zero);
  const double sx = at.scale("sx"), sy = at.scale("sy");
  requantize(term, -log2_of(sx / sy, {sx, sy}), {-128, 128}, true, nullptr);
  layer.terms.push_back(std::move(term));
}

void mean(Layer& layer, const Captures& at, const mrvl_plugin_node& node, bool global) {
  Term term;
  term.input = at.tensor("x");
  term.weights.outputs = term.weights.inside = term.input.c;
  for (const char* zero : {"zx", "zy"}) at.check_zero(zero);
  if (global) {
    term.window.kh = term.input.h, term.window.kw = term.input.w;
  } else {
    check_auto_pad(node);
    term.window = window_of(node, {1, 1});
    const auto pads = integers(node, "pads", {0, 0, 0, 0});
    const bool none = std::all_of(pads.begin(), pads.end(), [](int64_t p) { return p == 0; });
    require(integer(node, "ceil_mode", 0) == 0 && (none || integer(node, "count_include_pad", 0) == 1),
            "pads", "counted out", "none", "windows at the edge have another number of elements");
  }
  const int64_t taps = term.window.kh * term.window.kw;
  require(taps <= (1 << 20) && (taps & (taps - 1)) == 0, "elements of the window", std::to_string(taps),
          "2^n", "a mean of " + std::to_string(taps) + " elements is no shift");
  const double sx = at.scale("sx"), sy = at.scale("sy");
  const int shift = -log2_of(sx / sy, {sx, sy}) + static_cast<int>(std::log2(static_cast<double>(taps)));
  requantize(term, shift, {-128 * taps, 128 * taps}, at.node("r") != nullptr, nullptr);
  layer.terms.push_back(std::move(term));
}

void maximum(Layer& layer, const Captures& at, const mrvl_plugin_node& node) {
  Term term;
  term.input = at.tensor("x");
  term.weights.outputs = term.weights.inside = term.input.c;
  check_auto_pad(node);
  term.window = window_of(node, {1, 1});
  require(node.output_count == 1, "results", std::to_string(node.output_count), "1",
          "indices are not computed");
  layer.maxima = true;
  layer.terms.push_back(std::move(term));
}

// ONNX says the dimensions of images; where channels are last there are none to move a window over.
void check_shape(const Layer& layer) {
  const Term& first = layer.terms[0];
  const Tensor &in = first.input, &out = layer.output;
  require(in.last == out.last && in.n == out.n && out.c == first.weights.outputs &&
              (!in.last || (first.window.kh == 1 && first.window.kw == 1 && out.h == in.h && out.w == in.w)),
          "shape of the result", "another", "that of the input", "input and result are of different forms");
}

}  // namespace

Layer read_layer(const mrvl_plugin_region& region, uint32_t index) {
  const Captures at(region, index);
  Layer layer;
  layer.index = index;
  layer.node = region.layers[index].anchor;
  const mrvl_plugin_node* node = at.node("c");
  require(node != nullptr, "rule", region.layers[index].rule, "one of this package", "the rule has no %c");
  const std::string_view op = node->op_type;
  layer.output = at.tensor(at.value("q") ? "q" : "c");
  if (op == "Conv" || op == "Gemm" || op == "MatMul" || op.starts_with("QLinear")) {
    products(layer, at, *node);
    if (at.node("a")) residual(layer, at);
  } else if (op == "Add") {
    sum(layer, at);
  } else if (op == "Relu") {
    elementwise(layer, at);
  } else if (op == "AveragePool" || op == "GlobalAveragePool") {
    mean(layer, at, *node, op == "GlobalAveragePool");
  } else {
    require(op == "MaxPool", "operator", std::string(op), "one of this package", "no layer of the array");
    maximum(layer, at, *node);
  }
  check_shape(layer);
  return layer;
}

}  // namespace vta
