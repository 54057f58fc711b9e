// The bytes of a region: a program with its constants, and where all lies in memory (docs/vta.md).
#pragma once
#include <cstdint>
#include <vector>

#include "machine.h"

namespace vta {

enum SectionKind : uint32_t { kInstructions = 0, kMicroOps = 1, kWeights = 2, kBiases = 3, kTensor = 4 };
inline constexpr uint32_t kNoSection = 0xffff;

struct Section {
  uint32_t kind = kTensor;
  uint64_t offset = 0, bytes = 0;  // in the memory of the region
};

// An input or output: row-major int8 on the host, blocks of 16 channels in its section.
struct Port {
  uint32_t section = 0;
  uint32_t last = 0;  // channels are the last dimension
  uint32_t n = 1, c = 1, h = 1, w = 1;
  uint64_t bytes() const { return uint64_t{n} * c * h * w; }
};

struct Image {
  uint32_t board = 0;
  uint64_t memory_bytes = 0;
  std::vector<Section> sections;  // the four with contents first, then one for each tensor
  std::vector<Port> inputs, outputs;
  std::vector<Instruction> instructions;  // addresses count from the begin of the region's memory
  std::vector<uint32_t> section_of;       // of each instruction, or kNoSection
  std::vector<uint32_t> uops;
  std::vector<int8_t> weights;
  std::vector<int32_t> biases;
};

std::vector<uint8_t> write_image(const Image& image);
// Throws std::runtime_error where the bytes are none.
Image read_image(const uint8_t* bytes, uint64_t count);

}  // namespace vta
