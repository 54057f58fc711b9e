// Texts that bodies of control flow make.
#include <catch2/catch.hpp>

#include "stub.h"

namespace mrvlc::chost::test {
namespace {

// Three rounds: a list of texts grows by the number of the round; all of them are read afterwards.
GraphBuilder growing_texts(bool known_rounds) {
  GraphBuilder g;
  ir::ValueId x = g.input({2}, ElementType::I64);
  ir::ValueId trips = known_rounds ? g.constant(Tensor::of<int64_t>(ElementType::I64, {}, {3}))
                                   : g.input({}, ElementType::I64);
  ir::ValueId texts = g.node("Cast", {x}, {{"to", ElementType::String}});

  GraphBuilder body;
  body.graph = g.graph.new_body();
  ir::ValueId i = body.graph.add_input("i", TensorType{ElementType::I64, {}});
  ir::ValueId go = body.graph.add_input("go", TensorType{ElementType::Bool, {}});
  ir::ValueId state = body.graph.add_input("state", TensorType{ElementType::String, {2}});
  ir::ValueId number = body.node("Cast", {i}, {{"to", ElementType::String}});
  ir::ValueId longer = body.node("StringConcat", {state, number});
  for (ir::ValueId v : {go, longer, longer}) body.output(v);

  auto shared = std::make_shared<const ir::Graph>(std::move(body.graph));
  ir::ValueId last =
      g.node("Loop", {trips, ir::ValueId(), texts}, {{"body", shared}, {"formals", int64_t{3}}});
  ir::ValueId all = g.graph.node(g.graph.value(last).producer).outputs[1];
  for (ir::ValueId v : {last, all}) g.output(g.node("Cast", {v}, {{"to", ElementType::I64}}));
  ir::number_expressions(g.graph);
  return g;
}

}  // namespace

TEST_CASE("texts of every round of a loop are kept") {
  GraphBuilder g = growing_texts(true);
  HostCode code = generate_host(g.graph);
  Tensor x = Tensor::of<int64_t>(ElementType::I64, {2}, {7, 45});
  auto outputs = build_and_run(code, g.graph, {x}, "gcc -O1 -fsanitize=address,undefined");
  CHECK(outputs.at(0) == Tensor::of<int64_t>(ElementType::I64, {2}, {7012, 45012}));
  CHECK(outputs.at(1) == Tensor::of<int64_t>(ElementType::I64, {3, 2}, {70, 450, 701, 4501, 7012, 45012}));
}

TEST_CASE("texts of a loop of any number of rounds are refused") {
  GraphBuilder g = growing_texts(false);
  auto code = generate(g.graph, partition::host_partition(g.graph), {}, {"net", "net"});
  CHECK_FALSE(code.ok());
}

}  // namespace mrvlc::chost::test
