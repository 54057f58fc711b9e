// Fully connected layers and other matrix products.
#include <algorithm>

#include "legal/legal.h"

namespace mrvlc::accel {
namespace {

Legality weight_matrix(const LegalContext& c) {
  MRVLC_LEGAL(constant_input(c, 1, "weights"));
  int64_t rank = c.in(1).rank();
  if (rank == 2) return legal();
  return refuse("rank(weights)", std::to_string(rank), "2",
                fmt::format("the weights have rank {}; the accelerator takes 2.", rank));
}

int64_t batches(const Shape& shape) {
  int64_t n = 1;
  for (size_t d = 0; d + 2 < shape.size(); ++d) n *= shape[d];
  return n;
}

}  // namespace

Legality legal_fc(const LegalContext& c) {
  MRVLC_LEGAL(weight_matrix(c));
  MRVLC_LEGAL(constant_input(c, 2, "bias"));
  if (!c.is_constant(c.anchor(), 0)) return legal();
  return refuse("activation", "a constant", "computed at run time", "the left operand is a constant.");
}

Legality legal_matmul(const LegalContext& c) {
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

}  // namespace mrvlc::accel
