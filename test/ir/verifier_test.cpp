// Graphs broken on purpose, through the same doors the compiler uses.
#include "helpers.h"
#include "mrvlc/ir/rewriter.h"
#include "mrvlc/ops/op_kind.h"
#include "mrvlc/support/diag/ir.h"

using namespace mrvlc;
using namespace mrvlc::test;

namespace {

const TensorType kType{ElementType::F32, {2}};

ir::Graph chain() {
  return parse_ok(R"(graph "g" {
    input %x : f32[2]
    const %k : f32[2] = [1, 2]
    %a = Relu(%x) : f32[2]
    %b = Add(%a, %k) : f32[2]
    output %b
  })");
}

ir::Lineage lineage_of(ir::Graph& g) {
  ir::Lineage l;
  l.sources.push_back(g.add_source({"main/9", "n", "Relu", "", {"y"}}));
  l.pass = "import";
  return l;
}

void check_broken(const ir::Graph& g, const std::string& what) {
  Status s = ir::verify(g);
  REQUIRE_FALSE(s.ok());
  CHECK(s.error().code == DiagCode::MRV0801);
  CHECK_THAT(s.error().message, Catch::Matchers::Contains(what));
}

}  // namespace

TEST_CASE("a sound graph passes", "[verifier]") {
  CHECK(ir::verify(chain()).ok());
}

TEST_CASE("a cycle is found", "[verifier]") {
  ir::Graph g = chain();
  ir::Rewriter rw(g, "test");
  rw.set_input(node_of(g, "a"), 0, value_named(g, "b"));
  check_broken(g, "cycle");
}

TEST_CASE("names are unique", "[verifier]") {
  ir::Graph g = chain();
  g.add_input("a", kType);
  check_broken(g, "not unique");
}

TEST_CASE("a node needs a source, and one that exists", "[verifier]") {
  ir::Graph g = chain();
  const ir::OpSchema& relu = ops::op_def(Op::Relu);
  g.add_node(relu, "n", {value_named(g, "x")}, ir::default_attrs(relu), {kType}, {}, ir::Lineage{});
  check_broken(g, "no ONNX source");
  ir::Graph h = chain();
  ir::Lineage l;
  l.sources.emplace_back(size_t{77});
  h.add_node(relu, "n", {value_named(h, "x")}, ir::default_attrs(relu), {kType}, {}, l);
  check_broken(h, "source that does not exist");
}

TEST_CASE("attributes match the schema", "[verifier]") {
  ir::Graph g = chain();
  const ir::OpSchema& leaky = ops::op_def(Op::LeakyRelu);
  auto lineage = lineage_of(g);
  ir::Graph few = g;
  few.add_node(leaky, "n", {value_named(g, "x")}, {}, {kType}, {}, lineage);
  check_broken(few, "attribute slots");
  std::vector<ir::Attr> attrs = ir::default_attrs(leaky);
  ir::set_attr(leaky, attrs, "alpha", ir::Attr(int64_t{1}));
  g.add_node(leaky, "n", {value_named(g, "x")}, attrs, {kType}, {}, lineage);
  check_broken(g, "'alpha' is missing or of the wrong kind");
  ir::Graph without = chain();
  const ir::OpSchema& cast = ops::op_def(Op::Cast);
  without.add_node(cast, "n", {value_named(without, "x")}, ir::default_attrs(cast), {kType}, {},
                   lineage_of(without));
  check_broken(without, "'to' is missing or of the wrong kind");
}

TEST_CASE("types are there and agree with constants", "[verifier]") {
  ir::Graph g = chain();
  ir::Rewriter rw(g, "test");
  rw.set_type(value_named(g, "k"), TensorType{ElementType::F16, {2}});
  check_broken(g, "disagrees with its type");
  ir::Graph h = chain();
  ir::Rewriter(h, "test").set_type(value_named(h, "a"), TensorType{});
  check_broken(h, "has no type");
}

TEST_CASE("a released constant must not be read again", "[verifier]") {
  ir::Graph g = chain();
  ir::Rewriter rw(g, "test");
  ir::ValueId k = value_named(g, "k");
  rw.set_input(node_of(g, "b"), 1, value_named(g, "x"));
  CHECK(g.value(k).released);
  CHECK(ir::verify(g).ok());
  rw.set_input(node_of(g, "b"), 1, k);
  check_broken(g, "nothing produces");
}

TEST_CASE("a model may say the rank of a tensor out of a sequence of mixed ranks", "[verifier]") {
  const std::string text = R"(graph "g" {
    input %a : f32[2,3]
    input %b : f32[2,3,4]
    %s = SequenceConstruct(%a, %b) : sequence(f32[*;24],2)
    const %k : i64[] = [1]
    %t = SequenceAt(%s, %k) : f32[<=2,<=3,<=4;24]
    output %t
  })";
  CHECK(ops::verify_types(parse_ok(text)).ok());
  std::string other = text;
  other.replace(other.find("f32[<=2,"), 3, "f64");
  CHECK_FALSE(ops::verify_types(parse_ok(other)).ok());
}
