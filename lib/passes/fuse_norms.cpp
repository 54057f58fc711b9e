// fuse-norms
//   m = ReduceMean(x)   d = x - m   v = ReduceMean(d * d)   or v = ReduceMean(x * x) - m * m
//   d / Sqrt(v + epsilon) * scale + bias            ->  LayerNormalization or InstanceNormalization(x)
//   x / Sqrt(ReduceMean(x * x) + epsilon) * scale   ->  RMSNormalization(x)
// Also 1 / Sqrt, Reciprocal, Pow by -0.5 or 0.5; factors in any order; Pow(d, 2); ReduceSumSquare / n; a Relu
// or Max with 0 around the second v; and x * f + (bias - m * f) with f = scale / Sqrt(v + epsilon).
// Preconditions: 32 or 16 bits; constant axes, the last dimensions of x, the same in all places; epsilon one
// positive number inside the root; nobody else reads the values in between; rows no longer than the
// accelerator takes at once. Scale and bias are the constants that follow, as far as they are one for each
// element of a row. InstanceNormalization, with one for each channel, is for images, of four dimensions and
// more, normalised over all but the first two, and for rows too long for the other.
// Safe because these are the definitions. The variance is a mean of squares of differences in the operators:
// where E[x^2] - m^2 is written, its own cancellation (it can even be negative) goes, nothing is added.
#include "mrvlc/ops/op_kind.h"
#include "norm_formula.h"
#include "passes.h"

namespace mrvlc::passes {
namespace {

// One number for each element of `shape`; nullopt: the constant has more, or others.
std::optional<Tensor> spread(const Tensor& c, const Shape& shape) {
  Shape own = c.shape();
  while (own.size() > shape.size() && own[0] == 1) own.erase(own.begin());
  if (broadcast_shapes(shape, own) != shape) return std::nullopt;
  Tensor source = c.reshaped(own), out(TensorType{c.elem(), shape});
  Shape strides = broadcast_strides(own, shape);
  for (int64_t i = 0; i < out.elements(); ++i) {
    int64_t at = 0, rest = i;
    for (size_t d = shape.size(); d-- > 0; rest /= shape[d]) at += rest % shape[d] * strides[d];
    out.set_double(i, source.as_double(at));
  }
  return out;
}

// The operator, and what it reads beside x.
struct Choice {
  Op op{};
  std::vector<Tensor> parameters;
};

class Fuser {
 public:
  Fuser(Rewriter& rw, const PassContext& context) : rw_(rw), g_(rw.graph()), context_(context) {}

  bool rewrite(NodeId id) {
    const Node& n = g_.node(id);
    if (n.outputs.size() != 1 || g_.use_count(n.outputs[0]) == 0) return false;
    ElementType elem = type_of(g_, n.outputs[0]).elem;
    auto norm = elem == ElementType::F32 || elem == ElementType::F16 ? norm_formula(g_, n) : std::nullopt;
    if (!norm || !(type_of(g_, norm->of.x) == type_of(g_, n.outputs[0]))) return false;
    norm->nodes = joined(norm->nodes, {}, id);
    if (!last_dimensions(*norm) || !closed(g_, norm->nodes, id)) return false;
    // As many of the constants that follow as the operator takes.
    std::vector<Norm> longer{*norm};
    while (auto next = followed(longer.back())) longer.push_back(*next);
    for (; !longer.empty(); longer.pop_back()) {
      if (auto choice = choose(longer.back())) return put(longer.back(), std::move(*choice));
    }
    return false;
  }

 private:
  const Shape& shape(const Norm& norm) const { return type_of(g_, norm.of.x).shape; }

  bool last_dimensions(const Norm& norm) const {
    const Axes& axes = norm.of.axes;
    auto rank = static_cast<int64_t>(shape(norm).size());
    return axes.back() == rank - 1 && axes[0] == rank - static_cast<int64_t>(axes.size());
  }

  // With the scale or the bias that the only reader of the result is.
  std::optional<Norm> followed(const Norm& norm) const {
    ValueId y = g_.node(norm.nodes.back()).outputs[0];
    if (norm.bias.valid() || !single_use(g_, y)) return std::nullopt;
    const Node& n = g_.node(g_.value(y).users[0]);
    bool scale = n.is(Op::Mul) && !norm.scale.valid();
    if (!scale && !n.is(Op::Add)) return std::nullopt;
    ValueId c = n.inputs[n.inputs[0] == y ? 1 : 0];
    if (!g_.is_constant(c) || !(type_of(g_, n.outputs[0]) == type_of(g_, y))) return std::nullopt;
    Norm next = norm;
    (scale ? next.scale : next.bias) = c;
    next.nodes.push_back(n.id);
    return next;
  }

  // Scale and bias in the shape that the operator has them in; nullopt: they have others.
  std::optional<std::vector<Tensor>> parameters(const Norm& norm, const Shape& wanted, size_t count) const {
    std::vector<Tensor> out;
    for (size_t i = 0; i < count; ++i) {
      ValueId given = i == 0 ? norm.scale : norm.bias;
      Tensor none = scalar_tensor(type_of(g_, norm.of.x).elem, i == 0 ? 1 : 0);
      auto t = spread(given.valid() ? *g_.constant(given) : none, wanted);
      if (!t) return std::nullopt;
      out.push_back(std::move(*t));
    }
    return out;
  }

  int64_t row_length(const Norm& norm) const { return reduced_count(g_, norm.of.x, norm.of.axes); }

  std::optional<Choice> of_rows(const Norm& norm) const {
    if (row_length(norm) > context_.longest_row || (!norm.of.centred && norm.bias.valid()))
      return std::nullopt;
    const Shape& x = shape(norm);
    auto p = parameters(norm, Shape(x.begin() + norm.of.axes[0], x.end()), norm.bias.valid() ? 2 : 1);
    if (!p) return std::nullopt;
    return Choice{norm.of.centred ? Op::LayerNormalization : Op::RMSNormalization, std::move(*p)};
  }

  std::optional<Choice> of_channels(const Norm& norm) const {
    const Shape& x = shape(norm);
    if (!norm.of.centred || norm.of.axes[0] != 2 || x[0] > context_.largest_batch) return std::nullopt;
    Shape channels(x.size() - 1, 1);
    channels[0] = x[1];
    auto p = parameters(norm, channels, 2);
    if (!p) return std::nullopt;
    for (Tensor& t : *p) t = t.reshaped({x[1]});
    return Choice{Op::InstanceNormalization, std::move(*p)};
  }

  // What is no image is stored as its neighbours are, and an InstanceNormalization would store it channels
  // last.
  std::optional<Choice> choose(const Norm& norm) const {
    if (row_length(norm) < 1) return std::nullopt;
    bool images = shape(norm).size() > 3;
    auto choice = images || row_length(norm) > context_.longest_row ? of_channels(norm) : std::nullopt;
    return choice ? choice : of_rows(norm);
  }

  bool put(const Norm& norm, Choice choice) {
    std::vector<ValueId> inputs{norm.of.x};
    NodeId last = norm.nodes.back();
    for (size_t i = 0; i < choice.parameters.size(); ++i) {
      std::vector<NodeId> from = origins(g_, {last}, {i == 0 ? norm.scale : norm.bias});
      inputs.push_back(rw_.constant(std::move(choice.parameters[i]), from, i == 0 ? "scale" : "bias"));
    }
    TensorType type = type_of(g_, norm.of.x);
    ValueId now;
    if (choice.op == Op::InstanceNormalization) {
      now = make_from(rw_, choice.op, inputs, type, norm.nodes, {{"epsilon", Attr(norm.of.epsilon)}});
    } else {
      now = make_from(rw_, choice.op, inputs, type, norm.nodes,
                      {{"axis", Attr(norm.of.axes[0])}, {"epsilon", Attr(norm.of.epsilon)}});
    }
    replace(rw_, norm.nodes, now, "recognised as part of " + std::string(ops::op_def(choice.op).name));
    return true;
  }

  Rewriter& rw_;
  const Graph& g_;
  const PassContext& context_;
};

}  // namespace

Status fuse_norms(Graph& graph, const PassContext& context, bool& changed) {
  changed = rewrite_nodes(graph, "fuse-norms", is_any<Op::Mul, Op::Div, Op::Sub, Op::Add>,
                          [&](Rewriter& rw, NodeId id) { return Fuser(rw, context).rewrite(id); });
  return {};
}

}  // namespace mrvlc::passes
