// Claim B of models and layers that are written out.
#include "link.h"

#include <catch2/catch.hpp>

#include "model_program.h"
#include "mrvlc/ir/text.h"
#include "mrvlc/ops/op.h"

using namespace mrvlc;
using namespace mrvlc::prove;

namespace {

ir::Graph parsed(const std::string& body) {
  auto g = ir::parse("graph \"g\" {\n" + body + "}\n", ops::registry());
  REQUIRE(g.ok());
  return std::move(*g);
}

// Values of `layers` that are those of `model`, all of both in one region.
std::map<std::string, std::string> matched(const ir::Graph& model, const ir::Graph& layers) {
  static const Field field("link");
  RegionHints region = model_program(layers);
  for (ir::ValueId v : layers.inputs()) {
    const ir::Value& value = layers.value(v);
    region.inputs.push_back({{value.name, value.type.elem, value.type.shape}, ElementType::F16, {}});
  }
  return Linker(model, field, {}).link(region).matched;
}

const char* const kHead = "input %x : f32[4]\n%a = Sigmoid(%x) : f32[4]\n";

}  // namespace

TEST_CASE("prove: nodes alike but for their function are told apart") {
  const ir::Graph model = parsed(kHead + std::string("%y = Tanh(%a) : f32[4]\noutput %y\n"));
  CHECK(matched(model, model).contains("y"));
  const auto other = matched(model, parsed(kHead + std::string("%y = Sigmoid(%a) : f32[4]\noutput %y\n")));
  CHECK(other.contains("a"));
  CHECK_FALSE(other.contains("y"));
}

TEST_CASE("prove: values of a shape known at run time only take no memory") {
  const ir::Graph model = parsed(
      "input %x : f32[4]\ninput %n : f32[<=1000000000, <=1000000000]\n"
      "%m = Relu(%n) : f32[<=1000000000, <=1000000000]\n"
      "%y = Relu(%x) : f32[4]\noutput %m\noutput %y\n");
  const ir::Graph layers = parsed("input %x : f32[4]\n%y = Relu(%x) : f32[4]\noutput %y\n");
  CHECK(matched(model, layers).contains("y"));
}

TEST_CASE("prove: Where of a constant condition is an operand, or a mask before Softmax") {
  const auto where = [](const char* condition, const char* fill, const char* more = "") {
    return parsed("input %x : f32[2, 2]\nconst %c : bool[2, 2] = [" + std::string(condition) +
                  "]\nconst %f : f32[] = [" + fill + "]\n%m = Where(%c, %x, %f) : f32[2, 2]\n" +
                  "%y = Softmax(%m) {axis = -1} : f32[2, 2]\noutput %y\n" + more);
  };
  const auto sum = [](const char* bias) {
    return parsed("input %x : f32[2, 2]\nconst %b : f32[2, 2] = [" + std::string(bias) +
                  "]\n%s = Add(%x, %b) : f32[2, 2]\n%y = Softmax(%s) {axis = -1} : f32[2, 2]\noutput %y\n");
  };
  const ir::Graph layers = sum("0, -inf, 0, 0");
  const auto proved = [&](const ir::Graph& model) { return matched(model, layers).contains("y"); };
  CHECK(proved(where("true, false, true, true", "-1e9")));
  CHECK_FALSE(proved(where("true, true, false, true", "-1e9")));
  CHECK_FALSE(proved(where("true, false, true, true", "-1e8")));
  // Somebody else sees what is masked.
  CHECK_FALSE(proved(where("true, false, true, true", "-1e9", "output %m\n")));
  // A row that is masked altogether has a result in the model, and none in the layers.
  CHECK_FALSE(matched(where("true, false, false, false", "-1e9"), sum("0, -inf, -inf, -inf")).contains("y"));
}
