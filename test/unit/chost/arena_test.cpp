// The arena of generated programs. How good the plans are is tested with the planner (test/unit/alloc).
#include <catch2/catch.hpp>

#include "mrvlc/ir/text.h"
#include "mrvlc/ops/op.h"
#include "mrvlc/partition/partition.h"
#include "mrvlc/support/diag/chost.h"
#include "stub.h"

using namespace mrvlc;
using namespace mrvlc::chost;
using namespace mrvlc::chost::test;

namespace {

// 4096 + 16384 bytes are alive at 'wide' and 'narrow'.
ir::Graph hourglass() {
  GraphBuilder b;
  ir::ValueId x = b.input({1, 4, 16, 16});
  ir::ValueId small = b.node("Conv", {x, b.constant({4, 4, 1, 1})}, {}, "first");
  ir::ValueId large = b.node("Conv", {small, b.constant({16, 4, 1, 1})}, {}, "wide");
  ir::ValueId again = b.node("Conv", {large, b.constant({4, 16, 1, 1})}, {}, "narrow");
  b.output(b.node("Conv", {again, b.constant({4, 4, 1, 1})}, {}, "last"));
  return b.graph;
}

Result<HostCode> generate_within(const ir::Graph& graph, int64_t limit) {
  Options options{"net", "net"};
  options.arena_limit = limit;
  return generate(graph, partition::host_partition(graph), {}, options);
}

}  // namespace

TEST_CASE("a program without intermediate values needs no arena") {
  GraphBuilder b;
  b.output(b.node("Relu", {b.input({4})}));
  HostCode code = generate_host(b.graph);
  CHECK(code.arena_bytes == 0);
  CHECK(code.arena_lower_bound_bytes == 0);
  CHECK(generate_within(b.graph, 0).ok());
}

TEST_CASE("values share memory when they are not alive at once") {
  GraphBuilder b;
  ir::ValueId x = b.input({1, 4, 16, 16});
  for (int i = 0; i < 10; ++i) x = b.node("Softmax", {x});
  b.output(x);
  HostCode code = generate_host(b.graph);
  CHECK(code.arena_bytes == 2 * 4096);
  CHECK(code.arena_lower_bound_bytes == 2 * 4096);
}

// Passes over the dimensions keep what lies between them: parts of a result that has so many elements at
// most.
TEST_CASE("sizes known at run time only do not multiply with each other") {
  auto graph = ir::parse(R"(graph "g" {
    input %x : f32[3,4,4]
    input %s : i64[3]
    %y = Resize(%x, _, _, %s) {mode = "cubic"} : f32[<=65536,<=65536,<=65536;65536]
    output %y
  })",
                         ops::registry());
  REQUIRE(graph.ok());
  CHECK(generate_host(*graph).arena_bytes <= 2 * 12 * 65536 * 4);
}

TEST_CASE("a limit of the arena that holds changes nothing") {
  ir::Graph graph = hourglass();
  HostCode free = generate_host(graph);
  auto within = generate_within(graph, free.arena_bytes);
  REQUIRE(within.ok());
  CHECK(within->files == free.files);
}

TEST_CASE("a limit of the arena that cannot be met says by how much, where, and what stands there") {
  ir::Graph graph = hourglass();
  int64_t bytes = generate_host(graph).arena_bytes;
  auto within = generate_within(graph, bytes - 1000);
  REQUIRE_FALSE(within.ok());
  const Diag& d = within.error();
  CHECK(d.code == DiagCode::MRV0604);
  CHECK(d.exit_class() == ExitClass::Limit);
  CHECK((d.node == "wide" || d.node == "narrow"));
  CHECK(d.op_type == "Conv");
  INFO(d.message);
  CHECK(d.message.find(fmt::format("needs {} bytes, 1000 more than its limit of {}", bytes, bytes - 1000)) !=
        std::string::npos);
  CHECK(d.message.find("'" + graph.value(graph.node(ir::NodeId(1u)).outputs[0]).name + "' 16384") !=
        std::string::npos);
}
