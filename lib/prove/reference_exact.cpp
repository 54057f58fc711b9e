// Claim B: operators of ONNX in the field, one by one. Both the model and its layers go through this.
#include <cmath>

#include "reference.h"
#include "shapes.h"

namespace mrvlc::prove {
namespace {

std::string kind_of(const Node& n) {
  if (n.op == "QLinearConv") return "qlinear_conv";
  if (n.is({"MaxPool", "AveragePool", "GlobalMaxPool", "GlobalAveragePool"})) return "pool";
  if (n.is({"Softmax", "LogSoftmax", "ReduceLogSumExp"})) return "softmax";
  if (n.is({"Resize", "Upsample"})) return "resize";
  if (n.op.starts_with("Reduce")) return "reduce";
  if (n.op.ends_with("Normalization")) return "norm";
  if (n.op == "DequantizeLinear") return "dequantize";
  if (n.is({"Reshape", "Flatten", "Squeeze", "Unsqueeze", "Identity", "Transpose", "Expand", "Tile", "Slice",
            "Pad", "Concat", "Split", "DepthToSpace", "SpaceToDepth", "Gather", "ConstantOfShape"}))
    return "move";
  return "elementwise";
}

// The next number of fp32 at most apart: a scale that was computed as the product of two.
bool is_product(float scale, float a, float b) {
  const float p = a * b;
  return scale == p || std::nextafter(p, scale) == scale;
}

}  // namespace

// A bias of 32-bit integers whose scale is that of input times weights: it is taken as their exact product.
std::vector<Val> Reference::exact_bias(const Node& n, size_t input) {
  const Symbols& b = get(n.inputs.at(input));
  // Through what only moves or selects elements.
  const auto made = [&](size_t i) -> const Node* {
    std::string name = n.inputs.at(i);
    for (int steps = 0; steps < 8; ++steps) {
      const auto p = producer_.find(name);
      if (p == producer_.end()) return nullptr;
      if (p->second->op == "DequantizeLinear") return p->second;
      if (!p->second->is(
              {"Transpose", "Reshape", "Flatten", "Squeeze", "Unsqueeze", "Identity", "MaxPool", "Slice"}))
        return nullptr;
      name = p->second->inputs.at(0);
    }
    return nullptr;
  };
  const Node *x = made(0), *w = made(1), *bias = made(input);
  if (x == nullptr || w == nullptr || bias == nullptr || !c_.is_constant(bias->inputs.at(0))) return b.v;
  if (c_.of(bias->inputs[0]).elem() != ElementType::I32) return b.v;
  const std::vector<float> sx = c_.numbers(x->inputs.at(1)), sw = c_.numbers(w->inputs.at(1)),
                           sb = c_.numbers(bias->inputs.at(1));
  if (sx.size() != 1) return b.v;
  const Symbols q = constant(bias->inputs[0]);
  std::vector<Val> out;
  for (size_t i = 0; i < q.v.size(); ++i) {
    const float of_w = sw[sw.size() == 1 ? 0 : i % sw.size()], of_b = sb[sb.size() == 1 ? 0 : i % sb.size()];
    if (!is_product(of_b, sx[0], of_w)) return b.v;
    out.push_back(v_.mul(q.v[i], v_.mul(number(sx[0]), number(of_w))));
  }
  return out;
}

void Reference::exact_conv(const Node& n) {
  const Symbols& x = get(n.inputs.at(0));
  Symbols w = weights(n.inputs.at(1));
  const Shape& y = n.outputs.at(0).shape;
  const bool transposed = n.op == "ConvTranspose";
  const ConvShape c =
      transposed ? transposed_shape(n, x.shape, w.shape, y) : conv_shape(n, x.shape, w.shape, y);
  for (Val& v : w.v) v = v_.element(v);
  Symbols s{y,
            transposed ? transposed_sums(v_, x, c, w.v, false) : exact_sums(v_, x, c, std::move(w.v), memo_)};
  if (n.inputs.size() > 2 && !n.inputs[2].empty()) {
    const std::vector<Val> bias = exact_bias(n, 2);
    if (bias.size() != static_cast<size_t>(c.out)) throw NotProved{"a bias of another size"};
    const size_t pixels = s.v.size() / static_cast<size_t>(c.batch * c.out);
    for (size_t i = 0; i < s.v.size(); ++i) s.v[i] = v_.add(s.v[i], bias[i / pixels % bias.size()]);
  }
  put(n.outputs[0], std::move(s));
}

void Reference::exact_product(const Node& n) {
  Symbols a = get(n.inputs.at(0)), b = get(n.inputs.at(1));
  const bool gemm = n.op == "Gemm";
  if (gemm && n.integer("transA", 0) != 0) a = transposed_matrix(a);
  if (gemm && n.integer("transB", 0) != 0) b = transposed_matrix(b);
  if (a.shape.size() < 2 || b.shape.size() < 2 || a.shape.back() != b.shape[b.shape.size() - 2])
    throw NotProved{"a product with a vector"};
  const Shape& y = n.outputs.at(0).shape;
  Symbols s{y, product_sums(v_, a, b, y, false)};
  if (gemm) {
    for (Val& v : s.v) v = v_.mul(v, number(n.real("alpha", 1)));
    if (n.inputs.size() > 2 && !n.inputs[2].empty()) {
      Symbols bias{get(n.inputs[2]).shape, exact_bias(n, 2)};
      const std::vector<size_t> from = broadcast_offsets(bias.shape, y);
      for (size_t i = 0; i < s.v.size(); ++i)
        s.v[i] = v_.add(s.v[i], v_.mul(number(n.real("beta", 1)), bias.v[from[i]]));
    }
  }
  put(n.outputs[0], std::move(s));
}

void Reference::evaluate_exactly(const Node& n) {
  if (!n.domain.empty()) throw NotProved{n.domain + "::" + n.op + " has no reference yet"};
  if (n.is({"Conv", "ConvTranspose"})) return exact_conv(n);
  if (n.op == "ConvInteger") return exact_integer_conv(n);
  if (n.is({"Gemm", "MatMul"})) return exact_product(n);
  if (n.op == "Where") return where(n);
  if (n.is({"MatMulInteger", "QLinearMatMul"})) throw NotProved{n.op + " has no reference yet"};
  Layer l;
  l.kind = kind_of(n);
  l.nodes.push_back(n);
  evaluate(l);
}

}  // namespace mrvlc::prove
