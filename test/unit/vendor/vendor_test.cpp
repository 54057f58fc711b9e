// What the vendor's compiler takes and why not, and what the passes leave no example of: a convolution with
// its batch normalisation. The files as a whole: test/e2e/vendor.
#include "mrvlc/vendor/vendor.h"

#include <catch2/catch.hpp>
#include <nlohmann/json.hpp>

#include "mrvlc/ir/text.h"
#include "mrvlc/ops/op.h"
#include "mrvlc/ops/op_kind.h"

using namespace mrvlc;

namespace {

ir::Graph parse(const std::string& body) {
  auto g = ir::parse("graph \"g\" {\n" + body + "\n}\n", ops::registry());
  if (!g.ok()) FAIL(g.error().message << "\n" << body);
  return std::move(g).value();
}

// All nodes as one layer, whose anchor is the first of this operator.
partition::Layer layer_of(const ir::Graph& g, LayerKind kind, Op anchor) {
  partition::Layer layer{"test", kind, g.topological_order(), {}};
  for (ir::NodeId n : layer.nodes)
    if (!layer.anchor.valid() && g.node(n).is(anchor)) layer.anchor = n;
  return layer;
}

std::string refusal(LayerKind kind, Op anchor, const std::string& body) {
  const ir::Graph g = parse(body);
  const partition::Legality l = vendor::legal(g, layer_of(g, kind, anchor));
  if (!l.ok) CHECK(l.reason.back() == '.');
  return l.ok ? "" : l.condition + ": " + l.actual + ", not " + l.limit;
}

}  // namespace

TEST_CASE("limits of the vendor's composites") {
  const std::string image = "input %x : f32[1,4,8,8]\n const %w : f32[2,4,1,1] = [1,2,3,4,5,6,7,8]\n";
  CHECK(refusal(LayerKind::Conv, Op::Conv, image + "%c = Conv(%x, %w) : f32[1,2,8,8]\n output %c").empty());
  CHECK(refusal(LayerKind::Conv, Op::Conv,
                "input %x : f16[1,1,2,2]\n const %w : f16[1,1,1,1] = x\"0000\"\n %c = Conv(%x, %w) : "
                "f16[1,1,2,2]\n "
                "output %c") == "element type: f16, not f32");
  CHECK(
      refusal(LayerKind::Conv, Op::Conv,
              "input %x : f32[9,1,2,2]\n const %w : f32[1,1,1,1] = [1]\n %c = Conv(%x, %w) : f32[9,1,2,2]\n "
              "output %c") == "batch: 9, not 8");
  CHECK(refusal(LayerKind::Conv, Op::Conv,
                "input %x : f32[1,4,2,2]\n const %w : f32[4,2,1,1] = [1,2,3,4,5,6,7,8]\n %c = Conv(%x, %w) "
                "{group = 2} : "
                "f32[1,4,2,2]\n output %c") == "group: 2, not 1, or as many as channels");
  CHECK(refusal(LayerKind::Conv, Op::Conv,
                "input %x : f32[1,4,8]\n const %w : f32[1,4,1] = [1,2,3,4]\n %c = Conv(%x, %w) : "
                "f32[1,1,8]\n output %c") == "rank: 3, not 4");
  CHECK(refusal(LayerKind::Pool, Op::AveragePool,
                "input %x : f32[2,1,4,4]\n %p = AveragePool(%x) {kernel_shape = [2,2]} : f32[2,1,3,3]\n "
                "output %p") == "batch: 2, not 1");
  CHECK(refusal(
            LayerKind::Elementwise, Op::Add,
            "input %x : f32[1,2,3,3]\n input %y : f32[1,2,1,1]\n %a = Add(%x, %y) : f32[1,2,3,3]\n output %a")
            .starts_with("equal shapes"));
  CHECK(refusal(LayerKind::Concat, Op::Concat,
                "input %x : f32[1,2,3,3]\n %c = Concat(%x, %x) {axis = 2} : f32[1,2,6,3]\n output %c") ==
        "axis: 2, not 1");
  CHECK(refusal(LayerKind::Fc, Op::Gemm,
                "input %x : f32[1,2]\n const %w : f32[2,1] = [1,2]\n %g = Gemm(%x, %w) {alpha = 2.0} : "
                "f32[1,1]\n output "
                "%g")
            .starts_with("plain product"));
  CHECK(refusal(LayerKind::Reshape, Op::Flatten,
                "input %x : f32[1,2,3,3]\n %f = Flatten(%x) : f32[1,18]\n output %f")
            .starts_with("order of elements"));
  CHECK(refusal(LayerKind::Reshape, Op::Flatten,
                "input %x : f32[1,2,1,1]\n %f = Flatten(%x) : f32[1,2]\n output %f")
            .empty());
}

TEST_CASE("a batch normalisation is constants 2 to 5 behind a bias, 1 to 4 without") {
  const std::string norm =
      " const %s : f32[2] = [1,2]\n const %o : f32[2] = [3,4]\n const %m : f32[2] = [5,6]\n const %v : "
      "f32[2] = [7,8]\n";
  for (const bool bias : {false, true}) {
    const ir::Graph g =
        parse("input %x : f32[1,1,2,2]\n const %w : f32[2,1,1,1] = [1,2]\n const %b : f32[2] = [1,2]\n" +
              norm + (bias ? " %c = Conv(%x, %w, %b)" : " %c = Conv(%x, %w)") +
              " : f32[1,2,2,2]\n %n = BatchNormalization(%c, %s, %o, %m, %v) {epsilon = 0.5} : "
              "f32[1,2,2,2]\n %r = Relu(%n) : f32[1,2,2,2]\n output %r");
    partition::Region region;
    region.layers = {layer_of(g, LayerKind::Conv, Op::Conv)};
    region.inputs = {g.inputs()[0]};
    region.outputs = {g.outputs()[0]};
    CHECK(vendor::legal(g, region.layers[0]).ok);
    const vendor::Texts texts = vendor::nodes_json(g, region, "net");
    const auto nodes = nlohmann::json::parse(texts.nodes), constants = nlohmann::json::parse(texts.constants);
    REQUIRE(nodes.at("nodes").size() == 3);  // the input, its layout, the convolution
    const auto& a = nodes.at("nodes").at(2).at("attrs");
    size_t number = bias ? 2 : 1;
    for (const char* kind : {"gamma", "beta", "mean", "var"}) {
      const std::string name = "tvmgen_mrvl_main_1_const_" + std::to_string(number++);
      const std::string key = std::string(kind) + "_const";
      CHECK(a.at(key + "_name").at(0) == name);
      CHECK(a.at(key) == nlohmann::json{{"shape", {1, 2}}, {"dtype", "float32"}, {"name", name}});
      CHECK(a.at(std::string(kind) + "_layout").at(0) == "-O");
      CHECK(constants.contains(name));
    }
    CHECK(a.at("epsilon").at(0) == "0.5");
    CHECK(a.at("num_inputs") == (bias ? "7" : "6"));
    CHECK(a.at("activation_type").at(0) == "relu");
    CHECK(a.contains("bias_const") == bias);
  }
}
