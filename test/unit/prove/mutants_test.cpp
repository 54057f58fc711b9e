// Seeded changes of a binary: each that changes a bit of a result, or makes the binary unsound, is refused.
#include <algorithm>
#include <catch2/catch.hpp>
#include <cstdlib>
#include <cstring>
#include <iostream>

#include "paths.h"
#include "subject.h"

using namespace mrvlc;
using namespace mrvlc::test;

namespace {

struct Mutant {
  std::string bytes, what;
};

uint32_t word(const std::string& b, size_t at) {
  uint32_t v = 0;
  std::memcpy(&v, &b[at], 4);
  return v;
}

// One of: a byte of a body, a wait, a weight, an instruction that does nothing, two that change places.
Mutant mutant(const Subject& s, uint32_t number) {
  std::mt19937 random(number);
  Mutant m{s.bytes, ""};
  const size_t instruction = random() % s.instructions, at = s.first_instruction + 256 * instruction;
  const auto bit = [&](size_t offset) {
    m.bytes[offset] = static_cast<char>(m.bytes[offset] ^ 1 << random() % 8);
  };
  switch (random() % 6) {
    case 0:
    case 1: {
      // Bytes that hold something are more telling than zeros.
      size_t offset = 64 + random() % 192;
      for (int tries = 0; tries < 20 && m.bytes[at + offset] == 0; ++tries) offset = 64 + random() % 192;
      if (random() % 8 == 0) offset = random() % 256;
      bit(at + offset);
      m.what = "byte " + std::to_string(offset);
      break;
    }
    case 2: {
      const auto waits = static_cast<uint8_t>(m.bytes[at + 3]);
      if (waits == 0) {
        bit(at + 4 + random() % 8);
        m.what = "header";
        break;
      }
      const size_t wait = at + 16 + 8 * (random() % waits);
      uint32_t count = word(m.bytes, wait + 4);
      count = count > 0 ? count - 1 : count + 1;
      std::memcpy(&m.bytes[wait + 4], &count, 4);
      m.what = "a wait is one less";
      break;
    }
    case 3: {
      const uint32_t begin = word(m.bytes, 1224), size = word(m.bytes, 1228);
      bit(begin + random() % size);
      m.what = "a weight";
      break;
    }
    case 4: {
      // Sync in the same queue: nothing but the work is gone.
      m.bytes[at] = 0;
      m.bytes[at + 4] = 0;
      std::memset(&m.bytes[at + 64], 0, 192);
      m.what = "it does nothing";
      break;
    }
    default: {
      if (instruction + 1 == s.instructions) break;
      std::swap_ranges(m.bytes.begin() + static_cast<std::ptrdiff_t>(at),
                       m.bytes.begin() + static_cast<std::ptrdiff_t>(at + 256),
                       m.bytes.begin() + static_cast<std::ptrdiff_t>(at + 256));
      m.what = "it and the next change places";
    }
  }
  m.what =
      "mutant " + std::to_string(number) + ", instruction " + std::to_string(instruction) + ": " + m.what;
  m.bytes = sealed(std::move(m.bytes));
  return m;
}

struct Count {
  int wrong = 0, unsound = 0, harmless = 0, harmless_refused = 0, missed = 0;
};

void judge(const Subject& s, uint32_t first, uint32_t count, int inputs, Count& n) {
  const auto expected = s.results(s.bytes, inputs);
  REQUIRE(expected);
  for (uint32_t i = first; i < first + count; ++i) {
    const Mutant m = mutant(s, i);
    const auto results = s.results(m.bytes, inputs);
    const bool refused = !s.refusal(m.bytes).empty();
    if (results && *results == *expected) {
      ++n.harmless;
      n.harmless_refused += refused ? 1 : 0;
      continue;
    }
    ++(results ? n.wrong : n.unsound);
    if (refused) continue;
    ++n.missed;
    UNSCOPED_INFO(m.what << (results ? " changes a result" : " is refused by the simulator"));
    CHECK(refused);
  }
}

uint32_t wanted(uint32_t otherwise) {
  const char* text = std::getenv("MRVLC_MUTANTS");
  return text == nullptr ? otherwise : static_cast<uint32_t>(std::strtoul(text, nullptr, 10));
}

void judge_model(const std::filesystem::path& model, uint32_t tiles, bool pinned, uint32_t count) {
  const Subject s(model, tiles, pinned);
  REQUIRE(s.refusal(s.bytes) == "");
  Count n;
  judge(s, 1, wanted(count), 4, n);
  std::cout << model.stem().string() << (pinned ? ", pinned weights: " : ": ") << n.wrong
            << " change a result, " << n.unsound << " are unsound, " << n.harmless << " change nothing ("
            << n.harmless_refused << " of them refused); " << n.missed << " missed\n";
  CHECK(n.wrong > 0);
}

}  // namespace

// MRVLC_MUTANTS=10000 takes as many of each model.
TEST_CASE("changes of a binary that matter are refused") {
  judge_model(std::filesystem::path(MRVLC_SOURCE_DIR) / "models/digits/digits.onnx", 2, false, 150);
}

TEST_CASE("changes of a binary with pinned weights that matter are refused") {
  judge_model(std::filesystem::path(MRVLC_SOURCE_DIR) / "models/digits/digits.onnx", 1, true, 100);
}

TEST_CASE("changes of a binary of integers that matter are refused") {
  const auto model = shared_data() / "zoo/tiny_ad_int8_qdq.onnx";
  if (shared_data().empty() || !std::filesystem::exists(model)) return;
  judge_model(model, 2, false, 40);
}
