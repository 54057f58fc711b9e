// Sizes, types, addresses, waits and encoding of every instruction; ports and DDR ranges of the binary.
#include "validate.h"

#include <algorithm>
#include <array>

#include "mrvlc/cost/cost.h"
#include "mrvlc/cost/limits.h"
#include "mrvlc/support/diag/general.h"
#include "mrvlc/support/diag/sim.h"
#include "window.h"

namespace mrvlc::sim {
using namespace cost;
namespace {

using Problem = std::string;  // empty: none

constexpr const char* kReserved = "type i32 is reserved";

struct Rules {
  const isa::Binary& binary;
  const target::Machine& machine;
  std::array<size_t, size_t{isa::kMaxTiles} * isa::kQueues>
      counts{};  // instructions of each queue of the section

  bool known(isa::DataType t) const { return t != isa::DataType::I32; }

  Problem epilogue(const isa::Epilogue& e) const {
    bool table = isa::table_bytes(e.activation) > 0;
    return table && e.table % 16 != 0 ? "the table's address is not a multiple of 16" : "";
  }

  template <class C>
  Problem window(const C& c, uint32_t depth) const {
    for (uint32_t v : {c.in_h, c.in_w, c.kernel_h, c.kernel_w, c.stride_h, c.stride_w, c.dilation_h,
                       c.dilation_w, c.out_h, c.out_w, depth}) {
      if (v == 0) return "a size, stride or dilation is 0";
      if (v > kMaxWindowSize)
        return fmt::format("a size, stride or dilation is {}, at most {} is possible", v, kMaxWindowSize);
    }
    auto rows = static_cast<uint64_t>(rows_of(c).size()), cols = static_cast<uint64_t>(cols_of(c).size());
    if (saturating_product(rows, cols, depth) > uint64_t{4} * machine.ocm_bytes)
      return "the input window is larger than on-chip memory";
    return {};
  }

  Problem operator()(const isa::Sync&) const { return {}; }

  Problem operator()(const isa::Dma& d) const {
    uint64_t bytes = saturating_product(d.dims[0], d.dims[1], d.dims[2], d.run_bytes);
    if (bytes == 0) return "a size is 0";
    if (bytes > uint64_t{16} * machine.ocm_bytes) return fmt::format("{} bytes in one copy", bytes);
    if (d.dst_tiles >> binary.tiles != 0) return "a destination tile is not in use";
    return {};
  }

  Problem operator()(const isa::Conv& c) const {
    if (auto p = window(c, c.depthwise ? c.out_channels : c.channels); !p.empty()) return p;
    if (c.out_channels == 0 || c.out_channels > kMaxWindowSize)
      return "the number of output channels is impossible";
    uint64_t pixels = saturating_product(c.out_h, c.out_w), blocks = (uint64_t{c.out_channels} + 15) / 16;
    if (pixels > machine.accumulator_pixels)
      return fmt::format("{} output pixels, the accumulators hold {}", pixels, machine.accumulator_pixels);
    if (!(c.first && c.last) && pixels * blocks > machine.accumulator_pixels)
      return fmt::format("{} x {} kept sums, the accumulators hold {}", pixels, blocks,
                         machine.accumulator_pixels);
    uint64_t k = saturating_product(c.kernel_h, c.kernel_w, c.depthwise ? 1 : c.channels);
    if (k > machine.ocm_bytes) return "the reduction is longer than on-chip memory";
    if (saturating_product(k, pixels, c.out_channels) > kMaxMacs)
      return "too many multiply-adds in one instruction";
    if (!known(c.out_type)) return kReserved;
    for (isa::DataType t : {c.x_type, c.w_type})
      if (t != isa::DataType::F16 && !is_integer(t))
        return "input and weights are fp16 or integers of 8 bits";
    if (c.of_integers() && c.residual != isa::kNoAddress) return "sums of integers take no residual";
    return epilogue(c.epilogue);
  }

  Problem elements(const std::array<uint32_t, 5>& d) const {
    uint64_t n = saturating_product(d[0], d[1], d[2], d[3], d[4]);
    if (n == 0) return "a size is 0";
    return n > kMaxElements ? fmt::format("{} elements in one instruction", n) : "";
  }

  Problem operator()(const isa::Elementwise& e) const {
    if (auto p = elements(e.dims); !p.empty()) return p;
    int n = isa::operand_count(e.op);
    if (!known(e.dst.type) || (n >= 1 && !known(e.a.type)) || (n >= 2 && !known(e.b.type))) return kReserved;
    return epilogue(e.epilogue);
  }

  Problem operator()(const isa::Reduce& r) const {
    if (auto p = elements(r.dims); !p.empty()) return p;
    if (!known(r.dst.type) || !known(r.a.type)) return kReserved;
    uint64_t results = 1;
    for (size_t k = 0; k < 5; ++k)
      results = saturating_product(results, r.dst.strides[k] == 0 ? 1u : r.dims[k]);
    if (results > machine.ocm_bytes) return "more results than on-chip memory holds";
    return epilogue(r.epilogue);
  }

  Problem operator()(const isa::Pool& p) const {
    for (isa::DataType t : {p.x_type, p.out_type})
      if (t != isa::DataType::F16 && !is_integer(t)) return "pools are of fp16 or integers of 8 bits";
    if (auto problem = window(p, p.channels); !problem.empty()) return problem;
    if (saturating_product(p.out_h, p.out_w, p.channels) > machine.ocm_bytes)
      return "more results than on-chip memory holds";
    if (saturating_product(p.out_h, p.out_w, p.channels, p.kernel_h, p.kernel_w) > kMaxElements)
      return "too many elements in one instruction";
    return epilogue(p.epilogue);
  }

  bool in_ddr(const isa::Access& a) const {
    auto within = [&](uint64_t begin, uint64_t end) { return a.begin >= begin && a.end <= end; };
    const isa::Binary& b = binary;
    return (!a.write && within(0, b.weights.size())) || within(b.ddr_input_begin, b.ddr_input_end) ||
           within(b.ddr_output_begin, b.ddr_output_end) || within(b.ddr_scratch_begin, b.ddr_scratch_end);
  }

  Problem bounds(const isa::Instruction& i) const {
    for (const isa::Access& a : isa::accesses(i)) {
      const char* what = a.write ? "writes" : "reads";
      if (a.space == isa::Space::Ocm && a.end > binary.ocm_bytes)
        return fmt::format("{} OCM up to {:#x}, the binary declares {:#x}", what, a.end, binary.ocm_bytes);
      if (a.space == isa::Space::Ddr && !in_ddr(a))
        return fmt::format("{} DDR [{:#x}, {:#x}), outside every range", what, a.begin, a.end);
    }
    return {};
  }

  Problem waits(const isa::Instruction& i) const {
    if (i.waits.size() > isa::kMaxWaits) return "too many waits";
    for (const isa::Wait& w : i.waits) {
      if (w.tile >= binary.tiles || static_cast<size_t>(w.queue) >= isa::kQueues)
        return "waits for a queue not in use";
      size_t most = counts[size_t{w.tile} * isa::kQueues + static_cast<size_t>(w.queue)];
      if (w.count > most)
        return fmt::format("waits for {} completions of a queue of {} instructions", w.count, most);
    }
    return {};
  }

  // Whether the instruction could have come out of decode(): encoding it again must succeed.
  Problem encoding(const isa::Instruction& i) const {
    std::array<std::byte, isa::kInstructionBytes> bytes;
    isa::encode(i, bytes);
    auto back = isa::decode(bytes);
    return back.ok() ? Problem() : back.error().message;
  }

  Problem instruction(const isa::Instruction& i) const {
    if (i.tile >= binary.tiles) return fmt::format("tile {} is not in use", i.tile);
    if (auto p = waits(i); !p.empty()) return p;
    if (auto p = encoding(i); !p.empty()) return p;
    if (auto p = std::visit(*this, i.body); !p.empty()) return p;
    return bounds(i);
  }
};

Status validate_section(const isa::Binary& b, const target::Machine& m,
                        const std::vector<isa::Instruction>& program, const char* name) {
  Rules rules{b, m, {}};
  for (const isa::Instruction& i : program)
    if (i.tile < b.tiles && static_cast<size_t>(i.queue) < isa::kQueues)
      ++rules.counts[size_t{i.tile} * isa::kQueues + static_cast<size_t>(i.queue)];
  for (size_t i = 0; i < program.size(); ++i) {
    Problem p = rules.instruction(program[i]);
    if (!p.empty()) return make_diag<DiagCode::MRV0703>(name, i, p);
  }
  return {};
}

Diag unfit(std::string what) {
  return make_diag<DiagCode::MRV0704>(std::move(what));
}

Status validate_ports(const std::vector<isa::Port>& ports, uint64_t begin, uint64_t end) {
  for (const isa::Port& p : ports) {
    const uint32_t element = isa::port_type_bytes(p.inner_type);
    if (element == 0) return unfit("a port has an unknown type");
    uint64_t bytes = saturating_product(p.dims[0], p.dims[1], p.dims[2], p.dims[3], element);
    if (p.ddr_offset < begin || p.ddr_offset > end || bytes > end - p.ddr_offset)
      return unfit("a port lies outside its DDR range");
  }
  return {};
}

Status validate_memory(const isa::Binary& b) {
  struct Part {
    uint64_t begin, end;
  };
  const Part parts[] = {{0, b.weights.size()},
                        {b.ddr_input_begin, b.ddr_input_end},
                        {b.ddr_output_begin, b.ddr_output_end},
                        {b.ddr_scratch_begin, b.ddr_scratch_end}};
  uint64_t total = 0;
  for (const Part& p : parts) {
    if (p.end < p.begin || p.end > uint64_t{1} << 48) return unfit("a DDR range is impossible");
    total += &p == parts ? 0 : p.end - p.begin;
    for (const Part* q = parts; q < &p; ++q)
      if (p.begin < q->end && q->begin < p.end) return unfit("DDR ranges overlap");
  }
  if (total > kMaxDdrBytes) return make_diag<DiagCode::MRV0008>(total, kMaxDdrBytes);
  MRVLC_TRY(validate_ports(b.inputs, b.ddr_input_begin, b.ddr_input_end));
  return validate_ports(b.outputs, b.ddr_output_begin, b.ddr_output_end);
}

}  // namespace

Status validate(const isa::Binary& b, const target::Machine& m) {
  bool possible = std::ranges::find(m.tile_counts, uint32_t{b.tiles}) != m.tile_counts.end();
  if (!possible || b.tiles > isa::kMaxTiles) return unfit(fmt::format("{} tiles", b.tiles));
  if (b.ocm_bytes > m.ocm_bytes)
    return unfit(fmt::format("{} bytes of OCM, a tile has {}", b.ocm_bytes, m.ocm_bytes));
  if (b.inputs.size() > m.max_ports || b.outputs.size() > m.max_ports)
    return unfit(
        fmt::format("{} inputs and {} outputs, at most {}", b.inputs.size(), b.outputs.size(), m.max_ports));
  MRVLC_TRY(validate_memory(b));
  MRVLC_TRY(validate_section(b, m, b.init, "init"));
  MRVLC_TRY(validate_section(b, m, b.main, "main"));
  return validate_section(b, m, b.finish, "finish");
}

}  // namespace mrvlc::sim
