// Graphs from text for tests.
#pragma once
#include <catch2/catch.hpp>
#include <string>

#include "mrvlc/ir/text.h"
#include "mrvlc/ir/verifier.h"
#include "mrvlc/ops/op.h"

namespace mrvlc::test {

inline ir::Graph parse_ok(std::string_view text) {
  auto g = ir::parse(text, ops::registry());
  if (!g.ok()) FAIL(g.error().message);
  return std::move(g).value();
}

inline std::string parse_error(std::string_view text) {
  auto g = ir::parse(text, ops::registry());
  return g.ok() ? "no error" : g.error().message;
}

inline ir::ValueId value_named(const ir::Graph& g, std::string_view name) {
  auto v = g.find_value(name);
  if (!v) FAIL("no value " << name);
  return *v;
}

// The live node that produces the value of that name.
inline ir::NodeId node_of(const ir::Graph& g, std::string_view value) {
  return g.value(value_named(g, value)).producer;
}

// A graph that uses every construct of the grammar.
inline constexpr std::string_view kEverything = R"(graph "all \"of\" it\x0a" {
  source 0 "main/0" "conv" "" "Conv" ["c"]
  source 1 "main/1" "relu" "" "Relu" ["y:0"]
  input %x : f32[1, 2, 4, 4]
  input %"in:0" : f16[3]
  const %w : f32[2, 2, 1, 1] = [1.5, -0, inf, 2]
  const %b : f32[2] = x"0000c07f0000803f"
  const %shape : i64[2] = [1, 32]
  %c = Conv(%x, %w, %b) {kernel_shape = [1, 1], strides = [1, 1]} : f32[1, 2, 4, 4] loc(0) "conv"
  %"y:0" = Relu(%c) : f32[1, 2, 4, 4] loc(1, 0) "relu" by "fuse"
  %7 = Reshape(%"y:0", %shape) : f32[1, 32] loc(1) "r"
  %low = Clip(%7, _, _) : f32[1, 32] loc(1) "clip"
  %h = Cast(%"in:0") {to = f32} : f32[3] loc(0) "cast"
  %l = LeakyRelu(%h) {alpha = nan:7fc00001} : f32[3] loc(0) "leaky"
  output %low
  output %l
}
)";

}  // namespace mrvlc::test
