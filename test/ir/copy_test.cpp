// Copies of graphs have bodies of their own.
#include "helpers.h"
#include "mrvlc/ops/op.h"
#include "mrvlc/ops/op_kind.h"
#include "mrvlc/passes/pass.h"

using namespace mrvlc;
using namespace mrvlc::test;

namespace {

// An If whose branches multiply by a matrix and add a row, which passes make one Gemm of.
ir::Graph with_branches() {
  constexpr std::string_view kBranch = R"(graph "b" {
    input %x : f32[2, 2]
    const %w : f32[2, 2] = [1, 2, 3, 4]
    const %b : f32[2] = [5, 6]
    %m = MatMul(%x, %w) : f32[2, 2]
    %y = Add(%m, %b) : f32[2, 2]
    output %y
  })";
  ir::Graph g = parse_ok(R"(graph "g" {
    source 0 "main/0" "choose" "" "If" ["y"]
    input %c : bool[]
    input %x : f32[2, 2]
  })");
  const ir::OpSchema& op = ops::op_def(Op::If);
  std::vector<ir::Attr> attrs = ir::default_attrs(op);
  for (const char* branch : {"then_branch", "else_branch"})
    ir::set_attr(op, attrs, branch, std::make_shared<ir::Graph>(parse_ok(kBranch)));
  const TensorType type{ElementType::F32, {2, 2}};
  const ir::NodeId n = g.add_node(op, "choose", {g.inputs()[0], g.inputs()[1]}, std::move(attrs), {type},
                                  {"y"}, {{ir::SourceId(size_t{0})}, {}, "import", {}});
  g.add_output(g.node(n).outputs[0]);
  return g;
}

}  // namespace

TEST_CASE("passes on a copy leave the original and its bodies as they are", "[ir]") {
  const ir::Graph original = with_branches();
  const std::string before = ir::print(original);
  ir::Graph copy = original;
  REQUIRE(passes::run_passes(copy, passes::host_pipeline()).ok());
  CHECK(ir::print(copy) != before);
  CHECK(ir::print(copy).find("Gemm") != std::string::npos);
  CHECK(ir::print(original) == before);
  copy = original;
  ir::for_each_mutable_body(copy, [](ir::Graph& body) { body.name = "other"; });
  CHECK(ir::print(original) == before);
}
