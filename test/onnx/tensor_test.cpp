// Initializers: element types, data fields, dimensions, sparse tensors.
#include <cmath>

#include "model_util.h"
#include "mrvlc/support/diag/onnx.h"

namespace mrvlc::test {

namespace {

Outcome import_initializer(const pb::TensorProto& tensor) {
  pb::ModelProto model = relu_model();
  *model.mutable_graph()->add_initializer() = tensor;
  return import(model);
}

Tensor imported(const pb::TensorProto& tensor) {
  Outcome outcome = import_initializer(tensor);
  check_imported(outcome);
  return value_named(outcome.model->graph, tensor.name()).constant();
}

pb::TensorProto typed(int data_type, int64_t n) {
  pb::TensorProto t;
  t.set_name("t");
  t.set_data_type(data_type);
  t.add_dims(n);
  return t;
}

Outcome import_sparse(const pb::TensorProto& values, const pb::TensorProto& indices,
                      const std::vector<int64_t>& dims) {
  pb::ModelProto model = relu_model();
  auto* sparse = model.mutable_graph()->add_sparse_initializer();
  *sparse->mutable_values() = values;
  *sparse->mutable_indices() = indices;
  for (int64_t d : dims) sparse->add_dims(d);
  return import(model);
}

}  // namespace

TEST_CASE("no dimension may be negative", "[onnx]") {
  for (const std::vector<int64_t>& dims : {std::vector<int64_t>{-1}, {-2, -3}, {2, -1}, {-1, 2}, {0, -1}}) {
    pb::TensorProto t = typed(pb::TensorProto::FLOAT, dims[0]);
    for (size_t i = 1; i < dims.size(); ++i) t.add_dims(dims[i]);
    Outcome outcome = import_initializer(t);
    REQUIRE(outcome.diagnostics.list().size() > 0);
    CHECK_FALSE(outcome.model);
    CHECK_THAT(outcome.text(), Catch::Matchers::Contains("dimension"));
  }
}

TEST_CASE("typed data fields", "[onnx]") {
  for (int type : {pb::TensorProto::UINT8, pb::TensorProto::INT8, pb::TensorProto::UINT16,
                   pb::TensorProto::INT16, pb::TensorProto::INT32}) {
    pb::TensorProto t = typed(type, 2);
    t.add_int32_data(7);
    t.add_int32_data(100);
    CHECK(imported(t).to_ints() == std::vector<int64_t>{7, 100});
  }
  pb::TensorProto u32 = typed(pb::TensorProto::UINT32, 1), u64 = typed(pb::TensorProto::UINT64, 1);
  u32.add_uint64_data(0xffffffffu);
  u64.add_uint64_data(UINT64_MAX);
  CHECK(imported(u32).as_int(0) == 0xffffffff);
  CHECK(imported(u64).data<uint64_t>()[0] == UINT64_MAX);
  pb::TensorProto f32 = typed(pb::TensorProto::FLOAT, 1), f64 = typed(pb::TensorProto::DOUBLE, 1);
  f32.add_float_data(1.5f);
  f64.add_double_data(-2.25);
  CHECK(imported(f32).as_double(0) == 1.5);
  CHECK(imported(f64).as_double(0) == -2.25);
  pb::TensorProto f16 = typed(pb::TensorProto::FLOAT16, 1), flag = typed(pb::TensorProto::BOOL, 2);
  f16.add_int32_data(0x3c00);  // the bits of 1.0
  CHECK(imported(f16).as_double(0) == 1.0);
  flag.set_raw_data("\x07\x00", 2);
  CHECK(imported(flag).data<uint8_t>()[0] == 1);
  pb::TensorProto text = typed(pb::TensorProto::STRING, 1);
  text.add_string_data("hello");
  CHECK(imported(text).string_data()[0] == "hello");
}

TEST_CASE("weights may be NaN, infinite, denormal", "[onnx]") {
  Tensor t = imported(float_tensor("t", {3}, {NAN, INFINITY, 1e-40f}));
  CHECK(std::isnan(t.as_double(0)));
  CHECK(t.as_double(1) == INFINITY);
  CHECK(t.as_double(2) > 0);
}

TEST_CASE("elements of less than eight bits are packed", "[onnx]") {
  using Ints = std::vector<int64_t>;
  pb::TensorProto t = typed(22, 3);  // int4
  t.set_raw_data("\x87\x0f");
  CHECK(imported(t).to_ints() == Ints{7, -8, -1});
  t = typed(25, 5);  // uint2
  t.add_int32_data(0xe4);
  t.add_int32_data(3);
  CHECK(imported(t).to_ints() == Ints{0, 1, 2, 3, 3});
  t = typed(17, 2);  // float8e4m3fn
  t.add_int32_data(0x38);
  t.add_int32_data(0xfe);
  CHECK(imported(t).to_doubles() == std::vector<double>{1, -448});
  t = typed(22, 3);
  t.set_raw_data("\x87\x0f\x01");  // a byte too many
  check_refused(import_initializer(t), DiagCode::MRV0120);
  t = typed(26, 5);
  t.add_int32_data(0xe4);  // and one too few
  check_refused(import_initializer(t), DiagCode::MRV0120);
}

TEST_CASE("element types that are not supported", "[onnx]") {
  for (int type : {0, 27, 99, -1, INT32_MAX, INT32_MIN}) {
    check_refused(import_initializer(typed(type, 0)), DiagCode::MRV0121);
  }
  pb::TensorProto none = typed(1, 0);
  none.clear_data_type();
  check_refused(import_initializer(none), DiagCode::MRV0121);
}

TEST_CASE("data that disagrees with type or shape", "[onnx]") {
  pb::TensorProto t = float_tensor("t", {2}, {1, 2, 3});
  check_refused(import_initializer(t), DiagCode::MRV0120);
  t = float_tensor("t", {2}, {1});
  check_refused(import_initializer(t), DiagCode::MRV0120);
  t = float_tensor("t", {2}, {1, 2});
  t.add_float_data(1);  // two fields
  check_refused(import_initializer(t), DiagCode::MRV0120);
  t = typed(pb::TensorProto::FLOAT, 1);
  check_refused(import_initializer(t), DiagCode::MRV0120);  // no field
  t.add_int64_data(1);
  check_refused(import_initializer(t), DiagCode::MRV0120);  // another type's field
  t = typed(pb::TensorProto::UINT8, 1);
  t.add_int32_data(300);
  check_refused(import_initializer(t), DiagCode::MRV0120);
  t = typed(pb::TensorProto::STRING, 2);
  t.add_string_data("one");
  check_refused(import_initializer(t), DiagCode::MRV0120);
  t = float_tensor("t", {1}, {1});
  t.mutable_segment()->set_begin(0);
  check_refused(import_initializer(t), DiagCode::MRV0120);
}

TEST_CASE("hostile dimensions", "[onnx]") {
  const std::vector<std::vector<int64_t>> shapes = {{-1},
                                                    {INT64_MIN},
                                                    {int64_t{1} << 62},
                                                    {int64_t{1} << 32, int64_t{1} << 32},
                                                    {INT64_MAX, INT64_MAX, INT64_MAX},
                                                    {-2, -2},
                                                    std::vector<int64_t>(9, 1),
                                                    std::vector<int64_t>(100000, 1),
                                                    {0, -1}};
  for (const auto& dims : shapes)
    check_refused(import_initializer(float_tensor("t", dims, {})), DiagCode::MRV0120);
  CHECK(imported(float_tensor("t", {0, 5}, {})).elements() == 0);
  CHECK(imported(float_tensor("t", {0, int64_t{1} << 62}, {})).elements() == 0);
  CHECK(imported(float_tensor("t", {}, {3})).shape().empty());
}

TEST_CASE("sparse initializers become dense", "[onnx]") {
  Outcome linear = import_sparse(float_tensor("s", {2}, {5, 7}), int64_tensor("", {2}, {1, 4}), {2, 3});
  check_imported(linear);
  const Tensor dense = value_named(linear.model->graph, "s").constant();
  CHECK(dense.shape() == Shape{2, 3});
  CHECK(dense.to_doubles() == std::vector<double>{0, 5, 0, 0, 7, 0});
  Outcome coo = import_sparse(float_tensor("s", {2}, {5, 7}), int64_tensor("", {2, 2}, {0, 1, 1, 1}), {2, 3});
  check_imported(coo);
  CHECK(value_named(coo.model->graph, "s").constant() == dense);
}

TEST_CASE("hostile sparse initializers", "[onnx]") {
  auto values = float_tensor("s", {2}, {5, 7});
  check_refused(import_sparse(values, int64_tensor("", {2}, {1, 6}), {2, 3}), DiagCode::MRV0125);
  check_refused(import_sparse(values, int64_tensor("", {2}, {-1, 2}), {2, 3}), DiagCode::MRV0125);
  check_refused(import_sparse(values, int64_tensor("", {2}, {2, 2}), {2, 3}), DiagCode::MRV0125);
  check_refused(import_sparse(values, int64_tensor("", {2}, {3, 2}), {2, 3}), DiagCode::MRV0125);
  check_refused(import_sparse(values, int64_tensor("", {2, 2}, {0, 0, 2, 0}), {2, 3}), DiagCode::MRV0125);
  check_refused(import_sparse(values, int64_tensor("", {2, 2}, {0, 0, 0, 3}), {2, 3}), DiagCode::MRV0125);
  check_refused(import_sparse(values, int64_tensor("", {1}, {1}), {2, 3}), DiagCode::MRV0125);
  check_refused(import_sparse(values, float_tensor("", {2}, {0, 1}), {2, 3}), DiagCode::MRV0125);
  check_refused(import_sparse(float_tensor("s", {2, 1}, {5, 7}), int64_tensor("", {2}, {0, 1}), {6}),
                DiagCode::MRV0125);
  check_refused(import_sparse(values, int64_tensor("", {2}, {0, 1}), {-6}), DiagCode::MRV0125);
  check_refused(import_sparse(values, int64_tensor("", {2}, {0, 1}), {int64_t{1} << 62, 8}),
                DiagCode::MRV0125);
  check_refused(import_sparse(values, int64_tensor("", {2}, {0, 1}), {int64_t{1} << 39}), DiagCode::MRV0122);
  check_refused(import_sparse({}, {}, {}), DiagCode::MRV0114);
  check_refused(import_sparse(values, {}, {6}), DiagCode::MRV0121);
}

}  // namespace mrvlc::test
