// What the reader (container_read.cpp) takes and the fields hold, asked before a binary is written.
#include "mrvlc/isa/container_check.h"

#include <algorithm>
#include <array>
#include <cmath>

#include "container_layout.h"
#include "mrvlc/support/diag/accel_size.h"

namespace mrvlc::isa {
namespace {

using namespace layout;

constexpr uint64_t kField32 = UINT32_MAX, kAddresses = (uint64_t{1} << 48) - 1;

Status at_most(std::string_view what, uint64_t actual, uint64_t most) {
  if (actual <= most) return {};
  return make_diag<DiagCode::MRV0510>(what, actual, most);
}

struct NamedRange {
  const char* name;
  uint64_t begin, end;
};

Status check_sizes(const Binary& b) {
  uint64_t code = 0, instructions = 0;
  for (const auto* program : {&b.init, &b.main, &b.finish}) {
    code += std::max<uint64_t>(program->size(), 1) * kInstructionBytes;
    instructions += program->size();
  }
  if (b.encoding == Encoding::Compact)
    MRVLC_TRY(at_most("the number of instructions", instructions, kMaxCompactInstructions));
  if (b.encoding == Encoding::Plain)
    MRVLC_TRY(at_most("the size of the code", code, kField32 - kMetadataBytes));
  MRVLC_TRY(at_most("the size of the weights", b.weights.size(), kField32));
  MRVLC_TRY(at_most("the number of inputs", b.inputs.size(), kMaxPorts));
  MRVLC_TRY(at_most("the number of outputs", b.outputs.size(), kMaxPorts));
  MRVLC_TRY(at_most("the last tile", uint64_t{b.tiles} - 1, kMaxTiles - 1));
  return b.batch > 0 ? Status() : Status(make_diag<DiagCode::MRV0510>("the batch", 0, 255));
}

Status check_ranges(const std::array<NamedRange, 4>& ranges) {
  for (const NamedRange& r : ranges) {
    MRVLC_TRY(at_most(fmt::format("the end of the {}", r.name), r.end, kAddresses));
    MRVLC_TRY(at_most(fmt::format("the beginning of the {}", r.name), r.begin, r.end));
    for (const NamedRange* other = ranges.data(); other != &r; ++other)
      if (r.begin < other->end && other->begin < r.end)
        return make_diag<DiagCode::MRV0510>(fmt::format("the beginning of the {}", other->name), other->begin,
                                            r.begin);
  }
  return {};
}

// All ports of one direction.
Status check_ports(const std::vector<Port>& ports, const NamedRange& range) {
  uint64_t all = 0;
  for (const Port& p : ports) {
    if (port_type_bytes(p.inner_type) == 0 || port_type_bytes(p.outer_type) == 0)
      return make_diag<DiagCode::MRV0510>("the type of a port", p.inner_type, 10);
    uint64_t elements = 1;
    for (uint32_t d : p.dims) {
      MRVLC_TRY(at_most("the number of a port's elements", d == 0 ? UINT64_MAX : elements * d, kField32));
      elements *= d;
    }
    uint64_t bytes = elements * port_type_bytes(p.inner_type);
    all += bytes;
    MRVLC_TRY(at_most("the beginning of a port's range", range.begin, p.ddr_offset));
    MRVLC_TRY(at_most("the end of a port", p.ddr_offset + bytes, range.end));
    if (!std::isfinite(p.scale)) return make_diag<DiagCode::MRV0510>("the scale of a port", p.scale, 1);
  }
  return at_most(fmt::format("the size of all {}", range.name), all, kField32);
}

}  // namespace

Status check_container(const Binary& b) {
  MRVLC_TRY(check_sizes(b));
  const std::array<NamedRange, 4> ranges = {NamedRange{"weights", 0, std::max<uint64_t>(b.weights.size(), 1)},
                                            {"inputs", b.ddr_input_begin, b.ddr_input_end},
                                            {"outputs", b.ddr_output_begin, b.ddr_output_end},
                                            {"scratch memory", b.ddr_scratch_begin, b.ddr_scratch_end}};
  MRVLC_TRY(check_ranges(ranges));
  MRVLC_TRY(check_ports(b.inputs, ranges[1]));
  return check_ports(b.outputs, ranges[2]);
}

}  // namespace mrvlc::isa
