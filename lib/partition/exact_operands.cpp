// Operands of which an absolute error counts, not a relative one: angles, what is compared, what is searched
// for its largest element. fp16 has eleven bits, so a position of 2000 is off by a half, and the angle that
// it is a factor of by as many radians. What such an operand is made of by arithmetic alone (positions, time
// steps, counters, masks) is exact in float32 and stays on the CPU, in front of the first long sum of
// products: that sum is not exact to begin with, and what its error does is measured (the probe), not ruled
// out. Angles that are known to be small are as good in fp16.
#include <algorithm>

#include "mrvlc/ops/op.h"
#include "mrvlc/ops/work.h"
#include "placement.h"

namespace mrvlc::partition {
namespace {

// Half a unit of fp16 below it is 2^-10.
constexpr double kSmallAngle = 4;

class ExactOperands {
 public:
  explicit ExactOperands(Placement& p) : p_(p), g_(p.graph), arithmetic_(g_.value_slots(), true) {}

  void find() {
    for (ir::NodeId id : p_.order) follow(g_.node(id));
    for (auto it = p_.order.rbegin(); it != p_.order.rend(); ++it) look_at_readers(g_.node(*it));
  }

 private:
  // Whether its results are made by arithmetic alone.
  void follow(const ir::Node& n) {
    const bool is_arithmetic =
        !ops::sums_many_products(g_, n) &&
        std::ranges::all_of(n.inputs, [&](ir::ValueId v) { return !v.valid() || arithmetic_[v.index()]; });
    for (ir::ValueId v : n.outputs)
      if (v.valid()) arithmetic_[v.index()] = is_arithmetic;
  }

  bool is_small_angle(const ir::Node& reader, ir::ValueId v) const {
    if (!ops::traits(reader).periodic || p_.known == nullptr) return false;
    const range::Known known = p_.known->of(g_, v);
    return known.how != range::How::Unknown && known.max_abs() <= kSmallAngle;
  }

  // The node that an error of `v` counts for, by way of `reader`; empty: none.
  SharedText exact_for(ir::ValueId v, const ir::Node& reader) const {
    const ops::OpTraits& traits = ops::traits(reader);
    if ((traits.periodic || traits.jumps) && !is_small_angle(reader, v)) return shown(g_, reader);
    return p_.constraints[reader.id.index()].exact_for;
  }

  void look_at_readers(const ir::Node& n) {
    for (ir::ValueId v : n.outputs) {
      if (!v.valid() || !arithmetic_[v.index()] || !is_float(g_.value(v).type.elem)) continue;
      for (ir::NodeId reader : g_.value(v).users)
        if (SharedText by = exact_for(v, g_.node(reader)); !by.empty())
          p_.constraints[n.id.index()].exact_for = std::move(by);
    }
  }

  Placement& p_;
  const ir::Graph& g_;
  std::vector<bool> arithmetic_;  // by value
};

}  // namespace

std::string exact_reason(const std::string& reader) {
  return fmt::format(
      "{} reads what it makes, and would be off by as much as fp16 takes off a large number: it stays in "
      "float32.",
      reader);
}

void find_exact_operands(Placement& p) {
  ExactOperands(p).find();
}

}  // namespace mrvlc::partition
