// Fully connected layers and other matrix products.
#include <algorithm>

#include "legal.h"

namespace mrvlc::partition {
namespace {

Legality weight_matrix(const LegalContext& c, const char* operand) {
  const ir::Node& n = c.anchor();
  if (!c.is_constant(n, 1)) {
    return refuse("constant(weights)", "computed at run time", "a constant",
                  fmt::format("{} is computed at run time; a fully connected layer needs it at compile time.",
                              operand));
  }
  int64_t rank = c.in(1).rank();
  if (rank == 2) return legal();
  return refuse("rank(weights)", std::to_string(rank), "2",
                fmt::format("the weights have rank {}; the accelerator takes 2.", rank));
}

Legality fc_gemm(const LegalContext& c) {
  MRVLC_LEGAL(weight_matrix(c, "the right operand"));
  return constant_input(c, 2, "bias");
}

int64_t batches(const Shape& shape) {
  int64_t n = 1;
  for (size_t d = 0; d + 2 < shape.size(); ++d) n *= shape[d];
  return n;
}

}  // namespace

Legality legal_fc(const LegalContext& c) {
  const ir::Node& n = c.anchor();
  if (n.is("Gemm")) return fc_gemm(c);
  if (!n.is("MatMul"))
    return refuse("operator", std::string(n.op->name), "Gemm or MatMul", "it is no matrix product.");
  MRVLC_LEGAL(weight_matrix(c, "the right operand"));
  if (!c.graph.is_constant(n.inputs[0])) return legal();
  return refuse("activation", "a constant", "computed at run time", "the left operand is a constant.");
}

Legality legal_matmul(const LegalContext& c) {
  const ir::Node& n = c.anchor();
  if (!n.is("MatMul"))
    return refuse("operator", std::string(n.op->name), "MatMul", "it is no matrix product.");
  for (size_t i = 0; i < 2; ++i) {
    if (c.in(i).rank() >= 2) continue;
    return refuse("rank", std::to_string(c.in(i).rank()), "at least 2",
                  fmt::format("operand {} has rank {}; the accelerator takes matrices.", i, c.in(i).rank()));
  }
  int64_t all = batches(c.out().shape);
  for (size_t i = 0; i < 2; ++i) {
    int64_t own = batches(c.in(i).shape);
    if (own == all || own == 1) continue;
    return refuse("batch of the operands", std::to_string(own), fmt::format("1 or {}", all),
                  fmt::format("operand {} holds {} matrices and is repeated for part of the {} products; the "
                              "accelerator repeats one "
                              "matrix or none.",
                              i, own, all));
  }
  return legal();
}

}  // namespace mrvlc::partition
