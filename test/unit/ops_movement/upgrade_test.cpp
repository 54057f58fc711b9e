#include <catch2/catch.hpp>

#include "../ops/case.h"

namespace mrvlc::ops::test {
namespace {

RawNode raw(std::string_view name, int64_t opset, size_t inputs) {
  RawNode node;
  node.opset = opset;
  node.op = find_op("", name);
  for (size_t i = 0; i < inputs; ++i) {
    node.inputs.push_back(static_cast<int64_t>(i));
    node.input_types.push_back({ElementType::F32, {4, 4}});
  }
  return node;
}

RawNode upgraded(RawNode node) {
  Status status = find_op("", node.op->name)->upgrade(node);
  REQUIRE(status.ok());
  return node;
}

// The constant that became input `position`.
Tensor constant_at(const RawNode& node, size_t position) {
  REQUIRE(node.inputs.size() > position);
  REQUIRE(node.inputs[position] <= -2);
  return node.new_constants[static_cast<size_t>(-2 - node.inputs[position])];
}

}  // namespace

TEST_CASE("attributes of old opsets become inputs") {
  RawNode squeeze = raw("Squeeze", 11, 1);
  squeeze.attrs = {{"axes", list({1})}};
  REQUIRE(constant_at(upgraded(squeeze), 1) == ints({1}));
  RawNode slice = raw("Slice", 1, 1);
  slice.attrs = {{"starts", list({0})}, {"ends", list({2})}, {"axes", list({1})}};
  REQUIRE(constant_at(upgraded(slice), 2) == ints({2}));
  REQUIRE(constant_at(upgraded(slice), 3) == ints({1}));
  REQUIRE(upgraded(slice).attrs.empty());
  RawNode split = raw("Split", 11, 1);
  split.attrs = {{"split", list({1, 3})}};
  REQUIRE(constant_at(upgraded(split), 1) == ints({1, 3}));
  RawNode top = raw("TopK", 1, 1);
  top.attrs = {{"k", num(2)}};
  REQUIRE(constant_at(upgraded(top), 1) == ints({2}));
  RawNode reshape = raw("Reshape", 1, 1);
  reshape.attrs = {{"shape", list({-1})}};
  REQUIRE(constant_at(upgraded(reshape), 1) == ints({-1}));
  RawNode upsample = raw("Upsample", 7, 1);
  upsample.attrs = {{"scales", ir::Attr(std::vector<float>{1, 2})}};
  REQUIRE(constant_at(upgraded(upsample), 1) == floats({2}, {1, 2}));
}

TEST_CASE("Pad of opsets 1 and 2") {
  for (const char* attr : {"paddings", "pads"}) {
    RawNode pad = raw("Pad", attr == std::string("pads") ? 2 : 1, 1);
    pad.attrs = {{attr, list({1, 1, 1, 1})}, {"value", ir::Attr(2.5f)}, {"mode", text("constant")}};
    RawNode now = upgraded(pad);
    REQUIRE(constant_at(now, 1) == ints({1, 1, 1, 1}));
    REQUIRE(constant_at(now, 2) == floats({}, {2.5}));
    REQUIRE(now.attrs.size() == 1);
  }
}

TEST_CASE("Split without sizes counts its outputs before opset 18") {
  RawNode split = raw("Split", 13, 1);
  split.num_outputs = 3;
  RawNode now = upgraded(split);
  REQUIRE(now.find("num_outputs") != nullptr);
  REQUIRE(std::get<int64_t>(*now.find("num_outputs")) == 3);
  split.opset = 18;
  REQUIRE(upgraded(split).find("num_outputs") == nullptr);
}

TEST_CASE("Resize of opset 10 has no region of interest and asymmetric coordinates") {
  RawNode now = upgraded(raw("Resize", 10, 2));
  REQUIRE(now.inputs == std::vector<int64_t>{0, -1, 1});
  REQUIRE(std::get<std::string>(*now.find("coordinate_transformation_mode")) == "asymmetric");
  REQUIRE(upgraded(raw("Resize", 11, 3)).inputs == std::vector<int64_t>{0, 1, 2});
  // The example of Resize-10 in the specification shrinks 4 to 2 and takes elements 0 and 2.
  Case c = Case("Resize")
               .set("coordinate_transformation_mode", text("asymmetric"))
               .set("nearest_mode", text("ceil_when_shrinking"));
  REQUIRE(c.in(floats({4}, {1, 2, 3, 4})).absent().in(floats({1}, {0.6})).value().to_ints() ==
          std::vector<int64_t>{1, 3});
}

TEST_CASE("an attribute of the wrong kind is refused") {
  RawNode squeeze = raw("Squeeze", 11, 1);
  squeeze.attrs = {{"axes", num(1)}};
  REQUIRE_FALSE(squeeze.op == nullptr);
  REQUIRE_FALSE(find_op("", "Squeeze")->upgrade(squeeze).ok());
}

}  // namespace mrvlc::ops::test
