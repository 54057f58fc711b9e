// The limit on the ID map, at its very edge.
#include "mrvlc/idmap/size.h"

#include <catch2/catch.hpp>

#include "mrvlc/ir/text.h"
#include "mrvlc/ops/op.h"

using namespace mrvlc;

namespace {

// Two expressions that live: one of two sources, one of one.
constexpr std::string_view kChain = R"(graph "g" {
  source 0 "main/0" "a" "" "Relu" ["a"]
  source 1 "main/10" "b" "" "Relu" ["y"]
  input %x : f32[2]
  %a = Relu(%x) : f32[2] loc(0, 1) "a"
  %y = Relu(%a) : f32[2] loc(1) "b"
  output %y
}
)";

}  // namespace

TEST_CASE("every source of an expression that lives counts with its id and what is around it") {
  auto graph = ir::parse(kChain, ops::registry());
  REQUIRE(graph.ok());
  constexpr uint64_t kBytes = (6 + 4) + 2 * (7 + 4);  // "main/0", twice "main/10"
  CHECK(idmap::check_size(*graph, kBytes).ok());
  CHECK(idmap::check_size(*graph).ok());
  const Status over = idmap::check_size(*graph, kBytes - 1);
  REQUIRE(!over.ok());
  CHECK(diag_info(over.error().code).name == "MRV1060");
  CHECK(over.error().exit_class() == ExitClass::Limit);
  for (const char* number : {"32", "31", "2 ", "3 "})
    CHECK(over.error().message.find(number) != std::string::npos);
}
