#include <catch2/catch.hpp>
#include <cstring>

#include "mrvlc/support/diag/sim.h"
#include "random_instruction.h"

using namespace mrvlc;
using namespace mrvlc::isa;

namespace {

using Bytes = std::array<std::byte, kInstructionBytes>;

template <class T>
T at(const Bytes& b, size_t offset) {
  T v{};
  std::memcpy(&v, b.data() + offset, sizeof v);
  return v;
}

}  // namespace

TEST_CASE("every instruction survives encoding and decoding") {
  RandomInstruction random(1);
  for (int n = 0; n < 20000; ++n) {
    Instruction i = random();
    Bytes bytes;
    encode(i, bytes);
    auto back = decode(bytes);
    REQUIRE(back.ok());
    REQUIRE(*back == i);
  }
}

TEST_CASE("a flipped byte either decodes to another instruction or is refused") {
  RandomInstruction random(2);
  size_t refused = 0;
  for (int n = 0; n < 300; ++n) {
    Bytes bytes;
    encode(random(), bytes);
    for (std::byte& b : bytes) {
      std::byte kept = b;
      b ^= std::byte{0x80};
      auto back = decode(bytes);
      if (back.ok()) {
        Bytes again;
        encode(*back, again);
        REQUIRE(again == bytes);
      } else {
        REQUIRE(back.error().code == DiagCode::MRV0702);
        ++refused;
      }
      b = kept;
    }
  }
  CHECK(refused > 1000);
}

TEST_CASE("fields lie at the offsets of docs/isa.md") {
  Instruction i{3, Queue::Pod, {{5, Queue::DmaOut, 77}}, Conv{}};
  Conv c;
  c.first = false;
  c.x = 0x11, c.x0 = -3, c.channels = 0x22, c.out_col = 0x33, c.out_channel = 0x44, c.w = 0x55,
  c.residual_col = 0x66;
  c.epilogue = {Activation::Table, 1.5f, 2.5f, 0x77};
  i.body = c;
  Bytes b;
  encode(i, b);
  CHECK(at<uint8_t>(b, 0) == 2);
  CHECK(at<uint8_t>(b, 1) == 2);
  CHECK(at<uint8_t>(b, 2) == 3);
  CHECK(at<uint8_t>(b, 3) == 1);
  CHECK(at<uint8_t>(b, 4) == 2);
  CHECK(at<uint8_t>(b, 16) == 5);
  CHECK(at<uint8_t>(b, 17) == 1);
  CHECK(at<uint32_t>(b, 20) == 77);
  CHECK(at<uint32_t>(b, 68) == 0x11);
  CHECK(at<int32_t>(b, 92) == -3);
  CHECK(at<uint32_t>(b, 120) == 0x22);
  CHECK(at<uint32_t>(b, 140) == 0x33);
  CHECK(at<uint32_t>(b, 144) == 0x44);
  CHECK(at<uint32_t>(b, 152) == 0x55);
  CHECK(at<uint32_t>(b, 180) == 0x66);
  CHECK(at<uint8_t>(b, 184) == 6);
  CHECK(at<float>(b, 188) == 1.5f);
  CHECK(at<float>(b, 192) == 2.5f);
  CHECK(at<uint32_t>(b, 196) == 0x77);
  CHECK(at<uint32_t>(b, 200) == 0);
}

TEST_CASE("an engine takes only its own operations") {
  Bytes b;
  Instruction i{0, Queue::Pe, {}, Conv{}};
  encode(i, b);
  CHECK_FALSE(decode(b).ok());
  i = {0, Queue::Pod, {}, Pool{}};
  encode(i, b);
  CHECK_FALSE(decode(b).ok());
  Dma d;
  d.dst_tiles = 1;
  i = {0, Queue::DmaOut, {}, d};  // DDR to OCM
  encode(i, b);
  CHECK_FALSE(decode(b).ok());
  i.queue = Queue::DmaIn;
  encode(i, b);
  CHECK(decode(b).ok());
  d.src_space = Space::Ocm, d.dst_space = Space::Ddr;  // into DDR, and yet to tiles
  i = {0, Queue::DmaOut, {}, d};
  encode(i, b);
  CHECK_FALSE(decode(b).ok());
}

TEST_CASE("codes and tiles past the last are refused") {
  Bytes b;
  auto refused_from = [&](const Instruction& i, size_t offset) {
    encode(i, b);
    unsigned first = 0;
    for (; first < 256; ++first) {
      b[offset] = static_cast<std::byte>(first);
      if (!decode(b).ok()) break;
    }
    for (unsigned code = first; code < 256; ++code) {
      b[offset] = static_cast<std::byte>(code);
      CHECK_FALSE(decode(b).ok());
    }
    return first;
  };
  const Instruction sync{3, Queue::Pod, {{5, Queue::DmaOut, 77}}, Sync{}};
  CHECK(refused_from(sync, 1) == 4);                           // queue
  CHECK(refused_from(sync, 2) == 8);                           // tile
  CHECK(refused_from(sync, 16) == 8);                          // tile of a wait
  CHECK(refused_from(sync, 17) == 4);                          // queue of a wait
  CHECK(refused_from({0, Queue::Pod, {}, Conv{}}, 184) == 7);  // activation
}

TEST_CASE("text names operation, engine and waits") {
  RandomInstruction random(3);
  for (int n = 0; n < 1000; ++n) CHECK(to_text(random()).find('\n') == std::string::npos);
  Elementwise e;
  e.op = EwOp::Add;
  e.dims = {1, 1, 1, 2, 16};
  e.dst = {0x40, DataType::F16, {0, 0, 0, 32, 2}};
  e.a = e.b = {0x80, DataType::F32, {0, 0, 0, 64, 4}};
  e.epilogue.activation = Activation::Relu;
  CHECK(to_text({1, Queue::Pe, {{0, Queue::DmaIn, 3}, {1, Queue::Pod, 9}}, e}) ==
        "t1.pe     ew.add 1x1x1x2x16 dst=0x40:f16[0,0,0,32,2] a=0x80:f32[0,0,0,64,4] b=0x80:f32[0,0,0,64,4] "
        "act=relu"
        " wait t0.dmain>=3, t1.pod>=9");
}
