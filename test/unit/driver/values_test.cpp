// Values in files: the typed JSON, and the bytes that example programs take.
#include <catch2/catch.hpp>
#include <cmath>

#include "mrvlc/driver/value_file.h"
#include "mrvlc/ops/control_flow.h"
#include "mrvlc/support/diag/general.h"
#include "run/program.h"
#include "support/folders.h"

using namespace mrvlc;

namespace {

TensorType type_of(ElementType elem, Wrapper wrapper = Wrapper::None) {
  TensorType type{elem, {}};
  type.wrapper = wrapper;
  return type;
}

std::string json_of(const Tensor& value) {
  return driver::to_value_json(value, type_of(value.elem(), value.type().wrapper));
}

// What a reader is told when it is no value.
std::string fault(std::string_view text) {
  auto value = driver::parse_value_json(text);
  if (value.ok()) return "taken";
  CHECK(value.error().code == DiagCode::MRV0003);
  return value.error().message;
}

void check_round_trip(const Tensor& value) {
  const std::string text = json_of(value);
  INFO(text);
  auto back = driver::parse_value_json(text);
  REQUIRE(back.ok());
  CHECK(*back == value);
  const TensorType type = type_of(value.elem(), value.type().wrapper);
  const std::string bytes = driver::to_value_bytes(value);
  auto again = driver::parse_value_bytes(bytes, type);
  REQUIRE(again.ok());
  CHECK(*again == value);
  for (size_t n = 0; n < bytes.size(); ++n)
    CHECK_FALSE(driver::parse_value_bytes(bytes.substr(0, n), type).ok());
  CHECK_FALSE(driver::parse_value_bytes(bytes + "x", type).ok());
}

const Tensor kTexts = Tensor::strings({2, 2}, {"a", "", "\"\n\xc3\xa4", std::string("\xff\x00", 2)});

}  // namespace

TEST_CASE("tensors of every type come back") {
  for (ElementType elem :
       {ElementType::F32, ElementType::F64, ElementType::F16, ElementType::BF16, ElementType::F8E4M3FN,
        ElementType::F8E5M2, ElementType::I8, ElementType::I16, ElementType::I32, ElementType::I64,
        ElementType::U8, ElementType::U16, ElementType::U32, ElementType::U64, ElementType::Bool,
        ElementType::I4, ElementType::U4}) {
    check_round_trip(Tensor::of<double>(elem, {2, 3}, {0, 1, 1, 0, 0.1, 1.7}));
    check_round_trip(Tensor::of<double>(elem, {}, {1}));
    check_round_trip(Tensor::of<double>(elem, {0}, {}));
    check_round_trip(Tensor::of<double>(elem, {0, 3}, {}));
    check_round_trip(Tensor::of<double>(elem, {2, 0}, {}));
  }
  check_round_trip(kTexts);
  check_round_trip(Tensor::of<int64_t>(ElementType::I64, {2}, {INT64_MIN, INT64_MAX}));
  check_round_trip(Tensor::of<int64_t>(ElementType::U64, {2}, {-1, INT64_MIN}));
  check_round_trip(Tensor::of<double>(ElementType::F64, {3}, {1.0 / 3, 5e-324, -1e308}));
  check_round_trip(Tensor::of<double>(ElementType::F32, {4}, {INFINITY, -INFINITY, 1.0 / 3, 1e-45}));
  CHECK(json_of(Tensor::of<double>(ElementType::F32, {2}, {NAN, -0.5})) ==
        "{\"type\":\"tensor(float)\",\"value\":[\"NaN\",-0.5]}\n");
}

TEST_CASE("sequences and optionals come back") {
  const Tensor a = Tensor::of<double>(ElementType::F32, {2}, {1, 2}),
               b = Tensor::of<double>(ElementType::F32, {1, 1}, {3});
  const Tensor empty = Tensor::of<double>(ElementType::F32, {0, 2}, {});
  check_round_trip(ops::wrap(Wrapper::Sequence, {a, b, empty}));
  check_round_trip(ops::wrap(Wrapper::Sequence, {kTexts}));
  check_round_trip(ops::wrap(Wrapper::Optional, {a}));
  check_round_trip(ops::wrap(Wrapper::OptionalSequence, {ops::wrap(Wrapper::Sequence, {a, a})}));
  for (Wrapper w : {Wrapper::Sequence, Wrapper::Optional, Wrapper::OptionalSequence})
    check_round_trip(Tensor::wrapped(type_of(ElementType::I64, w), {}));
  CHECK(json_of(ops::wrap(Wrapper::Sequence, {a})) ==
        "{\"type\":\"seq(tensor(float))\",\"value\":[\n  [1,2]]}\n");
  CHECK(json_of(Tensor::wrapped(type_of(ElementType::I64, Wrapper::Optional), {})) ==
        "{\"type\":\"optional(tensor(int64))\",\"value\":null}\n");
}

TEST_CASE("an optional that holds nothing is taken whatever the shape of what it may hold") {
  TensorType type{ElementType::F32, {2}};
  type.wrapper = Wrapper::Optional;
  const driver::Port port{"x", "x", type};
  const auto take = [&](const Tensor& value) { return driver::check_value(port, value, "x.json", false); };
  CHECK(take(Tensor::wrapped(type_of(ElementType::F32, Wrapper::Optional), {})).ok());
  CHECK_FALSE(take(Tensor::wrapped(type_of(ElementType::I64, Wrapper::Optional), {})).ok());
  const Status plain = take(Tensor::of<double>(ElementType::F32, {4, 2}, std::vector<double>(8)));
  REQUIRE_FALSE(plain.ok());
  CHECK(plain.error().message.find("--repeat-axis0") == std::string::npos);
}

// The same of a type and what stands behind it.
std::string fault(const std::string& type, const std::string& value, const std::string& shape = "") {
  const std::string said = shape.empty() ? "" : ",\"shape\":" + shape;
  return fault("{\"type\":\"" + type + "\"" + said + ",\"value\":" + value + "}");
}

TEST_CASE("what is no value is refused with the reason") {
  using Catch::Contains;
  CHECK_THAT(fault("{"), Contains("not valid JSON"));
  CHECK_THAT(fault("[1]"), Contains("not of the form"));
  CHECK_THAT(fault("{\"type\":\"tensor(float)\"}"), Contains("not of the form"));
  CHECK_THAT(fault("tensor(flaot)", "1"), Contains("there is no type 'tensor(flaot)'"));
  CHECK_THAT(fault("map(int64,tensor(float))", "1"), Contains("there is no type"));
  CHECK_THAT(fault("tensor(float)", "[[1,2],[3]]"), Contains("differ in length"));
  CHECK_THAT(fault("tensor(float)", "[[1,2],3]"), Contains("differ in length"));
  CHECK_THAT(fault("tensor(float)", "[\"one\"]"), Contains("is no number"));
  CHECK_THAT(fault("tensor(int64)", "[1.5]"), Contains("is no integer"));
  CHECK_THAT(fault("tensor(int8)", "[128]"), Contains("not in the range of tensor(int8)"));
  CHECK_THAT(fault("tensor(uint8)", "[-1]"), Contains("not in the range"));
  CHECK_THAT(fault("tensor(uint64)", "[-1]"), Contains("not in the range"));
  CHECK_THAT(fault("tensor(int64)", "[9223372036854775808]"), Contains("not in the range"));
  CHECK_THAT(fault("tensor(bool)", "[2]"), Contains("not in the range of tensor(bool)"));
  CHECK_THAT(fault("tensor(string)", "[1]"), Contains("a string is a text"));
  CHECK_THAT(fault("tensor(string)", "[{\"hex\":\"f\"}]"), Contains("two hexadecimal digits"));
  CHECK_THAT(fault("seq(tensor(float))", "1"), Contains("a list of tensors"));
  CHECK_THAT(fault("tensor(float)", "[1,2]", "[3]"), Contains("fewer elements"));
  CHECK_THAT(fault("tensor(float)", "[1,2]", "[1]"), Contains("more elements"));
  CHECK_THAT(fault("tensor(float)", "[1,2]", "[-1]"), Contains("a size"));
  CHECK_THAT(fault("tensor(float)", "[1]", "[1000000000000]"), Contains("fewer elements"));
  CHECK_THAT(fault("tensor(float)", "[1]", "[1099511627776,1099511627776]"), Contains("fewer elements"));
  CHECK(fault("tensor(float)", std::string(200000, '[') + "1" + std::string(200000, ']')) != "taken");
  CHECK_THAT(fault("tensor(float)", "[[[[[[[[[1]]]]]]]]]"), Contains("more than 8 lists"));
}

TEST_CASE("the extension of a file says its form") {
  test::TempDir folder;
  folder.write("x.json", "{\"type\":\"tensor(int32)\",\"shape\":[2,1],\"value\":[1,2]}");
  auto value = driver::read_value(folder.path() / "x.json", Wrapper::None);
  REQUIRE(value.ok());
  CHECK(*value == Tensor::of<int64_t>(ElementType::I32, {2, 1}, {1, 2}));
  folder.write("bad.json", "nonsense");
  auto bad = driver::read_value(folder.path() / "bad.json", Wrapper::None);
  REQUIRE_FALSE(bad.ok());
  CHECK_THAT(bad.error().message, Catch::Contains("bad.json") && Catch::Contains("not valid JSON"));
  CHECK(driver::read_value(folder.path() / "none.json", Wrapper::None).error().code == DiagCode::MRV0001);
  folder.write("x.npy", "nonsense");
  CHECK_THAT(driver::read_value(folder.path() / "x.npy", Wrapper::None).error().message,
             Catch::Contains("not a valid .npy file"));
}
