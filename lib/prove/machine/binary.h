// A model binary as docs/isa.md says it, read for the prover alone: container, instructions, their fields.
#pragma once
#include <array>
#include <string>
#include <string_view>
#include <vector>

#include "values.h"

namespace mrvlc::prove {

// What ends a proof: the binary contradicts docs/isa.md or its model.
struct Refusal {
  std::string text;
};

struct Range {
  uint64_t begin = 0, end = 0;  // of DDR; end exclusive
  bool contains(uint64_t a, uint64_t b) const { return a >= begin && b <= end; }
};

enum class Opcode : uint8_t { Sync, Dma, Conv, Depthwise, Elementwise, Reduce, Pool };

struct Wait {
  uint8_t tile = 0, queue = 0;
  uint32_t count = 0;
};

struct Instruction {
  Opcode op = Opcode::Sync;
  uint8_t queue = 0, tile = 0;
  bool first = false, last = false;
  std::vector<Wait> waits;
  std::array<uint8_t, 192> body{};

  uint8_t u8(size_t at) const { return body[at - 64]; }
  uint16_t u16(size_t at) const { return static_cast<uint16_t>(u8(at) | u8(at + 1) << 8); }
  int16_t i16(size_t at) const { return static_cast<int16_t>(u16(at)); }
  uint32_t u32(size_t at) const {
    return static_cast<uint32_t>(u16(at)) | static_cast<uint32_t>(u16(at + 2)) << 16;
  }
  int32_t i32(size_t at) const { return static_cast<int32_t>(u32(at)); }
  uint64_t u64(size_t at) const { return u32(at) | static_cast<uint64_t>(u32(at + 4)) << 32; }
  int64_t i64(size_t at) const { return static_cast<int64_t>(u64(at)); }
  float f32(size_t at) const { return std::bit_cast<float>(u32(at)); }
};

struct PortRange {
  Range ddr;
  uint8_t inner = 0;   // type code of the container
  uint8_t format = 0;  // of an input
  std::array<uint32_t, 4> dims{};
  uint32_t elements = 0;  // of an output
};

struct Binary {
  uint32_t tiles = 1;
  uint32_t ocm_bytes = 0;  // that instructions may use
  Range weights, inputs, outputs, scratch;
  std::string_view weight_bytes;
  std::array<std::vector<Instruction>, 3> sections;  // init, main, finish
  std::vector<PortRange> in, out;
};

// `bytes` must outlive the result. Throws Refusal.
Binary read_binary(std::string_view bytes);
// One section of the container.
std::vector<Instruction> read_plain(std::string_view bytes);
std::vector<Instruction> read_compact(std::string_view bytes, uint32_t count);
// Every rule of the encoding: what is reserved is 0, codes are known. Throws Refusal.
void check_encoding(const Instruction& i, uint32_t tiles);

}  // namespace mrvlc::prove
