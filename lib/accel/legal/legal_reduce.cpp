// Reductions, softmax and normalisations.
#include <algorithm>

#include "legal/legal.h"
#include "mrvlc/ops/attributes.h"
#include "mrvlc/ops/op_kind.h"

namespace mrvlc::accel {
namespace {

// A row of float32 intermediate results has to fit a part of a tile's memory beside operands and results.
Legality row(const LegalContext& c, std::string_view what, int64_t elements) {
  return at_most("row <= on-chip memory / 16", fmt::format("the number of elements of a {}", what), elements,
                 longest_row(c.machine));
}

Legality needs_constants(const LegalContext& c, size_t first) {
  for (size_t i = first; i < c.anchor().inputs.size(); ++i)
    MRVLC_LEGAL(constant_input(c, i, "scale, bias or statistics"));
  return legal();
}

int64_t product(const Shape& shape, size_t from) {
  int64_t n = 1;
  for (size_t d = from; d < shape.size(); ++d) n *= shape[d];
  return n;
}

Legality layer_norm(const LegalContext& c) {
  MRVLC_LEGAL(outputs_unused(c, 1));
  auto axis = ops::normalize_axis(ops::attr::axis(c.anchor()), c.in().rank());
  if (!axis.ok()) return refuse(axis.error());
  return row(c, "normalised row", product(c.in().shape, static_cast<size_t>(*axis)));
}

Legality batch_norm(const LegalContext& c) {
  MRVLC_LEGAL(outputs_unused(c, 1));
  if (c.in().rank() < 2) {
    return refuse("rank", std::to_string(c.in().rank()), "at least 2",
                  "the operand has no dimension of channels; the accelerator scales along one.");
  }
  if (ops::attr::training_mode(c.anchor())) {
    return refuse("training_mode", "1", "0",
                  "it computes the statistics of the batch; the accelerator takes given ones.");
  }
  return legal();
}

// Its sum is made in one instruction: of one dimension.
Legality log_sum_exp(const LegalContext& c) {
  MRVLC_LEGAL(constant_input(c, 1, "list of axes"));
  auto axes = ops::reduce_axes(ops::infer_context(c.graph, c.anchor()));
  if (!axes.ok()) return refuse(axes.error());
  if (axes->size() != 1) {
    return refuse("reduced dimensions", std::to_string(axes->size()), "1",
                  "the accelerator sums exponentials along one dimension.");
  }
  return row(c, "row", c.in().shape[static_cast<size_t>(axes->front())]);
}

}  // namespace

int64_t longest_row(const target::Machine& machine) {
  return machine.ocm_bytes / 16;
}

Legality legal_reduce(const LegalContext& c) {
  const ir::Node& n = c.anchor();
  MRVLC_LEGAL(constant_input(c, 1, "list of axes"));
  auto axes = ops::reduce_axes(ops::infer_context(c.graph, n));
  if (!axes.ok()) return refuse(axes.error());
  Shape kept = c.in().shape;
  for (int64_t a : *axes) kept[static_cast<size_t>(a)] = 1;
  return collapsed_rank("operand", broadcast_rank({&kept}, c.in().shape));
}

Legality legal_softmax(const LegalContext& c) {
  if (c.anchor().is(Op::ReduceLogSumExp)) return log_sum_exp(c);
  auto axis = ops::normalize_axis(ops::attr::axis(c.anchor()), c.in().rank());
  if (!axis.ok()) return refuse(axis.error());
  return row(c, "row", c.in().shape[static_cast<size_t>(*axis)]);
}

Legality legal_norm(const LegalContext& c) {
  const ir::Node& n = c.anchor();
  MRVLC_LEGAL(needs_constants(c, 1));
  if (n.is(Op::LayerNormalization, Op::RMSNormalization)) return layer_norm(c);
  if (n.is(Op::BatchNormalization)) return batch_norm(c);
  if (n.is(Op::InstanceNormalization))
    return at_most("batch", "the batch", c.in().shape[0], c.machine.max_batch);
  return refuse("normalisation", std::string(n.op->name),
                "layer, instance, batch or root mean square normalisation",
                fmt::format("the accelerator has no {}.", n.op->name));
}

}  // namespace mrvlc::accel
