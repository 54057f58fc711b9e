// Values between layers: compared where they lie, and taken as they are where nobody says how they are made.
#include <catch2/catch.hpp>

#include "paths.h"
#include "region.h"
#include "subject.h"

using namespace mrvlc;
using namespace mrvlc::prove;

namespace {

test::Subject digits() {
  return test::Subject(std::filesystem::path(MRVLC_SOURCE_DIR) / "models/digits/digits.onnx", 2);
}

// The first layer that reads the result of another one.
size_t inner_layer(const RegionHints& r) {
  for (size_t i = 1; i + 1 < r.layers.size(); ++i)
    if (r.layers[i].kind == "conv" || r.layers[i].kind == "pool" || r.layers[i].kind == "fc") return i;
  FAIL("no layer between others");
  return 0;
}

RegionResult result_of(const test::Subject& s, const std::string& bytes) {
  const Field field("relative");
  const Target target{s.machine.ocm_bytes, s.machine.accumulator_pixels};
  return prove_region(s.hints.regions[0], bytes, s.model.graph, field, target);
}

size_t exact(const RegionResult& r) {
  return static_cast<size_t>(std::count(r.exact.begin(), r.exact.end(), true));
}

}  // namespace

TEST_CASE("prove: values between layers are compared") {
  const test::Subject s = digits();
  const RegionResult r = result_of(s, s.bytes);
  CHECK(r.proof.refusal == "");
  CHECK(r.proof.inner > 0);
  CHECK(r.taken.empty());
  CHECK(exact(r) == r.exact.size());
}

TEST_CASE("prove: a layer without a reference blocks nothing behind it, and is not proved") {
  test::Subject s = digits();
  const size_t inner = inner_layer(s.hints.regions[0]);
  const std::string name = s.hints.regions[0].layers[inner].nodes.back().outputs.at(0).name;
  s.hints.regions[0].layers[inner].kind = "unheard of";
  const RegionResult r = result_of(s, s.bytes);
  CHECK(r.proof.refusal == "");
  CHECK_FALSE(r.exact[inner]);
  CHECK(exact(r) + 1 == r.exact.size());
  CHECK(r.taken == std::set<std::string>{name});
  CHECK_FALSE(r.proved.contains(name));
}

TEST_CASE("prove: a mistake before a value that is taken is still seen") {
  const test::Subject s = digits();
  test::Subject relative = s;
  relative.hints.regions[0].layers[inner_layer(s.hints.regions[0])].kind = "unheard of";
  int seen = 0, seen_relatively = 0;
  for (size_t k = 0; k < 24; ++k) {
    std::string changed = s.bytes;
    const size_t at = s.first_weight + k * s.weights / 24;
    changed[at] = static_cast<char>(changed[at] ^ 0x11);
    changed = test::sealed(changed);
    const bool all = !result_of(s, changed).proof.refusal.empty();
    const bool with_taken = !result_of(relative, changed).proof.refusal.empty();
    CHECK((all || !with_taken));
    seen += all ? 1 : 0;
    seen_relatively += with_taken ? 1 : 0;
  }
  // Those of the layer whose result is taken are not seen.
  CHECK(seen > seen_relatively);
  CHECK(seen_relatively > 0);
}

TEST_CASE("prove: a wrong place makes no proof") {
  const test::Subject s = digits();
  const size_t inner = inner_layer(s.hints.regions[0]);
  const std::string name = s.hints.regions[0].layers[inner].nodes.back().outputs.at(0).name;
  for (const int64_t by : {2, -2, 64}) {
    test::Subject other = s;
    other.hints.regions[0].layers[inner].kind = "unheard of";
    for (PlacedValue& p : other.hints.regions[0].places)
      if (p.value == name)
        for (auto& piece : p.pieces) piece.address = std::max<int64_t>(0, piece.address + by);
    const RegionResult r = result_of(other, other.bytes);
    INFO(by);
    CHECK_FALSE(r.exact[inner]);
    // What reads it computes with something else: refused, or not proved.
    CHECK((!r.proof.refusal.empty() || exact(r) + 1 < r.exact.size()));
  }
}

TEST_CASE("prove: a wrong place of a value that has a reference is refused or ignored") {
  const test::Subject s = digits();
  for (size_t k = 0; k < s.hints.regions[0].places.size(); ++k) {
    test::Subject other = s;
    for (auto& piece : other.hints.regions[0].places[k].pieces) ++piece.row0, ++piece.row1;
    const RegionResult r = result_of(other, other.bytes);
    CHECK((!r.proof.refusal.empty() || exact(r) == r.exact.size()));
  }
}

TEST_CASE("prove: a type that arithmetic.md does not give a port is refused") {
  test::Subject s = digits();
  ProgramPort& p = s.hints.regions[0].inputs[0];
  p.stored = p.stored == ElementType::F16 ? ElementType::F32 : ElementType::F16;
  CHECK(result_of(s, s.bytes).proof.refusal != "");
}
