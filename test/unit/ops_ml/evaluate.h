// One operator through inference and the reference, every input known.
#pragma once
#include <catch2/catch.hpp>

#include "mrvlc/ir/rewriter.h"
#include "mrvlc/ops/op.h"
#include "mrvlc/support/diag/ops.h"

namespace mrvlc::test {

using E = ElementType;
using AttrList = std::vector<std::pair<std::string_view, ir::Attr>>;
using Texts = std::vector<std::string>;
using Ints = std::vector<int64_t>;
using Floats = std::vector<float>;

inline Tensor f32(Shape shape, const std::vector<double>& values) {
  return Tensor::of(E::F32, std::move(shape), values);
}
inline Tensor i64(Shape shape, const Ints& values) {
  return Tensor::of(E::I64, std::move(shape), values);
}
inline Tensor texts(Texts values) {
  auto n = static_cast<int64_t>(values.size());
  return Tensor::strings({n}, std::move(values));
}

inline Result<std::vector<Tensor>> evaluate(std::string_view domain, std::string_view name,
                                            const std::vector<Tensor>& inputs, const AttrList& attrs,
                                            size_t outputs = 1) {
  const ops::OpDef* op = ops::find_op(domain, name);
  REQUIRE(op != nullptr);
  std::vector<ir::Attr> slots = ir::default_attrs(*op);
  for (const auto& [attr, value] : attrs) ir::set_attr(*op, slots, attr, value);
  ops::EvalContext context;
  context.op = op;
  context.attrs = &slots;
  for (const Tensor& t : inputs) context.inputs.push_back(t.elem() == E::Undefined ? nullptr : &t);
  ops::InferContext view = context.infer_view();
  view.num_outputs = outputs;
  MRVLC_ASSIGN(auto types, ops::infer_types(*op, view));
  std::vector<Tensor> results;
  for (size_t i = 0; i < outputs; ++i) results.emplace_back(types.at(i));
  context.outputs = &results;
  MRVLC_TRY(op->eval(context));
  return results;
}

inline std::vector<Tensor> results_of(std::string_view domain, std::string_view name,
                                      const std::vector<Tensor>& inputs, const AttrList& attrs = {},
                                      size_t outputs = 1) {
  auto results = evaluate(domain, name, inputs, attrs, outputs);
  if (!results.ok()) FAIL(name << ": " << results.error().message);
  return *std::move(results);
}

inline DiagId refusal_of(std::string_view domain, std::string_view name, const std::vector<Tensor>& inputs,
                         const AttrList& attrs = {}, size_t outputs = 1) {
  auto results = evaluate(domain, name, inputs, attrs, outputs);
  if (results.ok()) FAIL(name << " was accepted");
  return results.error().code;
}

inline void check_close(const Tensor& actual, const std::vector<double>& expected) {
  REQUIRE(actual.to_doubles().size() == expected.size());
  for (size_t i = 0; i < expected.size(); ++i)
    CHECK(actual.as_double(static_cast<int64_t>(i)) == Approx(expected[i]).margin(1e-6));
}

}  // namespace mrvlc::test
