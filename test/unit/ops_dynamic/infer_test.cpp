// Types of results whose shapes are known at run time only.
#include "../ops/dynamic_case.h"
#include "mrvlc/support/diag/ops.h"

namespace mrvlc::test {
namespace {

std::string type_of(const std::string& op, const std::vector<DynamicOperand>& operands,
                    const AttrList& attrs = {}) {
  auto types = dynamic_types(op, operands, attrs);
  return types.ok() ? to_string(types->at(0)) : fmt::format("{}", types.error().message);
}

TensorType f(Shape dims, int64_t capacity = -1) {
  return dynamic_type(E::F32, std::move(dims), capacity);
}
TensorType ints(int64_t length) {
  return dynamic_type(E::I64, {length});
}
Tensor list(std::vector<int64_t> values) {
  return i64({static_cast<int64_t>(values.size())}, values);
}

TEST_CASE("dynamic dimensions broadcast") {
  CHECK(type_of("Add", {f({-8, 4}), f({4})}) == "f32[<=8,4]");
  CHECK(type_of("Add", {f({-8, -2}), f({-4, -5, 1})}) == "f32[<=4,<=8,<=2]");
  CHECK(type_of("Add", {f({-8}), f({3})}) == "f32[3]");
  CHECK(type_of("Add", {f({2, -8}), f({3, 1})}).starts_with("shapes"));
  CHECK(type_of("Less", {f({-8}), f({1})}) == "bool[<=8]");
  CHECK(type_of("Relu", {f({-6, -6}, 6)}) == "f32[<=6,<=6;6]");
  CHECK(type_of("Mul", {f({-6, -6}, 6), f({})}) == "f32[<=6,<=6;6]");
  CHECK(type_of("Mul", {f({-6, -6}, 6), f({-6, -6}, 3)}) == "f32[<=6,<=6;18]");
  CHECK(type_of("PRelu", {f({-6, 3}), f({3})}) == "f32[<=6,3]");
}

TEST_CASE("what selects elements has no more than there are") {
  CHECK(type_of("NonZero", {f({-6, -6}, 6)}) == "i64[2,<=6]");
  CHECK(type_of("Unique", {f({-6, -6}, 6)}) == "f32[<=6]");
  CHECK(type_of("Compress", {f({-6, -6}, 6), dynamic_type(E::Bool, {-9})}) == "f32[<=6]");
}

TEST_CASE("operands that decide about the shape bound it") {
  CHECK(type_of("Reshape", {f({2, 3}), ints(2)}) == "f32[<=6,<=6;6]");
  CHECK(type_of("Reshape", {f({2, 3}), ints(1)}) == "f32[6]");
  CHECK(type_of("Reshape", {f({-2, 3}), list({-1, 0})}) == "f32[<=2,3]");
  CHECK(type_of("Reshape", {f({-8, 4, 6}), list({0, -1})}) == "f32[<=8,24]");
  CHECK(type_of("Reshape", {f({-8, 4, 6}), list({-1, 12})}) == "f32[<=16,12]");
  CHECK(type_of("Reshape", {f({-8, 4}), list({8, 4})}) == "f32[8,4]");
  CHECK(type_of("Slice", {f({5, 4}), ints(1), ints(1), list({1})}) == "f32[5,<=4]");
  CHECK(type_of("Slice", {f({-5, 4}), list({-1}), list({INT64_MAX})}) == "f32[<=1,4]");
  CHECK(type_of("Slice", {f({-9, 4}), list({1, 0}), list({7, 2}), list({0, 1}), list({2, 1})}) ==
        "f32[<=3,2]");
  CHECK(type_of("Expand", {f({2, 1}), ints(3)}) == "f32[<=-1,2,<=-1]");
  CHECK(type_of("Tile", {f({-2, 3}), list({4, 2})}) == "f32[<=8,6]");
  CHECK(type_of("Pad", {f({-2, 3}), list({1, 0, 1, 0})}) == "f32[<=4,3]");
  CHECK(type_of("Concat", {f({-2, 3}), f({4, -9})}, {{"axis", int64_t{0}}}) == "f32[<=6,3]");
  CHECK(type_of("Squeeze", {f({1, 3, 4, 5}), ints(1)}) == "f32[<=3,<=4,<=5]");
  CHECK(type_of("Unsqueeze", {f({3, 4}), ints(1)}) == "f32[<=3,<=4,<=4;12]");
  CHECK(to_string(dynamic_types("TopK", {f({3, 4}), ints(1)}, {}, 2).value().at(1)) == "i64[3,<=4]");
  CHECK(type_of("Range", {f({}), f({}), f({})}) == "f32[<=-1]");
  CHECK(type_of("Shape", {f({-3, 4})}) == "i64[2]");
  CHECK(type_of("Gather", {f({-3, 4}), ints(-5)}, {{"axis", int64_t{1}}}) == "f32[<=3,<=5]");
  CHECK(type_of("CumSum", {f({3, 4}), dynamic_type(E::I64, {})}) == "f32[3,4]");
}

TEST_CASE("samples tell which dimensions vary") {
  CHECK(type_of("GlobalAveragePool", {f({-4, 3, 8, 8})}) == "f32[<=4,3,1,1]");
  CHECK(type_of("MaxPool", {f({1, 3, -9, 8})}, {{"kernel_shape", std::vector<int64_t>{3, 3}}}) ==
        "f32[1,3,<=7,6]");
}

TEST_CASE("what is not known is refused") {
  TensorType sequence = f({2});
  sequence.wrapper = Wrapper::Sequence;
  sequence.length = 3;
  CHECK(dynamic_types("Add", {sequence, sequence}).error().code == DiagCode::MRV0208);
  CHECK(dynamic_types("GlobalAveragePool", {sequence}).error().code == DiagCode::MRV0208);
  CHECK(dynamic_types("Reshape", {f({2, 3}), ints(-3)}).error().code == DiagCode::MRV0207);
  CHECK(dynamic_types("GatherND", {f({2, 3}), dynamic_type(E::I64, {2, -2})}).error().code ==
        DiagCode::MRV0207);
  CHECK(dynamic_types("Reshape", {f({-2, 3}), list({7})}).error().code == DiagCode::MRV0208);
  CHECK(dynamic_types("Reshape", {f({2, 3}), ints(9)}).error().code == DiagCode::MRV0208);
}

}  // namespace
}  // namespace mrvlc::test
