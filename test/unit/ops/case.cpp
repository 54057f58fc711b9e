#include "case.h"

#include <catch2/catch.hpp>
#include <cmath>

#include "node_code.h"

namespace mrvlc::ops::test {
namespace {

using mrvlc::test::CLibrary;

std::vector<TensorType> types_of(const std::vector<Tensor>& tensors) {
  std::vector<TensorType> types;
  for (const Tensor& t : tensors) types.push_back(t.type());
  return types;
}

void run_and_compare(const CLibrary& library, const Case& c, const std::vector<Tensor>& expected,
                     size_t number, double tolerance) {
  std::vector<const Tensor*> operands;
  for (const auto& tensor : c.inputs) operands.push_back(tensor ? &*tensor : nullptr);
  std::vector<Tensor> results = mrvlc::test::call(library, number, operands, types_of(expected));
  for (size_t k = 0; k < results.size(); ++k) {
    INFO("case " << number << ", operator " << c.op->name << ", output " << k);
    if (!is_float(expected[k].elem())) {
      REQUIRE(results[k] == expected[k]);
    } else {
      REQUIRE(greatest_error(results[k], expected[k].to_doubles()) <= tolerance);
    }
  }
}

}  // namespace

Case::Case(std::string_view name, std::string_view domain) : op(find_op(domain, name)) {
  REQUIRE(op != nullptr);
  attrs = ir::default_attrs(*op);
  output_count = static_cast<size_t>(op->min_outputs);
}

Case& Case::set(std::string_view attr, ir::Attr value) {
  ir::set_attr(*op, attrs, attr, std::move(value));
  return *this;
}
Case& Case::in(Tensor tensor) {
  inputs.emplace_back(std::move(tensor));
  known.push_back(true);
  return *this;
}
Case& Case::unknown(Tensor tensor) {
  in(std::move(tensor));
  known.back() = false;
  return *this;
}
Case& Case::absent() {
  inputs.emplace_back();
  known.push_back(false);
  return *this;
}
Case& Case::outputs(size_t count) {
  output_count = count;
  return *this;
}

InferContext Case::context() const {
  InferContext context;
  context.op = op;
  context.attrs = &attrs;
  context.num_outputs = output_count;
  for (size_t i = 0; i < inputs.size(); ++i) {
    context.types.push_back(inputs[i] ? &inputs[i]->type() : nullptr);
    context.constants.push_back(inputs[i] && known[i] ? &*inputs[i] : nullptr);
  }
  return context;
}

Result<std::vector<TensorType>> Case::infer() const {
  return infer_types(*op, context());
}

Result<std::vector<Tensor>> Case::eval() const {
  MRVLC_ASSIGN(auto types, infer());
  std::vector<Tensor> results;
  for (TensorType& type : types) results.emplace_back(std::move(type));
  EvalContext context;
  context.op = op;
  context.attrs = &attrs;
  context.outputs = &results;
  for (const auto& tensor : inputs) context.inputs.push_back(tensor ? &*tensor : nullptr);
  MRVLC_TRY(op->eval(context));
  return results;
}

Tensor Case::value(size_t output) const {
  auto results = eval();
  INFO((results.ok() ? std::string() : results.error().message));
  REQUIRE(results.ok());
  return (*results)[output];
}

std::string Case::refusal() const {
  auto types = infer();
  return types.ok() ? std::string() : std::string(diag_info(types.error().code).name);
}

void check_generated_code(const std::vector<Case>& cases, double tolerance) {
  std::string code;
  std::vector<std::vector<Tensor>> expected;
  for (size_t i = 0; i < cases.size(); ++i) {
    auto results = cases[i].eval();
    INFO("case " << i << ", operator " << cases[i].op->name
                 << (results.ok() ? "" : ": " + results.error().message));
    REQUIRE(results.ok());
    code += mrvlc::test::code_of(cases[i].context(), types_of(*results), i);
    expected.push_back(std::move(*results));
  }
  CLibrary library(code);
  for (size_t i = 0; i < cases.size(); ++i) run_and_compare(library, cases[i], expected[i], i, tolerance);
}

Tensor random_tensor(ElementType elem, Shape shape, uint64_t seed) {
  std::mt19937 engine(static_cast<uint32_t>(seed));
  Tensor t(TensorType{elem, std::move(shape)});
  for (int64_t i = 0; i < t.elements(); ++i) {
    auto bits = engine();
    is_float(elem) ? t.set_double(i, static_cast<double>(bits) * 0x1p-31 - 1)
                   : t.set_int(i, static_cast<int64_t>(bits % 200) - 100);
  }
  return t;
}

Tensor ints(std::vector<int64_t> values) {
  return Tensor::of(ElementType::I64, {static_cast<int64_t>(values.size())}, values);
}
Tensor floats(Shape shape, std::vector<double> values) {
  return Tensor::of(ElementType::F32, std::move(shape), values);
}
Tensor iota(ElementType elem, Shape shape) {
  Tensor t(TensorType{elem, std::move(shape)});
  for (int64_t i = 0; i < t.elements(); ++i) t.set_int(i, i);
  return t;
}

double greatest_error(const Tensor& a, const std::vector<double>& expected) {
  REQUIRE(a.elements() == static_cast<int64_t>(expected.size()));
  double scale = 1, worst = 0;
  for (double v : expected) scale = std::isfinite(v) ? std::max(scale, std::fabs(v)) : scale;
  for (size_t i = 0; i < expected.size(); ++i) {
    double v = a.as_double(static_cast<int64_t>(i));
    if (v == expected[i] || (std::isnan(v) && std::isnan(expected[i]))) continue;
    double error = std::fabs(v - expected[i]) / scale;
    worst = std::isnan(error) ? INFINITY : std::max(worst, error);
  }
  return worst;
}

}  // namespace mrvlc::ops::test
