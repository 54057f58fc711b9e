// One operator through inference and the reference, every input known.
#pragma once
#include "../ops/case.h"
#include "../ops/one_node.h"
#include "mrvlc/support/diag/ops.h"

namespace mrvlc::test {

using Texts = std::vector<std::string>;
using Ints = std::vector<int64_t>;
using Floats = std::vector<float>;

inline Tensor texts(Texts values) {
  auto n = static_cast<int64_t>(values.size());
  return Tensor::strings({n}, std::move(values));
}

inline Result<std::vector<Tensor>> evaluate(std::string_view domain, std::string_view name,
                                            const std::vector<Tensor>& inputs, const AttrList& attrs,
                                            size_t outputs = 1) {
  ops::test::Case c(name, domain);
  for (const auto& [attr, value] : attrs) c.set(attr, value);
  for (const Tensor& t : inputs) t.elem() == E::Undefined ? c.absent() : c.in(t);
  return c.outputs(outputs).eval();
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

}  // namespace mrvlc::test
