// What layers cannot do without, read off graphs.
#include <catch2/catch.hpp>

#include "bound/bound.h"

namespace mrvlc::accel {
namespace {

// One region, one layer a node.
struct Net {
  ir::Graph graph;
  partition::Region region;
  using AttrList = std::vector<std::pair<std::string_view, ir::Attr>>;

  ir::ValueId input(Shape shape) {
    ir::ValueId v =
        graph.add_input("in" + std::to_string(graph.inputs().size()), {ElementType::F16, std::move(shape)});
    region.inputs.push_back(v);
    return v;
  }
  ir::ValueId constant(Shape shape) {
    return graph.add_constant("c" + std::to_string(graph.value_slots()),
                              Tensor({ElementType::F16, std::move(shape)}));
  }
  ir::ValueId indices(const std::vector<int64_t>& values) {
    Tensor t = Tensor::of(ElementType::I64, {static_cast<int64_t>(values.size())}, values);
    return graph.add_constant("c" + std::to_string(graph.value_slots()), std::move(t));
  }
  ir::ValueId layer(std::string_view op, std::vector<ir::ValueId> inputs, const AttrList& attrs = {}) {
    const ops::OpDef& def = *ops::find_op("", op);
    std::vector<ir::Attr> slots = ir::default_attrs(def);
    for (const auto& [name, value] : attrs) ir::set_attr(def, slots, name, value);
    ops::InferContext context;
    context.op = &def;
    context.attrs = &slots;
    for (ir::ValueId v : inputs) {
      context.types.push_back(&graph.value(v).type);
      context.constants.push_back(graph.constant(v));
    }
    auto types = ops::infer_types(def, context);
    if (!types.ok()) FAIL(types.error().message);
    ir::SourceId source =
        graph.add_source({std::to_string(graph.node_slots()), "n", std::string(op), "", {}});
    ir::NodeId id = graph.add_node(def, "n", std::move(inputs), std::move(slots), *types, {""},
                                   {{source}, {}, "import", ""});
    region.layers.push_back({"test", LayerKind::Reshape, {id}, id});
    return graph.node(id).outputs[0];
  }
  void output(ir::ValueId v) {
    graph.add_output(v);
    region.outputs.push_back(v);
  }
  RegionFacts facts() const {
    auto m = target::load_machine("cn10ka", {});
    REQUIRE(m.ok());
    return region_facts(graph, region, *m);
  }
};

using Ints = std::vector<int64_t>;

}  // namespace

TEST_CASE("a convolution: runs of 16, its drain, weights, ports") {
  Net net;
  ir::ValueId x = net.input({1, 3, 32, 32});
  net.output(net.layer("Conv", {x, net.constant({64, 3, 3, 3})}, {{"pads", Ints{1, 1, 1, 1}}}));
  RegionFacts facts = net.facts();
  CHECK(facts.layers[0].pod_cycles == 1024 * 64 * 2 / 16);  // 27 products are two runs
  CHECK(facts.layers[0].drain_cycles == 1024 * 16 / 32);
  CHECK(facts.layers[0].pe_cycles == 0);
  CHECK(facts.layers[0].weight_bytes == 27 * 64 * 2);
  CHECK(facts.input_bytes == 3 * 1024 * 2);
  CHECK(facts.output_bytes == 64 * 1024 * 2);
}

TEST_CASE("taps that never meet the input count neither as products nor as weights") {
  Net net;
  ir::ValueId x = net.input({1, 32, 1, 1});
  net.output(net.layer("Conv", {x, net.constant({16, 32, 3, 3})}, {{"pads", Ints{1, 1, 1, 1}}}));
  RegionFacts facts = net.facts();
  CHECK(facts.layers[0].pod_cycles == 8);  // two blocks of weights, four cycles each
  CHECK(facts.layers[0].weight_bytes == 32 * 16 * 2);
}

TEST_CASE("a bias is four bytes a channel, once, where it is no zeros") {
  Net net;
  ir::ValueId x = net.input({1, 32, 4, 4}), w = net.constant({16, 32, 1, 1});
  const auto bias = [&](float last) {
    Tensor t({ElementType::F16, {16}});
    t.set_double(15, last);
    return net.graph.add_constant("b" + std::to_string(net.graph.value_slots()), std::move(t));
  };
  for (float last : {1.0f, 1.0f, 2.0f, 0.0f}) net.output(net.layer("Conv", {x, w, bias(last)}));
  RegionFacts facts = net.facts();
  CHECK(facts.layers[0].weight_bytes == 16 * 4);
  CHECK(facts.layers[1].weight_bytes == 0);
  CHECK(facts.layers[2].weight_bytes == 16 * 4);
  CHECK(facts.layers[3].weight_bytes == 32 * 16 * 2);  // the weights of all
}

TEST_CASE("a fully connected layer of one row waits for its weights, one of many rows does not") {
  Net net;
  ir::ValueId w = net.constant({512, 256});
  net.output(net.layer("MatMul", {net.input({1, 512}), w}));
  net.output(net.layer("Gemm", {net.input({64, 512}), w}));
  RegionFacts facts = net.facts();
  CHECK(facts.layers[0].pod_cycles == 512 * 256 / 64);
  CHECK(facts.layers[1].pod_cycles == 64 * 512);
  CHECK(facts.layers[0].weight_bytes == 0);  // the later layer still needs them
  CHECK(facts.layers[1].weight_bytes == 512 * 256 * 2);
}

TEST_CASE("a product of two activations takes the better of its two directions") {
  Net net;
  net.output(net.layer("MatMul", {net.input({4, 2, 64}), net.input({4, 64, 128})}));
  RegionFacts facts = net.facts();
  CHECK(facts.layers[0].pod_cycles == 4 * 2 * 128 * 64 / 128);
  CHECK(facts.layers[0].drain_cycles == 0);
  CHECK(facts.layers[0].weight_bytes == 0);
}

TEST_CASE("depthwise layers have their own rate") {
  Net net;
  ir::ValueId x = net.input({2, 32, 8, 8});
  net.output(net.layer("Conv", {x, net.constant({32, 1, 3, 3})},
                       {{"pads", Ints{1, 1, 1, 1}}, {"group", int64_t{32}}}));
  RegionFacts facts = net.facts();
  CHECK(facts.layers[0].pod_cycles == 2 * 32 * 64 * 9 / 64);
  CHECK(facts.layers[0].drain_cycles == 0);
}

TEST_CASE("convolutions of one input could be one: the longest drain counts") {
  Net net;
  ir::ValueId x = net.input({1, 64, 16, 16});
  ir::ValueId y = net.layer("Transpose", {x}, {{"perm", Ints{0, 1, 3, 2}}});
  net.output(net.layer("Conv", {x, net.constant({8, 64, 1, 1})}));
  net.output(net.layer("Conv", {y, net.constant({32, 64, 1, 1})}));
  RegionFacts facts = net.facts();
  CHECK(facts.layers[1].drain_cycles == 256 * 8 / 32);
  CHECK(facts.layers[2].drain_cycles == 256 * 16 / 32 - 256 * 8 / 32);
}

TEST_CASE("a transposed convolution is counted from its input") {
  Net net;
  ir::ValueId x = net.input({1, 16, 8, 8});
  net.output(net.layer("ConvTranspose", {x, net.constant({16, 32, 2, 2})}, {{"strides", Ints{2, 2}}}));
  CHECK(net.facts().layers[0].pod_cycles == 64 * 4 * 16 * 32 / 256);
}

TEST_CASE("an element of the input that few results use wastes the unit's columns") {
  Net net;
  ir::ValueId x = net.input({1, 64, 8, 8});
  net.output(net.layer("Conv", {x, net.constant({4, 64, 1, 1})}));
  net.output(net.layer("Conv", {x, net.constant({1, 64, 3, 3})}, {{"strides", Ints{2, 2}}}));
  net.output(net.layer("ConvTranspose", {x, net.constant({64, 1, 2, 2})}, {{"strides", Ints{2, 2}}}));
  RegionFacts facts = net.facts();
  CHECK(facts.layers[0].pod_cycles == 64 * 64 * 4 / 64);
  CHECK(facts.layers[1].pod_cycles == 9 * 64 * 9 / 64);
  CHECK(facts.layers[2].pod_cycles == 64 * 64 * 4 / 64);
}

TEST_CASE("a maximum takes pairs, on the vector unit") {
  Net net;
  ir::ValueId x = net.input({1, 64, 16, 16});
  net.output(net.layer("MaxPool", {x}, {{"kernel_shape", Ints{2, 2}}, {"strides", Ints{2, 2}}}));
  RegionFacts facts = net.facts();
  CHECK(facts.layers[0].pe_cycles == (64 * 256 - 64 * 64) / 32);
  CHECK(facts.layers[0].pod_cycles == 0);
}

TEST_CASE("what strides and slices leave out of an input need not be fetched") {
  Net net;
  ir::ValueId x = net.input({1, 16, 9, 9});
  ir::ValueId y = net.input({1, 16, 10, 10});
  ir::ValueId z = net.input({100});
  net.output(net.layer("Conv", {x, net.constant({16, 16, 1, 1})}, {{"strides", Ints{2, 2}}}));
  net.output(net.layer("MaxPool", {y}, {{"kernel_shape", Ints{3, 3}}, {"strides", Ints{2, 2}}}));
  ir::ValueId flat = net.layer("Reshape", {z, net.indices({4, 25})});
  net.output(net.layer("Slice", {flat, net.indices({1}), net.indices({3}), net.indices({0})}));
  CHECK(net.facts().input_bytes == 2 * (16 * 25 + 16 * 81 + 50));
}

TEST_CASE("behind a global pool nothing begins before the whole input is there") {
  Net net;
  ir::ValueId x = net.input({1, 16, 8, 8});
  ir::ValueId y = net.layer("Conv", {x, net.constant({32, 16, 1, 1})});
  ir::ValueId gate = net.layer("GlobalAveragePool", {y});
  gate = net.layer("Conv", {gate, net.constant({32, 32, 1, 1})});
  ir::ValueId z = net.layer("Mul", {y, gate});
  net.output(net.layer("Conv", {z, net.constant({16, 32, 1, 1})}));
  RegionFacts facts = net.facts();
  CHECK(facts.first_bytes == 2 * 16 * 64);
  CHECK(facts.layers[0].pod_after_input == 0);
  CHECK(facts.layers[2].pod_after_input == facts.layers[2].pod_cycles + facts.layers[2].drain_cycles);
  CHECK(facts.layers[4].pod_after_input == 64 * 2 + 32);
}

TEST_CASE("what sees a part of the input, or a part of its channels, can begin earlier") {
  Net net;
  ir::ValueId x = net.input({1, 16, 9, 9});
  ir::ValueId skipping = net.layer("Conv", {x, net.constant({16, 16, 2, 2})}, {{"strides", Ints{2, 2}}});
  ir::ValueId own = net.layer("Conv", {x, net.constant({16, 1, 3, 3})}, {{"group", int64_t{16}}});
  for (ir::ValueId y : {skipping, own}) {
    ir::ValueId gate = net.layer("GlobalAveragePool", {y});
    net.output(net.layer("Conv", {gate, net.constant({8, 16, 1, 1})}));
  }
  RegionFacts facts = net.facts();
  CHECK(facts.layers[3].pod_after_input == 0);
  CHECK(facts.layers[5].pod_after_input == 0);
}

TEST_CASE("sizes no machine computes do not overflow") {
  Net net;
  ir::ValueId a = net.input({1 << 20, 1 << 18}), b = net.input({1 << 18, 1 << 20});
  net.output(net.layer("MatMul", {a, b}));
  CHECK(net.facts().layers[0].pod_cycles > 0);
}

}  // namespace mrvlc::accel
