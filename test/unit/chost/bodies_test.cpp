// Texts that bodies of control flow make, and sequences.
#include <catch2/catch.hpp>

#include "mrvlc/partition/partition.h"
#include "mrvlc/support/diag/chost.h"
#include "mrvlc/support/file_names.h"
#include "mrvlc/tensor/npy.h"
#include "stub.h"

namespace mrvlc::chost::test {
namespace {

// Three rounds: a list of texts grows by the number of the round; all of them are read afterwards.
GraphBuilder growing_texts(bool known_rounds, int64_t rounds = 3) {
  GraphBuilder g;
  ir::ValueId x = g.input({2}, ElementType::I64);
  ir::ValueId trips = known_rounds ? g.constant(Tensor::of<int64_t>(ElementType::I64, {}, {rounds}))
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

  auto shared = std::make_shared<ir::Graph>(std::move(body.graph));
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

TEST_CASE("what overflows any plan of memory is refused, with the values that take it") {
  GraphBuilder g = growing_texts(true, int64_t{1} << 30);
  Options options{"net", "net"};
  options.text_bytes = int64_t{1} << 30;
  auto code = generate(g.graph, partition::host_partition(g.graph), {}, options);
  REQUIRE_FALSE(code.ok());
  INFO(code.error().message);
  CHECK(code.error().code == DiagCode::MRV0641);
  CHECK(code.error().message.find("scratch of '") != std::string::npos);
}

namespace {

// The exit code of the example on one position of a sequence of two tensors, and its result.
std::pair<int, std::vector<double>> at_position(const HostCode& code, const ir::Graph& graph,
                                                int64_t position) {
  TempDir dir;
  write_files(code, dir.path());
  std::string log;
  REQUIRE(shell(dir.path(),
                "gcc -O1 -fsanitize=address,undefined " + std::string(kStrict) +
                    " -o example main.c net.c net_weights.S -lm",
                &log) == 0);
  std::string run = "./example --output-dir .";
  std::vector<Tensor> inputs = {Tensor::of<float>(ElementType::F32, {2}, {1, 2}),
                                Tensor::of<float>(ElementType::F32, {2}, {3, 4}),
                                Tensor::of<int64_t>(ElementType::I64, {}, {position})};
  for (size_t i = 0; i < inputs.size(); ++i) {
    dir.write("input" + std::to_string(i) + ".npy", to_npy(inputs[i]));
    run += " --input " + graph.value(graph.inputs()[i]).name + "=input" + std::to_string(i) + ".npy";
  }
  int status = shell(dir.path(), run, &log);
  if (status != 0) {
    CHECK(log.find("Sanitizer") == std::string::npos);
    return {status, {}};
  }
  auto result = read_npy(dir.path() / (file_name(graph.value(graph.outputs()[0]).name) + ".npy"));
  REQUIRE(result.ok());
  return {status, result->to_doubles()};
}

}  // namespace

TEST_CASE("generated C takes the positions that a sequence has, and no other") {
  using Values = std::vector<double>;
  GraphBuilder g;
  ir::ValueId x = g.input({2}), y = g.input({2}), p = g.input({}, ElementType::I64);
  g.output(g.node("SequenceAt", {g.node("SequenceConstruct", {x, y}), p}));
  HostCode code = generate_host(g.graph);
  CHECK(at_position(code, g.graph, 0).second == Values{1, 2});
  CHECK(at_position(code, g.graph, 1).second == Values{3, 4});
  CHECK(at_position(code, g.graph, -1).second == Values{3, 4});
  CHECK(at_position(code, g.graph, -2).second == Values{1, 2});
  for (int64_t outside : {int64_t{2}, int64_t{-3}, INT64_MAX, INT64_MIN}) {
    CAPTURE(outside);
    CHECK(at_position(code, g.graph, outside).first != 0);
  }
}

}  // namespace mrvlc::chost::test
