// Stages of the vector unit, appended one by one.
#include "lower/lowering.h"

namespace mrvlc::accel {

PeBuilder::PeBuilder(Lowering& lowering, Dims dims, ir::NodeId expr) : lowering_(lowering), expr_(expr) {
  group_.owner = lowering.owner(expr);
  group_.dims = std::move(dims);
  if (group_.dims.empty()) group_.dims = {1};
}

PeOperand PeBuilder::view(const View& v) const {
  return {PeOperand::Kind::External, broadcast(v, group_.dims), 0};
}

PeOperand PeBuilder::temp(isa::DataType type) {
  group_.temps.push_back({std::vector<bool>(group_.dims.size(), true), type});
  return {PeOperand::Kind::Temp, {}, static_cast<uint32_t>(group_.temps.size() - 1)};
}

PeOperand PeBuilder::reduced_temp(const std::vector<int64_t>& axes) {
  PeOperand t = temp();
  for (int64_t a : axes) group_.temps[t.temp].spans[static_cast<size_t>(a)] = false;
  return t;
}

void PeBuilder::apply(isa::EwOp op, const PeOperand& dst, const PeOperand& a, const PeOperand& b, float alpha,
                      float beta, const EpilogueSpec& epilogue) {
  PeStage s;
  s.op = op;
  s.alpha = alpha;
  s.beta = beta;
  s.dst = dst;
  s.a = a;
  s.b = b;
  s.epilogue = epilogue;
  s.expr = expr_;
  group_.stages.push_back(std::move(s));
}

void PeBuilder::reduce(isa::ReduceOp op, const PeOperand& dst, const PeOperand& a, float alpha, float beta,
                       const EpilogueSpec& epilogue) {
  apply(isa::EwOp::Copy, dst, a, {}, alpha, beta, epilogue);
  group_.stages.back().reduce = true;
  group_.stages.back().reduce_op = op;
}

PeOperand PeBuilder::activate(const PeOperand& x, const EpilogueSpec& epilogue) {
  if (epilogue.activation == isa::Activation::None) return x;
  if (!group_.stages.empty() && x.kind == PeOperand::Kind::Temp) {
    PeStage& last = group_.stages.back();
    bool made_it = last.dst.kind == PeOperand::Kind::Temp && last.dst.temp == x.temp;
    if (made_it && last.epilogue.activation == isa::Activation::None) {
      last.epilogue = epilogue;
      return x;
    }
  }
  PeOperand t = temp();
  apply(isa::EwOp::Copy, t, x, {}, 0, 0, epilogue);
  return t;
}

void PeBuilder::write(const PeOperand& x, const View& to) {
  PeOperand dst = view(to);
  bool replace = false;
  if (!group_.stages.empty() && x.kind == PeOperand::Kind::Temp) {
    const PeStage& last = group_.stages.back();
    replace = last.dst.kind == PeOperand::Kind::Temp && last.dst.temp == x.temp &&
              x.temp + 1 == group_.temps.size();
  }
  if (replace) {
    group_.stages.back().dst = dst;
    group_.temps.pop_back();
  } else {
    apply(isa::EwOp::Copy, dst, x);
  }
}

Status PeBuilder::finish(const PeOperand& x, const View& to) {
  write(x, to);
  return finish();
}

Status PeBuilder::finish() {
  return lowering_.add(std::move(group_));
}

}  // namespace mrvlc::accel
