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
  if (!g.ok()) FAIL(g.error().message);
  return std::move(g).value();
}

// Values of `layers` that are those of `model`, all of both in one region.
std::map<std::string, std::string> matched(const ir::Graph& model, const ir::Graph& layers) {
  static const Field field("link");
  RegionHints region = model_program(layers);
  for (ir::ValueId v : layers.inputs()) {
    const ir::Value& value = layers.value(v);
    region.inputs.push_back({{value.name, value.type.elem, value.type.shape}, ElementType::F16, {}});
  }
  // Their own constants are folded ones.
  for (size_t i = 0; i < layers.value_slots(); ++i) {
    const ir::ValueId id(static_cast<uint32_t>(i));
    if (!layers.is_constant(id)) continue;
    const auto bytes = layers.value(id).constant().bytes();
    FoldedConstant& c = region.constants.at(layers.value(id).name);
    c.folded = true;
    c.bytes = std::string(reinterpret_cast<const char*>(bytes.data()), bytes.size());
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

TEST_CASE("prove: values of a shape known at run time only have no elements") {
  const ir::Graph model = parsed(
      "input %x : f32[<=4]\n%a = Relu(%x) : f32[<=4]\n%y = ReduceSum(%a) : f32[1]\n"
      "%z = Relu(%y) : f32[1]\noutput %z\n");
  const Field field("link");
  const Linker linker(model, field, {});
  CHECK(linker.fresh_values() == std::set<std::string>{"y"});
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
  CHECK(proved(where("1, 0, 1, 1", "-1e9")));
  CHECK_FALSE(proved(where("1, 1, 0, 1", "-1e9")));
  CHECK_FALSE(proved(where("1, 0, 1, 1", "-1e8")));
  // Somebody else sees what is masked.
  CHECK_FALSE(proved(where("1, 0, 1, 1", "-1e9", "output %m\n")));
  // A row that is masked altogether has a result in the model, and none in the layers.
  CHECK_FALSE(matched(where("1, 0, 0, 0", "-1e9"), sum("0, -inf, -inf, -inf")).contains("y"));
}
