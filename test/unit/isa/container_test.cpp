#include "mrvlc/isa/container.h"

#include <catch2/catch.hpp>
#include <cstring>
#include <limits>

#include "mrvlc/isa/container_check.h"
#include "mrvlc/isa/identity.h"
#include "mrvlc/support/diag/sim.h"
#include "mrvlc/support/hash.h"
#include "random_instruction.h"

using namespace mrvlc;
using namespace mrvlc::isa;

namespace {

Binary example() {
  Binary b;
  b.name = "net";
  b.tiles = 4;
  b.batch = 2;
  b.layers = 17;
  b.ocm_bytes = 0x8000;
  b.weights = std::string(300, 'w');
  RandomInstruction random(6);
  for (auto* p : {&b.init, &b.main, &b.finish})
    for (int n = 0; n < 3; ++n) p->push_back(random());
  for (uint32_t i = 0; i < 10; ++i) {
    b.inputs.push_back({"in" + std::to_string(i), 8, 7, 1.0f, 2, {2, 1, 1, 8}, 384 + i * 32});
    b.outputs.push_back({"out" + std::to_string(i), 8, 1, 0.5f, 2, {1, 1, 1, 5}, 768 + i * 8});
  }
  b.ddr_input_begin = 384, b.ddr_input_end = 704;
  b.ddr_output_begin = 768, b.ddr_output_end = 848;
  b.ddr_scratch_begin = 1024, b.ddr_scratch_end = 2048;
  return b;
}

template <class T>
T at(const std::string& f, size_t offset) {
  T v{};
  std::memcpy(&v, f.data() + offset, sizeof v);
  return v;
}

std::span<const std::byte> bytes(const std::string& f, size_t begin, size_t end) {
  return std::as_bytes(std::span(f.data() + begin, end - begin));
}

// As an attacker would: identity and checksums are right.
void repair(std::string& f) {
  auto identity = sha256(bytes(f, 256, f.size()));
  std::memcpy(f.data() + 12, identity.data(), identity.size());
  uint32_t crc = crc32c(bytes(f, 256, f.size()));
  std::memcpy(f.data() + 248, &crc, 4);
  crc = crc32c(bytes(f, 0, 252));
  std::memcpy(f.data() + 252, &crc, 4);
}

}  // namespace

TEST_CASE("CRC32C without final inversion: check value of '123456789'") {
  // The common CRC-32C (seed ~0, inverted) of this text is 0xe3069283; with seed 0 and no inversion it is
  // 0x58e3fa20.
  CHECK(crc32c(bytes("123456789", 0, 9)) == 0x58e3fa20u);
}

TEST_CASE("container fields lie where the driver looks for them") {
  Binary b = example();
  b.encoding = Encoding::Plain;
  std::string f = write_container(b);
  CHECK(f.substr(0, 4) == "MRVL");
  CHECK(f.substr(4, 4) == std::string("\2\3\0\1", 4));
  CHECK(at<uint32_t>(f, 8) == 8192);
  for (size_t i = 0; i < 32; ++i) {
    // Two hex digits a byte, as sha256sum prints them.
    CHECK(at<uint8_t>(f, 12 + i) ==
          std::stoul(sha256_hex(bytes(f, 256, f.size())).substr(2 * i, 2), nullptr, 16));
  }
  CHECK(at<uint32_t>(f, 140) == 256);
  CHECK(at<uint32_t>(f, 248) == crc32c(bytes(f, 256, f.size())));
  CHECK(at<uint32_t>(f, 252) == crc32c(bytes(f, 0, 252)));
  CHECK(f.substr(256, 4) == std::string("net\0", 4));
  CHECK(at<uint32_t>(f, 256 + 68) == 9 * 256);
  CHECK(at<uint32_t>(f, 256 + 72) == 300);
  CHECK(at<uint32_t>(f, 256 + 80) == 0xfffff);
  CHECK(at<uint8_t>(f, 256 + 84) == 1);
  CHECK(at<uint8_t>(f, 256 + 85) == 1);
  CHECK(at<uint8_t>(f, 256 + 86) == 0);
  CHECK(at<uint8_t>(f, 256 + 87) == 3);
  CHECK(at<uint8_t>(f, 256 + 88) == 2);
  CHECK(at<uint8_t>(f, 256 + 89) == 10);
  CHECK(at<uint8_t>(f, 256 + 90) == 10);
  CHECK(at<uint32_t>(f, 256 + 92) == 10 * 16 * 2);
  CHECK(at<uint32_t>(f, 256 + 96) == 50);
  CHECK(at<uint32_t>(f, 256 + 104) == 17);
  CHECK(at<uint64_t>(f, 256 + 112) == 0x100000 - 0x8000);
  CHECK(at<uint64_t>(f, 256 + 136) == 0);
  CHECK(at<uint64_t>(f, 256 + 144) == 299);
  CHECK(at<uint64_t>(f, 256 + 152) == 384);
  CHECK(at<uint64_t>(f, 256 + 160) == 703);
  CHECK(at<uint64_t>(f, 256 + 168) == 768);
  CHECK(at<uint64_t>(f, 256 + 200) == 1024);
  CHECK(at<uint64_t>(f, 256 + 208) == 2047);
  CHECK(at<uint32_t>(f, 512) == 8192);
  CHECK(at<uint32_t>(f, 516) == 768);
  CHECK(at<uint64_t>(f, 520) == 0);
  CHECK(at<uint32_t>(f, 576) == 8192 + 768);
  CHECK(at<uint32_t>(f, 640) == 8192 + 2 * 768);
  CHECK(at<uint32_t>(f, 1216 + 8) == 8192 + 3 * 768);
  CHECK(at<uint32_t>(f, 1216 + 12) == 300);
  CHECK(at<uint8_t>(f, 1216 + 16) == 1);
  CHECK(at<uint64_t>(f, 1280 + 64) == 384 + 32);
  CHECK(at<uint8_t>(f, 1280 + 9) == 1);
  CHECK(at<uint8_t>(f, 1280 + 10) == 8);
  CHECK(at<uint8_t>(f, 1280 + 11) == 7);
  CHECK(at<float>(f, 1280 + 12) == 1.0f);
  CHECK(at<uint8_t>(f, 1280 + 16) == 2);
  CHECK(at<uint32_t>(f, 1280 + 20) == 2);
  CHECK(at<uint32_t>(f, 1280 + 32) == 8);
  CHECK(f.substr(1280 + 40, 4) == std::string("in0\0", 4));
  CHECK(at<uint64_t>(f, 1280 + 56) == 384 + 31);
  CHECK(f.substr(4096 + 40, 4) == std::string("in8\0", 4));
  CHECK(f.substr(1792 + 48, 5) == std::string("out0\0", 5));
  CHECK(at<uint32_t>(f, 1792 + 16) == 5);
  CHECK(at<uint64_t>(f, 1792 + 40) == 768 + 4);
  CHECK(f.substr(5632 + 64 + 48, 5) == std::string("out9\0", 5));
}

TEST_CASE("what is written is read back") {
  Binary b = example();
  b.inputs[0].name = "a_rather_long_name_of_a_layer";
  b.name = std::string(100, 'n');
  std::string f = write_container(b);
  auto r = read_container(f);
  REQUIRE(r.ok());
  CHECK(r->name == std::string(63, 'n'));
  CHECK(r->inputs[0].name == "name_of_a_layer");
  CHECK(r->main == b.main);
  CHECK(r->weights == b.weights);
  CHECK(r->ocm_bytes == b.ocm_bytes);
  CHECK(r->inputs[9].dims == b.inputs[9].dims);
  CHECK(r->ddr_scratch_end == 2048);
  CHECK(r->ddr_input_end == 704);
  CHECK(write_container(*r) == f);
}

TEST_CASE("an empty program and no weights still give the driver four sections") {
  Binary b;
  b.main.resize(1);
  auto r = read_container(write_container(b));
  REQUIRE(r.ok());
  CHECK(r->init.empty());
  CHECK(r->main == std::vector<Instruction>(1));
  CHECK(r->weights.size() == 1);
  b.encoding = Encoding::Plain;
  r = read_container(write_container(b));
  REQUIRE(r.ok());
  CHECK(r->init == std::vector<Instruction>(1));
  CHECK(r->ddr_scratch_begin == r->ddr_scratch_end);
}

TEST_CASE("every flipped bit and every cut is a diagnostic") {
  const std::string good = write_container(example());
  for (size_t i = 0; i < good.size(); ++i) {
    for (int bit = 0; bit < 8; ++bit) {
      std::string bad = good;
      bad[i] = static_cast<char>(bad[i] ^ 1 << bit);
      auto r = read_container(bad);
      REQUIRE_FALSE(r.ok());
      REQUIRE(r.error().code == DiagCode::MRV0701);
    }
  }
  for (size_t n = 0; n < good.size(); n += n < 8300 ? 7 : 1)
    REQUIRE_FALSE(read_container(good.substr(0, n)).ok());
  CHECK_FALSE(read_container(good + '\0').ok());
}

TEST_CASE("with checksums repaired, a flipped byte is refused or harmless, and never crashes") {
  const std::string good = write_container(example());
  size_t refused = 0;
  for (size_t i = 0; i < good.size(); ++i) {
    for (char mask : {'\x01', '\x80'}) {
      std::string bad = good;
      bad[i] = static_cast<char>(bad[i] ^ mask);
      repair(bad);
      auto r = read_container(bad);
      if (r.ok()) continue;
      ++refused;
      REQUIRE((r.error().code == DiagCode::MRV0701 || r.error().code == DiagCode::MRV0703));
    }
  }
  CHECK(refused > 500);
}

TEST_CASE("binaries of 256 bytes an instruction are read as ever, and compact ones say so") {
  Binary b = example();
  const std::string compact = write_container(b);
  CHECK(at<uint32_t>(compact, 520) == 1);
  CHECK(at<uint32_t>(compact, 524) == 3);
  CHECK(at<uint32_t>(compact, 652) == 3);
  b.encoding = Encoding::Plain;
  const std::string plain = write_container(b);
  CHECK(plain.size() > compact.size());
  auto r = read_container(plain);
  REQUIRE(r.ok());
  CHECK(r->encoding == Encoding::Plain);
  CHECK(r->main == b.main);
  CHECK(write_container(*r) == plain);
}

TEST_CASE("what the sections say of their encoding is not believed") {
  const auto message = [](std::string f, size_t offset, uint32_t value) {
    std::memcpy(f.data() + offset, &value, 4);
    repair(f);
    auto r = read_container(f);
    return r.ok() ? "accepted" : r.error().message;
  };
  Binary b = example();
  const std::string compact = write_container(b);
  b.encoding = Encoding::Plain;
  const std::string plain = write_container(b);
  CHECK(message(plain, 520, 0) == "accepted");
  CHECK(message(plain, 520, 2).find("encoding 2") != std::string::npos);
  CHECK(message(plain, 588, 7).find("section main counts") != std::string::npos);
  CHECK(message(compact, 584, 0).find("part of an instruction") != std::string::npos);
  CHECK(message(compact, 520, 1) == "accepted");
  CHECK(message(compact, 588, 0).find("without instructions") != std::string::npos);
  CHECK(message(compact, 588, 2).find("follow it") != std::string::npos);
  CHECK(message(compact, 588, 4).find("ends within") != std::string::npos);
  CHECK(message(compact, 588, 1u << 20).find("at most 524288") != std::string::npos);
  CHECK(message(compact, 588, 5000).find("too few") != std::string::npos);
}

TEST_CASE("the identity is that of the content, whatever the checksums say") {
  Binary other = example();
  other.weights[7] = 'x';
  const std::string good = write_container(example()), changed = write_container(other);
  CHECK(stored_identity(good) != stored_identity(changed));
  std::string forged = changed;
  std::memcpy(forged.data() + 12, good.data() + 12, 32);
  uint32_t crc = crc32c(bytes(forged, 0, 252));
  std::memcpy(forged.data() + 252, &crc, 4);
  auto r = read_container(forged);
  REQUIRE_FALSE(r.ok());
  CHECK(r.error().message.find("the identity is not that of the content") != std::string::npos);
}

TEST_CASE("the identity does not depend on what a driver is told the target is") {
  Binary silicon = example();
  silicon.architecture = Architecture::Mlip;
  CHECK(stored_identity(write_container(silicon)) == stored_identity(write_container(example())));
}

// The bytes that no table of docs/isa.md lists, by hand.
TEST_CASE("bytes that are reserved must be 0") {
  const std::string good = write_container(example());
  const std::pair<size_t, size_t> reserved[] = {
      {44, 140},    {144, 248},   {347, 348},   {356, 360},   {364, 368},   {448, 456},   {472, 512},
      {528, 576},   {592, 640},   {656, 1216},  {1233, 1280}, {1297, 1300}, {1316, 1320}, {1812, 1832},
      {2304, 4096}, {4113, 4116}, {4132, 4136}, {4224, 5632}, {5652, 5672}, {5760, 8164}, {8172, 8192}};
  for (auto [begin, end] : reserved) {
    for (size_t i = begin; i < end; ++i) {
      std::string bad = good;
      bad[i] = 1;
      repair(bad);
      auto r = read_container(bad);
      INFO(i);
      REQUIRE_FALSE(r.ok());
      REQUIRE(r.error().message.find(std::to_string(i) + " is reserved") != std::string::npos);
    }
  }
}

TEST_CASE("impossible sizes are refused even with right checksums") {
  Binary b = example();
  b.encoding = Encoding::Plain;
  const std::string good = write_container(b);
  auto with = [&](size_t offset, uint32_t value) {
    std::string f = good;
    std::memcpy(f.data() + offset, &value, 4);
    repair(f);
    return read_container(f).ok();
  };
  CHECK(with(516, 768));
  CHECK_FALSE(with(516, 0));
  CHECK_FALSE(with(516, 767));
  CHECK_FALSE(with(576, 0xffffff00u));
  CHECK_FALSE(with(1216 + 12, 0xffffffffu));
  CHECK_FALSE(with(1280 + 20, 0xffffffffu));
  CHECK_FALSE(with(1280, 0xfffffff0u));
  CHECK_FALSE(with(140, 2));
  CHECK_FALSE(with(348, 10 * 16 * 2 + 1));
  CHECK_FALSE(with(352, 51));
}

namespace {

struct Unwritable {
  const char* what;
  void (*spoil)(Binary&);
};

constexpr Unwritable kUnwritable[] = {
    {"no tiles", [](Binary& b) { b.tiles = 0; }},
    {"nine tiles", [](Binary& b) { b.tiles = 9; }},
    {"no batch", [](Binary& b) { b.batch = 0; }},
    {"a port more than there is room for", [](Binary& b) { b.inputs.resize(33, b.inputs[0]); }},
    {"a dimension of 0", [](Binary& b) { b.inputs[1].dims[2] = 0; }},
    {"2^32 elements",
     [](Binary& b) {
       b.inputs[1].dims = {65536, 65536, 1, 1}, b.ddr_input_end = 1u << 31;
     }},
    {"inputs of 2^32 bytes together",
     [](Binary& b) {
       b.inputs.resize(2);
       for (Port& p : b.inputs) p.dims = {1u << 15, 1u << 15, 1, 1}, p.ddr_offset = uint64_t{1} << 40;
       b.ddr_input_begin = uint64_t{1} << 40, b.ddr_input_end = uint64_t{1} << 41;
     }},
    {"an unknown type", [](Binary& b) { b.outputs[0].inner_type = 11; }},
    {"an infinite scale", [](Binary& b) { b.outputs[0].scale = std::numeric_limits<float>::infinity(); }},
    {"a port before its range", [](Binary& b) { b.inputs[0].ddr_offset = 376; }},
    {"a port past its range", [](Binary& b) { b.inputs[9].dims[3] = 9; }},
    {"ranges that overlap", [](Binary& b) { b.ddr_scratch_begin = 847; }},
    {"a range in the weights", [](Binary& b) { b.weights.resize(400); }},
    {"a range that ends before it begins", [](Binary& b) { b.ddr_scratch_end = 1023; }},
    {"an address of 2^48", [](Binary& b) { b.ddr_scratch_end = uint64_t{1} << 48; }},
};

}  // namespace

TEST_CASE("what its own reader would refuse is not written") {
  REQUIRE(check_container(example()).ok());
  for (const Unwritable& u : kUnwritable) {
    INFO(u.what);
    Binary b = example();
    u.spoil(b);
    Status status = check_container(b);
    REQUIRE_FALSE(status.ok());
    CHECK(status.error().code->name == "MRV0510");
    CHECK(status.error().code->exit_class == ExitClass::Limit);
  }
}

TEST_CASE("sizes drawn at random: what passes the check is read back") {
  uint64_t state = 7;
  auto step = [&] { return (state = state * 6364136223846793005u + 1442695040888963407u) >> 33; };
  auto draw = [&](uint64_t n) { return step() % n; };
  int written = 0;
  for (int n = 0; n < 3000; ++n) {
    Binary b = example();
    for (int change = 0; change < 2; ++change) {
      Port& p = draw(2) == 0 ? b.inputs[draw(10)] : b.outputs[draw(10)];
      uint64_t* ends[] = {&b.ddr_input_begin, &b.ddr_input_end,     &b.ddr_output_begin,
                          &b.ddr_output_end,  &b.ddr_scratch_begin, &b.ddr_scratch_end};
      switch (draw(5)) {
        case 0:
          p.dims[draw(4)] = static_cast<uint32_t>(draw(4));
          break;
        case 1:
          p.dims[draw(4)] = 1u << draw(32);
          break;
        case 2:
          *ends[draw(6)] += draw(3) - 1;
          break;
        case 3:
          p.ddr_offset += draw(9) - 4;
          break;
        default:
          b.tiles = static_cast<uint8_t>(draw(10));
          break;
      }
    }
    if (!check_container(b).ok()) continue;
    ++written;
    auto back = read_container(write_container(b));
    INFO((back.ok() ? "" : back.error().message));
    REQUIRE(back.ok());
  }
  CHECK(written > 100);
}

TEST_CASE("a zero byte in a port's name does not end up in the file") {
  Binary b = example();
  b.inputs[0].name = std::string("a\0bc", 4);
  b.outputs[0].name = std::string("\0", 1);
  auto back = read_container(write_container(b));
  REQUIRE(back.ok());
  CHECK(back->inputs[0].name == "bc");
  CHECK(back->outputs[0].name.empty());
}
