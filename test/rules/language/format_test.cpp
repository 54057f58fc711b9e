#include "mrvlc/rules/format.h"

#include <catch2/catch.hpp>

#include "table.h"

using namespace mrvlc;

namespace {

constexpr const char* kUntidy = R"(# head
   include   "a.rules" include "b.rules"  # more
group   act=Relu|
   Clip   # of one operand
condition small ( %v )=rank(%v)==4 , elements( %v )<=4096
# about the rule
rule a{priority 100 layer conv
  why "because"   match{%c=Conv(%x,%w,%b?)
     # then
     %s=Add(%c,%k)?  ( %r=@act( %s,... )* | %q = Sigmoid(%s) )? }
  where constant( %w ),rank(%x) in 3 .. 4 , elem(%x) in { f16,f32 } or not constant(%b), dim(%x,1)*dim(%x,2) <= 4096, small(%x),
    attr( %c,"pads" ) [ 1 ]==max(0,1) }
rule b { layer cpu priority 1 why "w" match { %m = MatMul(_, _) } }
)";

constexpr const char* kTidy = R"(# head
include "a.rules"
include "b.rules"  # more

group act = Relu | Clip  # of one operand

condition small(%v) = rank(%v) == 4, elements(%v) <= 4096

# about the rule
rule a {
  priority 100
  layer conv
  why "because"
  match {
    %c = Conv(%x, %w, %b?)
    # then
    %s = Add(%c, %k)?
    (
      %r = @act(%s, ...)*
    |
      %q = Sigmoid(%s)
    )?
  }
  where constant(%w), rank(%x) in 3..4, elem(%x) in {f16, f32} or not constant(%b),
    dim(%x, 1) * dim(%x, 2) <= 4096, small(%x), attr(%c, "pads")[1] == max(0, 1)
}

rule b {
  layer cpu
  priority 1
  why "w"
  match { %m = MatMul(_, _) }
}
)";

}  // namespace

TEST_CASE("a file is put in order, and stays so") {
  CHECK(rules::format_rules(kUntidy) == kTidy);
  CHECK(rules::format_rules(kTidy) == kTidy);
}

TEST_CASE("what cannot be read stays as it is") {
  for (const char* text : {"rule a { $ }", "", "rule a { why \"open"})
    CHECK(rules::format_rules(text) == text);
}
