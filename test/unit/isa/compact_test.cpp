// Compact code against docs/isa.md: a decoder written from the page alone, and code that nobody should write.
#include <array>
#include <catch2/catch.hpp>
#include <cstring>
#include <fstream>
#include <map>
#include <optional>
#include <sstream>

#include "mrvlc/isa/code.h"
#include "mrvlc/support/diag/sim.h"
#include "paths.h"
#include "random_instruction.h"

using namespace mrvlc;
using namespace mrvlc::isa;

namespace {

using Plain = std::array<uint8_t, 256>;

// "Compact code" of docs/isa.md, for code that is right.
class Documented {
 public:
  explicit Documented(const std::string& code) : code_(code) {}

  std::vector<Plain> all(size_t count) {
    std::vector<Plain> out;
    while (out.size() < count) out.push_back(one());
    REQUIRE(at_ == code_.size());
    return out;
  }

 private:
  unsigned byte() { return static_cast<unsigned char>(code_.at(at_++)); }

  int64_t number() {
    uint64_t n = 0, weight = 1;
    unsigned b = 128;
    for (; b > 127; weight *= 128) n += ((b = byte()) % 128) * weight;
    return n % 2 == 0 ? static_cast<int64_t>(n / 2) : -static_cast<int64_t>(n / 2) - 1;
  }

  static void put(Plain& p, size_t at, int64_t value) {
    for (size_t i = 0; i < 4; ++i) p[at + i] = static_cast<uint8_t>(value >> 8 * i & 255);
  }

  Plain one() {
    Plain p{};
    const unsigned head = byte(), place = byte();
    p[0] = head % 8, p[3] = head / 8 % 8, p[4] = static_cast<uint8_t>(head / 64);
    p[1] = static_cast<uint8_t>(place / 8), p[2] = place % 8;
    for (size_t w = 0; w < p[3]; ++w) {
      const unsigned other = byte();
      p[16 + 8 * w] = other % 8, p[17 + 8 * w] = static_cast<uint8_t>(other / 8);
      put(p, 20 + 8 * w, given_[other] - number());
    }
    std::vector<unsigned> words;
    const unsigned groups = byte();
    for (unsigned g = 0; g < 6; ++g) {
      if ((groups & 1u << g) == 0) continue;
      for (unsigned k = 0, changed = byte(); k < 8; ++k)
        if ((changed & 1u << k) != 0) words.push_back(8 * g + k);
    }
    auto& body = bodies_[p[0]];
    for (unsigned w : words) body[w] += number();
    for (unsigned w = 0; w < 48; ++w) put(p, 64 + 4 * w, body[w]);
    ++given_[place];
    return p;
  }

  const std::string& code_;
  size_t at_ = 0;
  std::map<unsigned, std::array<int64_t, 48>> bodies_;  // by opcode
  std::map<unsigned, int64_t> given_;                   // by tile and queue
};

// Neighbours that differ in a few fields, and others that differ in all.
std::vector<Instruction> random_program(uint32_t seed) {
  RandomInstruction random(seed);
  std::mt19937 rng(seed);
  std::vector<Instruction> program;
  for (size_t n = 1 + rng() % 40; program.size() < n;) {
    Instruction next = random();
    if (!program.empty() && rng() % 2 == 0) {
      Instruction like = program[rng() % program.size()];
      like.waits = next.waits;
      like.tile = next.tile;
      if (auto* d = std::get_if<Dma>(&like.body)) d->src += 64, d->dst -= 1000;
      next = like;
    }
    program.push_back(next);
  }
  return program;
}

std::string hex(const std::string& text) {
  std::string out;
  std::istringstream in(text);
  for (unsigned b = 0; in >> std::hex >> b;) out.push_back(static_cast<char>(b));
  return out;
}

std::string fault_of(const std::string& code, uint32_t count) {
  auto r = read_code(code, Encoding::Compact, count, "main");
  if (r.ok()) return "accepted";
  CHECK(r.error().code == DiagCode::MRV0703);
  return r.error().message;
}

}  // namespace

TEST_CASE("compact code is what docs/isa.md says") {
  for (uint32_t seed = 0; seed < 400; ++seed) {
    const auto program = random_program(seed);
    const std::string code = write_code(program, Encoding::Compact),
                      plain = write_code(program, Encoding::Plain);
    const auto decoded = Documented(code).all(program.size());
    for (size_t i = 0; i < program.size(); ++i)
      REQUIRE(std::memcmp(decoded[i].data(), plain.data() + 256 * i, 256) == 0);
    auto read = read_code(code, Encoding::Compact, static_cast<uint32_t>(program.size()), "main");
    REQUIRE(read.ok());
    REQUIRE(*read == program);
    size_t bytes = 0;
    for (uint32_t size : code_sizes(program, Encoding::Compact)) bytes += size;
    REQUIRE(bytes == code.size());
  }
}

TEST_CASE("the example of docs/isa.md") {
  const std::string first = "01 01  03 d7 01  80 84 18  80 08  80 01  80 40  02 02 02",
                    second = "09 01  11 04  01 14  80 08  80 08";
  std::ifstream in(std::string(MRVLC_SOURCE_DIR) + "/docs/isa.md");
  std::ostringstream page;
  page << in.rdbuf();
  CHECK(page.str().find("\n    " + first + "\n    " + second + "\n") != std::string::npos);

  Instruction copy;
  copy.tile = 1;
  Dma d;
  d.run_bytes = 512, d.src = 0x40, d.dst = 0x1000, d.dst_tiles = 3;
  copy.body = d;
  Instruction pod;
  pod.tile = 1, pod.queue = Queue::Pod;
  std::vector<Instruction> program = {copy, pod, pod, pod, copy};
  d.src = 0x240, d.dst = 0x1200;
  program.back().body = d;
  program.back().waits = {{1, Queue::Pod, 1}};
  CHECK(write_code(program, Encoding::Compact) == hex(first + " 00 11 00 00 11 00 00 11 00 " + second));
}

TEST_CASE("whatever the bytes are, they are refused, or the only ones of their program") {
  size_t accepted = 0;
  for (uint32_t seed = 0; seed < 60; ++seed) {
    const auto program = random_program(seed);
    const std::string good = write_code(program, Encoding::Compact);
    const auto count = static_cast<uint32_t>(program.size());
    std::mt19937 rng(seed);
    for (int n = 0; n < 300; ++n) {
      std::string bad = good;
      const size_t at = rng() % bad.size();
      switch (rng() % 4) {
        case 0:
          bad[at] = static_cast<char>(rng());
          break;
        case 1:
          bad.erase(at, 1 + rng() % 3);
          break;
        case 2:
          bad.insert(at, 1, static_cast<char>(rng() % 3 == 0 ? 128 : rng()));
          break;
        default:
          bad.resize(at);
      }
      for (uint32_t instructions : {count, count - 1, count + 1}) {
        auto r = read_code(bad, Encoding::Compact, instructions, "main");
        if (!r.ok()) continue;
        ++accepted;
        REQUIRE(r->size() == instructions);
        REQUIRE(write_code(*r, Encoding::Compact) == bad);
      }
    }
  }
  CHECK(accepted > 100);
}

TEST_CASE("compact code that breaks a rule") {
  CHECK(fault_of(hex("00 00 00"), 1) == "accepted");
  CHECK(fault_of(hex("00 1f 00"), 1) == "accepted");
  CHECK(fault_of(hex("00"), 0) == "accepted");
  const std::pair<const char*, const char*> faults[] = {
      {"07 00 00", "opcode 7"},
      {"38 00 00", "7 waits"},
      {"00 20 00", "reserved bit"},
      {"08 00 20 00 00", "reserved bit"},
      {"00 00 40", "reserved bit"},
      {"00 00 01 00", "none that changes"},
      {"01 01 01 01 00", "changes by 0"},
      {"01 01 01 02 80 00", "longer than"},
      {"01 01 01 02 80 80 80 80 10", "more than 32"},
      {"01 01 01 02 80 80 80 80 80 01", "more than 32"},
      {"00 00 01 01 02", "reserved byte"},  // of the body of Sync
      {"40 00 00", "flag"},
      {"00 00", "too few"},
      {"01 01 01", "ends within"},
      {"00 00 00 00", "follow it"},
  };
  for (auto [code, what] : faults) {
    INFO(code);
    CHECK(fault_of(hex(code), 1).find(what) != std::string::npos);
  }
  CHECK(fault_of(hex("00 00"), 0).find("without instructions") != std::string::npos);
  CHECK(fault_of(hex("01"), 0).find("without instructions") != std::string::npos);
  CHECK(fault_of("", 0).find("without instructions") != std::string::npos);
}

TEST_CASE("no encoding is larger than a fetch buffer takes") {
  uint32_t most = 0;
  for (uint32_t seed = 0; seed < 200; ++seed)
    for (uint32_t size : code_sizes(random_program(seed), Encoding::Compact)) most = std::max(most, size);
  CHECK(most <= 285);
  CHECK(most > 200);
}
