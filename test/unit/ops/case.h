// One operator of the table: its inference, its reference, and its generated C against the reference.
#pragma once
#include <random>

#include "mrvlc/ops/op.h"

namespace mrvlc::ops::test {

class Case {
 public:
  explicit Case(std::string_view name, std::string_view domain = "");
  Case& set(std::string_view attr, ir::Attr value);
  Case& in(Tensor tensor);       // known at compile time
  Case& unknown(Tensor tensor);  // a run-time value
  Case& absent();
  Case& outputs(size_t count);

  InferContext context() const;
  Result<std::vector<TensorType>> infer() const;
  Result<std::vector<Tensor>> eval() const;
  // Of an evaluation that must succeed.
  Tensor value(size_t output = 0) const;
  // "MRV0204" of a refusal by inference; empty when it is accepted.
  std::string refusal() const;

  const OpDef* op = nullptr;
  std::vector<ir::Attr> attrs;
  std::vector<std::optional<Tensor>> inputs;
  std::vector<bool> known;
  size_t output_count = 1;
};

// Compiles the emissions of all cases as one C99 file with warnings as errors, runs them, and compares with
// the reference: equal bits for integers, relative error `tolerance` for floats. Fails the running test
// otherwise.
void check_generated_code(const std::vector<Case>& cases, double tolerance = 1e-5);

// Values in [-1, 1) for floats, small integers otherwise; the same for one seed.
Tensor random_tensor(ElementType elem, Shape shape, uint64_t seed);
Tensor ints(std::vector<int64_t> values);
Tensor floats(Shape shape, std::vector<double> values);
Tensor iota(ElementType elem, Shape shape);  // 0, 1, 2, ...
inline ir::Attr list(std::vector<int64_t> values) {
  return ir::Attr(std::move(values));
}
inline ir::Attr num(int64_t value) {
  return ir::Attr(value);
}
inline ir::Attr text(std::string value) {
  return ir::Attr(std::move(value));
}

double greatest_error(const Tensor& a, const std::vector<double>& expected);

}  // namespace mrvlc::ops::test
