#include <random>

#include "helpers.h"

using namespace mrvlc;
using namespace mrvlc::test;

TEST_CASE("printing is a fixpoint and reads back to an equal graph", "[ir]") {
  ir::Graph g = parse_ok(kEverything);
  std::string text = ir::print(g);
  ir::Graph again = parse_ok(text);
  CHECK(ir::structurally_equal(g, again));
  CHECK(ir::print(again) == text);
  CHECK(ir::verify(again).ok());
}

TEST_CASE("special floats keep their bits", "[ir]") {
  ir::Graph g = parse_ok(kEverything);
  ir::Graph again = parse_ok(ir::print(g));
  for (const ir::Graph* graph : {&g, &again}) {
    const Tensor& w = graph->value(value_named(*graph, "w")).constant();
    CHECK(std::signbit(w.as_double(1)));
    CHECK(std::isinf(w.as_double(2)));
    const Tensor& b = graph->value(value_named(*graph, "b")).constant();
    CHECK(b.data<uint32_t>()[0] == 0x7fc00000u);
    float alpha = graph->node(node_of(*graph, "l")).float_attr("alpha");
    CHECK(std::bit_cast<uint32_t>(alpha) == 0x7fc00001u);
  }
}

TEST_CASE("hand-written nodes without loc get a source of their own", "[ir]") {
  ir::Graph g = parse_ok(R"(graph "g" {
    input %x : f32[2]
    %y = Relu(%x) : f32[2]
    output %y
  })");
  CHECK(ir::verify(g).ok());
  REQUIRE(g.sources().size() == 1);
  CHECK(g.sources()[0].id == "main/0");
  CHECK(g.lineage(node_of(g, "y")).sources == std::vector<ir::SourceId>{ir::SourceId(size_t{0})});
  CHECK(ir::structurally_equal(g, parse_ok(ir::print(g))));
}

TEST_CASE("constants of every element type read back", "[ir]") {
  for (ElementType t :
       {ElementType::F32, ElementType::F64, ElementType::F16, ElementType::BF16, ElementType::U8,
        ElementType::I8, ElementType::U16, ElementType::I16, ElementType::I32, ElementType::I64,
        ElementType::U32, ElementType::U64, ElementType::Bool}) {
    CAPTURE(name(t));
    std::mt19937_64 random(7);
    for (int64_t size : {int64_t{0}, int64_t{1}, int64_t{5}, int64_t{100}}) {
      Tensor tensor(TensorType{t, {size}});
      for (uint8_t& b : tensor.mutable_data<uint8_t>())
        b = static_cast<uint8_t>(t == ElementType::Bool ? 1 : random());
      ir::Graph g;
      g.add_output(g.add_constant("c", tensor));
      ir::Graph again = parse_ok(ir::print(g));
      CHECK(again.value(again.outputs()[0]).constant() == tensor);
    }
  }
}

TEST_CASE("names of any bytes survive", "[ir]") {
  std::mt19937 random(3);
  for (int round = 0; round < 200; ++round) {
    std::string name;
    for (uint64_t i = 0, n = 1 + random() % 12; i < n; ++i) name += static_cast<char>(random());
    ir::Graph g;
    g.name = name;
    g.add_output(g.add_input(name, TensorType{ElementType::F32, {2}}));
    ir::Graph again = parse_ok(ir::print(g));
    CHECK(again.name == name);
    CHECK(again.value(again.inputs()[0]).name == name);
  }
}
