// The parser meets damaged text: it may refuse or accept it, but it neither crashes nor allocates without
// bound, and what it accepts prints to a fixpoint.
#include <random>

#include "helpers.h"

using namespace mrvlc;
using namespace mrvlc::test;

namespace {

void survive(const std::string& text) {
  auto g = ir::parse(text, ops::registry());
  if (!g.ok()) return;
  std::string once = ir::print(*g);
  auto again = ir::parse(once, ops::registry());
  INFO(text);
  REQUIRE(again.ok());
  CHECK(ir::print(*again) == once);
}

}  // namespace

TEST_CASE("every cut of a text", "[ir][robust]") {
  std::string text(kEverything);
  for (size_t n = 0; n < text.size(); ++n) {
    survive(text.substr(0, n));
    survive(text.substr(n));
  }
}

TEST_CASE("flipped, doubled and dropped bytes", "[ir][robust]") {
  std::mt19937 random(11);
  for (int round = 0; round < 20000; ++round) {
    std::string text(kEverything);
    for (uint64_t k = 0, n = 1 + random() % 3; k < n; ++k) {
      size_t at = random() % text.size();
      switch (random() % 4) {
        case 0:
          text[at] = static_cast<char>(text[at] ^ (1 << random() % 8));
          break;
        case 1:
          text.erase(at, 1 + random() % 4);
          break;
        case 2:
          text.insert(at, text.substr(random() % text.size(), random() % 16));
          break;
        default:
          text[at] = "{}()[]%:=,\"x0-9_#"[random() % 17];
          break;
      }
      if (text.empty()) break;
    }
    survive(text);
  }
}

TEST_CASE("deep and long texts", "[ir][robust]") {
  CHECK_FALSE(ir::parse("graph \"g\" {" + std::string(200000, '['), ops::registry()).ok());
  CHECK_FALSE(ir::parse("graph \"g\" { input %x : f32" + std::string(200000, '['), ops::registry()).ok());
  std::string chain = "graph \"g\" {\n input %v0 : f32[2]\n";
  for (int i = 0; i < 20000; ++i) {
    chain += fmt::format(" %v{} = Relu(%v{}) : f32[2]\n", i + 1, i);
  }
  survive(chain + " output %v20000\n}\n");
}
