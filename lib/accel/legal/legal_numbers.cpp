// Numbers that are known at compile time and do not fit fp16: such a layer would be wrong whatever its data.
#include <algorithm>
#include <cmath>

#include "legal/legal.h"
#include "mrvlc/accel/epilogue.h"
#include "mrvlc/ops/op_kind.h"

namespace mrvlc::accel {
namespace {

constexpr double kLargest = 65504;
// Values are taken to be of moderate size until a constant makes them larger; from this factor on they may
// well be beyond fp16.
constexpr double kLarge = 0x1p12;
constexpr int kMostSteps = 32;

Legality weights_fit(const ScaledWeights& weights) {
  if (fits_format(weights)) return legal();
  FormatLoss loss = format_loss(weights);
  if (loss.over > 0) {
    return refuse(
        "weights within float16", fmt::format("{} of {} beyond", loss.over, loss.values), "none",
        fmt::format("{} of its {} weights are beyond the range of float16, whose largest number is 65504.",
                    loss.over, loss.values));
  }
  return refuse("weights within float16", fmt::format("{} of {} too small", loss.under, loss.values),
                "1/256 lost",
                fmt::format("{} of its {} weights are so small that float16 would lose more than 1/256 of "
                            "them all; its numbers below 6.1e-5 have few digits.",
                            loss.under, loss.values));
}

std::optional<double> largest(const ir::Graph& graph, ir::ValueId v) {
  const Tensor* t = v.valid() ? graph.constant(v) : nullptr;
  if (t == nullptr || !is_float(t->elem())) return std::nullopt;
  double most = 0;
  for (int64_t i = 0; i < t->elements(); ++i) most = std::max(most, std::fabs(t->as_double(i)));
  return most;
}

// By what constants on the way to it a value was made larger: 1 where nothing is known.
struct Size {
  double factor = 1, term = 0;
  bool beyond() const { return factor >= kLarge || term > kLargest; }
};

bool is_product_with_weights(const ir::Graph& graph, ir::ValueId v) {
  const ir::Value& value = graph.value(v);
  return value.kind == ir::ValueKind::Result &&
         constant_weights(graph, graph.node(value.producer)).has_value();
}

// Follows the first operand that is no constant. False: what is before does not count.
bool step_back(const ir::Graph& graph, const ir::Node& n, ir::ValueId& v, Size& size) {
  if (n.inputs.empty()) return false;
  bool right = n.inputs.size() == 2 && graph.is_constant(n.inputs[1]);
  bool left = n.inputs.size() == 2 && graph.is_constant(n.inputs[0]);
  std::optional<double> c = right  ? largest(graph, n.inputs[1])
                            : left ? largest(graph, n.inputs[0])
                                   : std::nullopt;
  v = n.inputs[left ? 1 : 0];
  // What multiplies the result of a product may be there because its weights are small; those are checked.
  bool scales = c && (n.is(Op::Mul) || (n.is(Op::Div) && right));
  if (scales && is_product_with_weights(graph, v)) return true;
  const double by = c.value_or(1);  // GCC 12 takes *c for unset where the library checks it
  if (scales) return size.factor *= n.is(Op::Mul) ? by : 1 / by, true;
  if (c && n.is(Op::Add, Op::Sub)) return size.term = std::max(size.term, by * size.factor), true;
  return ops::traits(n).passes_size_on && !(n.is(Op::Max) && left);
}

Size size_of(const ir::Graph& graph, ir::ValueId v) {
  Size size;
  for (int i = 0; i < kMostSteps && v.valid() && graph.value(v).kind == ir::ValueKind::Result; ++i) {
    if (graph.value(v).type.elem != ElementType::F32) return {};  // the model says fp16 itself
    if (!step_back(graph, graph.node(graph.value(v).producer), v, size)) break;
  }
  return std::isfinite(size.factor) ? size : Size{INFINITY, size.term};
}

// Products read fp16; the vector unit has fp32 for what is large.
Legality operand_fits(const LegalContext& c, size_t input) {
  if (c.graph.is_constant(c.anchor().inputs[input])) return legal();
  Size size = size_of(c.graph, c.anchor().inputs[input]);
  if (!size.beyond()) return legal();
  bool factor = size.factor >= kLarge;
  double by = factor ? size.factor : size.term;
  return refuse(
      "operand within float16", fmt::format("{} {:g}", factor ? "scaled by" : "shifted by", by),
      factor ? "4096" : "65504",
      fmt::format("operand {} was {} {:g} and may be beyond float16, whose largest number is 65504.", input,
                  factor ? "multiplied by" : "added to", by));
}

}  // namespace

Legality legal_numbers(const LegalContext& c) {
  // Integers are what they are.
  if (!multiplies(c.layer.kind) || multiplies_integers(c.layer.kind)) return legal();
  MRVLC_LEGAL(operand_fits(c, 0));
  if (auto weights = constant_weights(c.graph, c.anchor())) {
    FoldedConstants folded = fold_constants(c.graph, c.layer);
    weights->factors = folded.scale;
    return weights_fit(*weights);
  }
  if (const Tensor* t = c.graph.constant(c.anchor().inputs[1])) return weights_fit(unscaled(*t));
  return operand_fits(c, 1);
}

}  // namespace mrvlc::accel
