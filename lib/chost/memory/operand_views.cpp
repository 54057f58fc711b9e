// Transposes that products read through: kernels of products take the strides of their operands, so a
// transposed operand need not be made.
#include <algorithm>

#include "mrvlc/ops/attributes.h"
#include "mrvlc/ops/op_kind.h"
#include "program.h"

namespace mrvlc::chost {
namespace {

// Of the transposed value: how far its elements lie apart in the value that it is made of.
std::vector<int64_t> strides_through(const Shape& shape, std::vector<int64_t> perm) {
  std::vector<int64_t> own(shape.size(), 1), strides;
  for (size_t d = shape.size(); d-- > 1;) own[d - 1] = own[d] * shape[d];
  for (size_t d = perm.size(); d < shape.size(); ++d)  // without the attribute: reversed
    perm.push_back(static_cast<int64_t>(shape.size() - 1 - d));
  for (int64_t d : perm) strides.push_back(own[static_cast<size_t>(d)]);
  return strides;
}

class ViewFinder {
 public:
  ViewFinder(Program& program, std::vector<FusionGroup>& groups) : program_(program), groups_(groups) {
    // The last node: of an attention the product with the values.
    for (const FusionGroup& g : groups)
      if (g.region < 0 && g.call < 0) products_.insert({g.nodes.front(), g.nodes.back()});
  }

  void run() {
    for (FusionGroup& group : groups_) {
      if (group.region >= 0 || group.call >= 0 || group.nodes.size() != 1) continue;
      const ir::Node& node = program_.node(group.nodes.front());
      if (!node.is(Op::Transpose) || !all_f32(program_.graph, node)) continue;
      OperandView view{node.inputs[0], strides_through(program_.graph.value(node.inputs[0]).type.shape,
                                                       ops::attr::perm(node))};
      if (!serves_all(node.outputs[0], view)) continue;
      program_.operand_views.emplace(node.outputs[0], std::move(view));
      group.no_code = true;
    }
  }

 private:
  bool serves_all(ir::ValueId value, const OperandView& view) const {
    const auto& users = program_.graph.value(value).users;
    return !users.empty() && !program_.graph.is_output(value) && !program_.graph.is_constant(view.source) &&
           std::ranges::all_of(users, [&](ir::NodeId n) { return serves(n, value, view); });
  }

  // Of the left operand, kernels want rows that are contiguous, and one for each batch; of the right one rows
  // or columns.
  bool serves(ir::NodeId user, ir::ValueId value, const OperandView& view) const {
    const ir::Node& node = program_.node(user);
    if (!products_.contains(user) || !node.is(Op::MatMul) || !all_f32(program_.graph, node)) return false;
    const size_t rank = view.strides.size();
    const bool rows = rank >= 2 && view.strides[rank - 1] == 1,
               columns = rank >= 2 && view.strides[rank - 2] == 1;
    if (node.inputs[0] == value && !(rows && program_.graph.value(node.inputs[1]).type.rank() > 2 &&
                                     !program_.graph.is_constant(node.inputs[1])))
      return false;
    return node.inputs[1] != value || rows || columns;
  }

  Program& program_;
  std::vector<FusionGroup>& groups_;
  std::set<ir::NodeId> products_;
};

}  // namespace

void find_operand_views(Program& program, std::vector<FusionGroup>& groups) {
  ViewFinder(program, groups).run();
}

}  // namespace mrvlc::chost
