#include "mrvlc/ir/rewriter.h"

#include <algorithm>
#include <array>
#include <chrono>

#include "helpers.h"
#include "mrvlc/ir/lineage.h"
#include "mrvlc/ops/op_kind.h"

using namespace mrvlc;
using namespace mrvlc::test;
using ir::NodeId;
using ir::ValueId;

namespace {

const TensorType kType{ElementType::F32, {2}};

ir::Graph fan() {
  return parse_ok(R"(graph "g" {
    input %x : f32[2]
    const %k : f32[2] = [1, 2]
    %a = Relu(%x) : f32[2]
    %b = Add(%a, %k) : f32[2]
    %c = Mul(%b, %b) : f32[2]
    output %b
    output %c
  })");
}

NodeId make_relu(ir::Rewriter& rw, ValueId in, std::span<const NodeId> from) {
  const ir::OpSchema& op = ops::op_def(Op::Relu);
  return rw.create(op, {in}, ir::default_attrs(op), {kType}, from);
}

}  // namespace

TEST_CASE("a new node has the sources of all it comes from, and the pass", "[rewriter]") {
  ir::Graph g = fan();
  ir::Rewriter rw(g, "fuse");
  std::array<NodeId, 2> from{node_of(g, "b"), node_of(g, "a")};
  NodeId n = make_relu(rw, value_named(g, "x"), from);
  rw.settle_sources();
  const ir::Lineage& l = g.lineage(n);
  CHECK(l.pass == "fuse");
  CHECK(l.from == std::vector<NodeId>(from.begin(), from.end()));
  CHECK(l.sources == std::vector<ir::SourceId>{ir::SourceId(size_t{0}), ir::SourceId(size_t{1})});
  CHECK(g.node(n).name == g.node(from[1]).name);
  CHECK(g.node(n).position == g.node(from[1]).position);
}

TEST_CASE("of a chain that is merged node by node, what is left has all sources, what is gone none",
          "[rewriter]") {
  constexpr size_t kNodes = 100000;  // the sources of all on the way would be 20 GB
  ir::Graph g = parse_ok(R"(graph "g" {
    input %x : f32[2]
    %a = Relu(%x) : f32[2]
    output %a
  })");
  const ir::OpSchema& relu = ops::op_def(Op::Relu);
  ValueId y = value_named(g, "a");
  const NodeId first = g.value(y).producer;
  std::vector<NodeId> chain;
  for (size_t i = 1; i < kNodes; ++i) {
    ir::Lineage lineage;
    lineage.sources.push_back(g.add_source({fmt::format("main/{}", i), "n", "Relu", "", {}}));
    lineage.pass = "import";
    chain.push_back(g.add_node(relu, "n", {y}, ir::default_attrs(relu), {g.value(y).type}, {}, lineage));
    y = g.node(chain.back()).outputs[0];
  }
  g.add_output(y);
  NodeId last = first;
  {
    ir::Rewriter rw(g, "merge");
    for (NodeId next : chain) {
      const std::array<NodeId, 2> from{last, next};
      const NodeId merged = make_relu(rw, value_named(g, "x"), from);
      rw.replace_all_uses(g.node(next).outputs[0], rw.output(merged));
      rw.erase(next, "merged");
      if (last != first) rw.erase(last, "merged on");
      last = merged;
    }
  }
  CHECK(g.lineage(last).sources.size() == kNodes);
  CHECK(g.lineage(g.lineage(last).from[0]).sources.empty());
  CHECK(ir::sources_of(g, g.lineage(last).from) == g.lineage(last).sources);
  const std::vector<ir::Gone> gone = ir::gone_sources(g);
  CHECK_FALSE(gone[0].folded);
  // The last that went and came from the second node of the chain is the one before the one that is left.
  CHECK(gone[1].newest == g.lineage(last).from[0]);
  CHECK(gone[kNodes - 1].newest == chain.back());
  CHECK(ir::verify(g).ok());
}

TEST_CASE("uses go one by one, in any order", "[rewriter]") {
  ir::Graph g = parse_ok(R"(graph "g" {
    input %x : f32[2]
    input %y : f32[2]
    %a = Relu(%x) : f32[2]
    %b = Neg(%x) : f32[2]
    %c = Abs(%x) : f32[2]
    %d = Exp(%x) : f32[2]
    output %a
    output %b
    output %c
    output %d
  })");
  ir::Rewriter rw(g, "test");
  const ValueId x = value_named(g, "x"), y = value_named(g, "y");
  for (const char* name : {"b", "d", "a", "c"}) {  // the last of the list takes the place of what goes
    rw.set_input(node_of(g, name), 0, y);
    CHECK(ir::verify(g).ok());
    const auto& users = g.value(x).users;
    CHECK(std::ranges::find(users, node_of(g, name)) == users.end());
  }
  CHECK(g.value(x).users.empty());
  CHECK(g.value(y).users.size() == 4);
}

TEST_CASE("erasing keeps the lineage and the reason", "[rewriter]") {
  ir::Graph g = fan();
  ir::Rewriter rw(g, "dce");
  NodeId c = node_of(g, "c"), a = node_of(g, "a");
  rw.replace_all_uses(value_named(g, "c"), rw.output(make_relu(rw, value_named(g, "a"), std::span(&c, 1))));
  rw.erase(c, "because");
  rw.settle_sources();
  CHECK(g.node(c).erased);
  CHECK(g.lineage(c).erased_because == "because");
  CHECK_FALSE(g.lineage(c).sources.empty());
  CHECK_FALSE(g.node(a).erased);
  CHECK(ir::verify(g).ok());
  CHECK(rw.changed());
}

TEST_CASE("the model's output names survive a replacement", "[rewriter]") {
  ir::Graph g = fan();
  ir::Rewriter rw(g, "test");
  NodeId b = node_of(g, "b");
  ValueId now = rw.output(make_relu(rw, value_named(g, "a"), std::span(&b, 1)));
  rw.replace_all_uses(value_named(g, "b"), now);
  CHECK(g.outputs()[0] == now);
  CHECK(g.value(now).name == "b");
  CHECK(g.value(now).users.size() == 2);
  CHECK(g.is_output(now));
  rw.erase(b, "replaced");
  rw.settle_sources();
  CHECK(ir::verify(g).ok());
}

TEST_CASE("an output replaced by an input keeps its producer", "[rewriter]") {
  ir::Graph g = fan();
  ir::Rewriter rw(g, "test");
  ValueId b = value_named(g, "b");
  rw.replace_all_uses(b, value_named(g, "x"));
  CHECK(g.outputs()[0] == b);
  CHECK(g.value(b).users.empty());
  CHECK(g.use_count(b) == 1);
  CHECK(ir::verify(g).ok());
}

TEST_CASE("a value read twice by one node is two uses", "[rewriter]") {
  ir::Graph g = fan();
  ir::Rewriter rw(g, "test");
  ValueId b = value_named(g, "b"), a = value_named(g, "a");
  CHECK(g.use_count(b) == 3);
  rw.set_input(node_of(g, "c"), 0, a);
  CHECK(g.use_count(b) == 2);
  CHECK(ir::verify(g).ok());
  rw.set_input(node_of(g, "c"), 1, a);
  CHECK(g.use_count(b) == 1);
  CHECK(ir::verify(g).ok());
}

TEST_CASE("constants remember what they were made from, and give their bytes back", "[rewriter]") {
  ir::Graph g = fan();
  ir::Rewriter rw(g, "fold");
  NodeId b = node_of(g, "b");
  ValueId old = value_named(g, "k");
  ValueId k = rw.constant(Tensor::of<float>(ElementType::F32, {2}, {3, 4}), std::span(&b, 1), "w");
  CHECK(g.value(k).made_from == std::vector<NodeId>{b});
  rw.set_input(b, 1, k);
  CHECK(g.value(old).released);
  CHECK(g.value(old).constant().bytes().empty());
  CHECK(ir::verify(g).ok());
}

TEST_CASE("a constant with a large fan-out is replaced and erased in linear time", "[rewriter]") {
  constexpr size_t kNodes = 200000;
  ir::Graph g = fan();
  ir::Rewriter rw(g, "test");
  NodeId a = node_of(g, "a");
  const ir::OpSchema& add = ops::op_def(Op::Add);
  std::vector<NodeId> nodes;
  ValueId x = value_named(g, "x"), k = value_named(g, "k");
  auto start = std::chrono::steady_clock::now();
  for (size_t i = 0; i < kNodes; ++i) {
    nodes.push_back(rw.create(add, {x, k}, ir::default_attrs(add), {kType}, std::span(&a, 1)));
  }
  ValueId k2 = rw.constant(Tensor::of<float>(ElementType::F32, {2}, {3, 4}), {});
  rw.replace_all_uses(k, k2);
  for (NodeId n : nodes) rw.erase(n, "test");
  // Quadratic work would be 4e10 steps, far beyond this.
  CHECK(std::chrono::steady_clock::now() - start < std::chrono::seconds(20));
  CHECK(ir::verify(g).ok());
}
