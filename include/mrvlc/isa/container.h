// The model binary: 8192 bytes of metadata (format of the CN10K driver, version 2.3.0.1), then the sections
// init, main, finish, weights-and-bias. Written by the compiler, read by the simulator and by tools. Offsets:
// docs/isa.md.
#pragma once
#include <array>
#include <cstdint>
#include <iterator>
#include <string>
#include <vector>

#include "mrvlc/isa/code.h"
#include "mrvlc/isa/isa.h"

namespace mrvlc::isa {

inline constexpr size_t kMetadataBytes = 8192;
inline constexpr size_t kMaxPorts = 32;
enum class Architecture : uint32_t { Undefined = 0, M1k = 1, Mlip = 128, Experimental = 256 };

// Type numbers of ports in the container that the compiler writes; docs/isa.md has the others.
inline constexpr uint8_t kPortI8 = 1, kPortU8 = 2, kPortF16 = 7, kPortF32 = 8;
// Bytes of an element; 0: no such type.
constexpr uint32_t port_type_bytes(uint8_t type) {
  constexpr uint32_t kBytes[] = {0, 1, 1, 2, 2, 4, 4, 2, 4, 8, 8};
  return type < std::size(kBytes) ? kBytes[type] : 0;
}

// An input or output of the binary: `elements` values of `inner` type at ddr_offset; the host converts from
// `outer`.
struct Port {
  std::string name;  // up to 15 characters are kept
  uint8_t outer_type = kPortF32;
  uint8_t inner_type = kPortF16;
  float scale = 1;
  uint8_t format = 2;                           // 1 NCHW, 2 NHWC (inputs)
  std::array<uint32_t, 4> dims = {1, 1, 1, 1};  // as stored, outermost first (w, x, y, z of the format)
  uint64_t ddr_offset = 0;
  uint32_t elements() const { return dims[0] * dims[1] * dims[2] * dims[3]; }
  uint64_t bytes() const { return uint64_t{elements()} * port_type_bytes(inner_type); }
};

struct Binary {
  Architecture architecture = Architecture::Experimental;
  Encoding encoding = Encoding::Compact;  // of the three sections
  std::string name;                       // up to 63 characters are kept
  uint8_t tiles = 1;
  uint8_t batch = 1;
  uint32_t layers = 0;
  uint32_t ocm_bytes = 0;  // highest OCM address used, plus one
  std::vector<Port> inputs, outputs;
  std::vector<Instruction> init, main, finish;
  std::string weights;                              // at DDR offset 0
  uint64_t ddr_input_begin = 0, ddr_input_end = 0;  // ranges of the model's DDR address space
  uint64_t ddr_output_begin = 0, ddr_output_end = 0;
  uint64_t ddr_scratch_begin = 0, ddr_scratch_end = 0;
};

std::string write_container(const Binary& binary);
// Checks magic, version, both CRCs, sizes, section offsets against the file, port types, instruction
// encodings.
Result<Binary> read_container(std::string_view bytes);

}  // namespace mrvlc::isa
