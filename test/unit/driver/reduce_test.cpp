// `mrvlc reduce`: failures that a random graph has in one place, as a command would judge them: by the file.
#include <catch2/catch.hpp>

#include "mrvlc/driver/debug.h"
#include "mrvlc/onnx/exporter.h"
#include "mrvlc/onnx/importer.h"
#include "mrvlc/ops/op.h"
#include "mrvlc/ops/op_kind.h"
#include "splitmix.h"

namespace mrvlc::driver {
namespace {

using ops::op_def;

// A network of one shape, so that any value may stand in the place of another: chains, branches and joins.
class RandomGraph {
 public:
  explicit RandomGraph(uint64_t seed) : random_(seed) {
    graph.name = "random";
    values_.push_back(graph.add_input("x", type()));
    for (int i = 0; i < 60; ++i) add(i);
    graph.add_output(values_.back());
  }

  ir::Graph graph;

 private:
  static TensorType type() { return {ElementType::F32, {1, 8, 12, 12}}; }
  uint64_t below(uint64_t n) { return random_.next() % n; }
  ir::ValueId some() { return values_[values_.size() - 1 - below(std::min<size_t>(values_.size(), 4))]; }

  void add(int i) {
    const Op unary[] = {Op::Relu, Op::Sigmoid, Op::Tanh, Op::Abs, Op::Neg, Op::Softplus};
    const Op binary[] = {Op::Add, Op::Mul, Op::Sub, Op::Max};
    const uint64_t kind = below(3);
    if (kind == 0) return add(i, op_def(unary[below(6)]), {some()});
    if (kind == 1) return add(i, op_def(binary[below(4)]), {some(), some()});
    Tensor weights(TensorType{ElementType::F32, {8, 8, 3, 3}});
    add(i, op_def(Op::Conv), {some(), graph.add_constant("w" + std::to_string(i), weights)});
  }

  void add(int i, const ops::OpDef& op, std::vector<ir::ValueId> inputs) {
    auto attrs = ir::default_attrs(op);
    if (op.kind == Op::Conv) ir::set_attr(op, attrs, "pads", std::vector<int64_t>{1, 1, 1, 1});
    const std::string name = "n" + std::to_string(i);
    ir::Lineage lineage;
    lineage.sources = {graph.add_source({"main/" + std::to_string(i), name, std::string(op.name), "", {}})};
    const ir::NodeId id = graph.add_node(op, name, std::move(inputs), std::move(attrs), {type()},
                                         {"v" + std::to_string(i)}, lineage);
    values_.push_back(graph.node(id).outputs[0]);
  }

  random::SplitMix random_;
  std::vector<ir::ValueId> values_;
};

std::vector<Op> readers_chain(const ir::Graph& g, ir::NodeId from, size_t length) {
  std::vector<Op> chain;
  while (true) {
    chain.push_back(g.node(from).kind());
    const ir::Value& v = g.value(g.node(from).outputs[0]);
    if (chain.size() == length || v.users.empty()) return chain;
    from = v.users[0];
  }
}

// Operators in a row of which each reads what the one before makes.
bool has_chain(const ir::Graph& g, ir::NodeId at, const std::vector<Op>& chain, size_t i = 0) {
  if (g.node(at).kind() != chain[i]) return false;
  if (i + 1 == chain.size()) return true;
  for (ir::NodeId user : g.value(g.node(at).outputs[0]).users)
    if (has_chain(g, user, chain, i + 1)) return true;
  return false;
}

// As a command sees it: written, and read again.
bool file_has(const ir::Graph& g, const std::function<bool(const ir::Graph&)>& what) {
  auto bytes = onnx::to_onnx(g, "test");
  REQUIRE(bytes.ok());
  Diagnostics diagnostics;
  auto read = onnx::import_bytes(*bytes, ".", {}, diagnostics);
  REQUIRE(read);
  return what(read->graph);
}

}  // namespace

TEST_CASE("twenty failures become three nodes at most") {
  for (uint64_t seed = 1; seed <= 20; ++seed) {
    const RandomGraph made(seed);
    const std::vector<ir::NodeId> order = made.graph.topological_order();
    const size_t length = 2 + seed % 2;
    std::vector<Op> wanted;
    for (size_t at = seed % 17; wanted.size() < length; ++at)
      wanted = readers_chain(made.graph, order.at(at), length);
    size_t asked = 0;
    const auto fails = [&](const ir::Graph& g) {
      ++asked;
      return file_has(g, [&](const ir::Graph& read) {
        for (ir::NodeId id : read.topological_order())
          if (has_chain(read, id, wanted)) return true;
        return false;
      });
    };
    REQUIRE(fails(made.graph));
    const Reduction found = reduce_graph(made.graph, fails, 2000, {});
    INFO("seed " << seed);
    CHECK(found.graph.topological_order().size() == length);
    CHECK(fails(found.graph));
    CHECK(found.checks + 2 == asked);
    CHECK(found.checks < 400);
    // Sizes do not matter to these, so they are the least there are: of a kernel with pads, of all others.
    for (ir::ValueId v : found.graph.inputs())
      for (int64_t d : found.graph.value(v).type.shape) CHECK(d == 1);
  }
}

TEST_CASE("a failure of a size keeps this size") {
  const RandomGraph made(7);
  const auto fails = [&](const ir::Graph& g) {
    return file_has(g, [&](const ir::Graph& read) {
      for (ir::NodeId id : read.topological_order())
        if (read.node(id).is(Op::Conv) && read.value(read.node(id).inputs[0]).type.shape[2] > 5) return true;
      return false;
    });
  };
  const Reduction found = reduce_graph(made.graph, fails, 2000, {});
  REQUIRE(found.graph.topological_order().size() == 1);
  CHECK(found.graph.value(found.graph.inputs()[0]).type.shape == Shape{1, 1, 6, 6});
}

TEST_CASE("no more is asked than allowed") {
  const RandomGraph made(3);
  size_t asked = 0;
  reduce_graph(made.graph, [&](const ir::Graph&) { return ++asked, false; }, 10, {});
  CHECK(asked == 10);
}

}  // namespace mrvlc::driver
