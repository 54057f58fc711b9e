// Widening of the part of a graph that runs on the CPU.
#include "helpers.h"
#include "mrvlc/interp/interp.h"
#include "mrvlc/ops/op_kind.h"
#include "mrvlc/passes/widen_f16.h"

using namespace mrvlc;
using namespace mrvlc::test;

namespace {

// Relu and Exp on the accelerator, everything else on the CPU.
bool on_cpu(const ir::Node& n) {
  return !n.is(Op::Relu) && !n.is(Op::Exp);
}

ir::Graph mixed() {
  return parse_ok(R"(graph "g" {
    input %x : f16[4]
    const %k : f16[4] = [1, 2, 3, 4]
    %a = Relu(%x) : f16[4]
    %b = Add(%a, %k) : f16[4]
    %c = Mul(%b, %b) : f16[4]
    %d = Exp(%b) : f16[4]
    %e = Sub(%c, %d) : f16[4]
    output %e
    output %b
  })");
}

}  // namespace

TEST_CASE("casts stand at the borders between f16 and f32", "[passes][widen]") {
  ir::Graph g = mixed(), before = g;
  size_t slots = g.node_slots();
  bool changed = false;
  REQUIRE(passes::widen_f16(g, on_cpu, changed).ok());
  CHECK(changed);
  REQUIRE(ir::verify(g).ok());
  REQUIRE(ops::verify_types(g).ok());
  size_t casts = 0;
  for (ir::NodeId id : g.topological_order()) {
    const ir::Node& n = g.node(id);
    if (n.is(Op::Cast)) {
      CHECK(id.index() >= slots);
      ++casts;
      continue;
    }
    ElementType want = on_cpu(n) ? ElementType::F32 : ElementType::F16;
    for (ir::ValueId v : n.inputs) CHECK(g.value(v).type.elem == want);
    for (ir::ValueId v : n.outputs) CHECK(g.value(v).type.elem == want);
  }
  CHECK(casts == 4);  // %a and %d to f32; %b and %e back
  CHECK(g.value(g.outputs()[0]).name == "e");
  CHECK(g.value(g.outputs()[1]).name == "b");
  CHECK(g.value(g.outputs()[0]).type.elem == ElementType::F16);
  auto inputs = interp::seeded_inputs(before, 5);
  auto want = interp::run(before, inputs), got = interp::run(g, inputs);
  REQUIRE((want.ok() && got.ok()));
  for (size_t o = 0; o < 2; ++o) {
    for (int64_t i = 0; i < 4; ++i)
      CHECK((*got)[o].as_double(i) == Approx((*want)[o].as_double(i)).epsilon(5e-3));
  }
}

TEST_CASE("widening twice changes nothing", "[passes][widen]") {
  ir::Graph g = mixed();
  bool changed = false;
  REQUIRE(passes::widen_f16(g, on_cpu, changed).ok());
  std::string once = ir::print(g);
  REQUIRE(passes::widen_f16(g, on_cpu, changed).ok());
  CHECK_FALSE(changed);
  CHECK(ir::print(g) == once);
}

TEST_CASE("nothing happens when all of it runs elsewhere", "[passes][widen]") {
  ir::Graph g = mixed();
  bool changed = true;
  REQUIRE(passes::widen_f16(
              g, [](const ir::Node&) { return false; }, changed)
              .ok());
  CHECK_FALSE(changed);
}

TEST_CASE("results in bf16 are rounded before they are read", "[passes][widen]") {
  ir::Graph g = parse_ok(R"(graph "g" {
    input %x : bf16[2, 3]
    %a = Transpose(%x) : bf16[3, 2]
    %b = Mul(%a, %a) : bf16[3, 2]
    %c = Add(%b, %a) : bf16[3, 2]
    %d = Transpose(%c) : bf16[2, 3]
    %e = CastLike(%x, %c) : bf16[2, 3]
    output %d
    output %e
  })");
  ir::Graph before = g;
  bool changed = false;
  REQUIRE(passes::widen_f16(
              g, [](const ir::Node&) { return true; }, changed)
              .ok());
  CHECK(changed);
  REQUIRE(ir::verify(g).ok());
  REQUIRE(ops::verify_types(g).ok());
  for (ir::NodeId id : g.topological_order()) {
    const ir::Node& n = g.node(id);
    const bool arithmetic = n.is(Op::Mul) || n.is(Op::Add);
    if (!n.is(Op::Cast)) {
      CHECK(g.value(n.outputs[0]).type.elem == (arithmetic ? ElementType::F32 : ElementType::BF16));
    }
  }
  auto inputs = interp::seeded_inputs(before, 5);
  auto want = interp::run(before, inputs), got = interp::run(g, inputs);
  REQUIRE((want.ok() && got.ok()));
  CHECK(*got == *want);  // bit by bit
}
