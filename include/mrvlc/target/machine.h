// The machine description: every number of the accelerator, read from a target file (JSON), never written in
// code.
#pragma once
#include <cstdint>
#include <filesystem>
#include <string>
#include <string_view>
#include <vector>

#include "mrvlc/support/result.h"

namespace mrvlc::target {

// The largest encoding of an instruction fits, and what is read while it waits for its last bytes.
inline constexpr uint32_t kLeastFetchBuffer = 1024;

struct Machine {
  std::string name;  // as --target takes it
  std::string description;
  uint32_t max_tiles = 8;
  std::vector<uint32_t> tile_counts;  // {1, 2, 4, 8}
  uint32_t ocm_bytes = 0;             // a tile
  uint32_t ocm_alignment = 0;         // of buffers
  uint32_t fp16_macs = 0;             // MAC/cycle/tile
  uint32_t depthwise_macs = 0;        // MAC/cycle/tile, fp16 depthwise on the POD
  uint32_t int8_macs = 0;             // MAC/cycle/tile, integers of 8 bits
  uint32_t int8_depthwise_macs = 0;   // the same, depthwise
  uint32_t accumulator_pixels = 0;    // pixels x 16 channels of fp32 accumulators
  uint32_t weight_block_cycles =
      0;  // least cycles a 16x16 weight block occupies the POD (double-buffered load)
  uint32_t strided_weight_block_cycles = 0;  // same when weights are not packed (w_n != 2 or w_k != 32)
  uint32_t pe_lanes = 0;
  uint32_t pe_slow_factor = 0;                       // divide, square root: cycles per lane group
  uint32_t ocm_read_bytes = 0, ocm_write_bytes = 0;  // a cycle, per tile
  uint32_t ddr_bytes = 0;                            // a cycle, all tiles
  uint32_t ddr_latency = 0;                          // cycles
  uint32_t ddr_burst = 0;                            // bytes
  uint32_t tile_link_bytes = 0;                      // a cycle into each tile
  uint32_t instruction_overhead = 0;                 // cycles from start to first result, each engine
  // What files of before say nothing of takes nothing: the values here.
  uint32_t ddr_efficiency = 100;   // percent of ddr_bytes that there are on average
  uint32_t sync_latency = 0;       // cycles from a completion until other queues see it
  uint32_t accumulation_fill = 0;  // cycles from a product's operands to its sum
  uint32_t reduction_gap = 0;      // least cycles from a reduction block to the next one of the same sums
  uint32_t pixel_block = 1;        // POD instructions take as many pixels as the next multiple of this
  uint32_t queue_depth = 0;        // instructions of a queue that wait for their start; 0: any number
  uint32_t fetch_buffer = 0;       // bytes of instructions that are read ahead; 0: reading them takes nothing

  // Of the DDR channel: bytes a cycle, and whole cycles of so many bytes.
  double ddr_rate() const { return ddr_bytes * (ddr_efficiency / 100.0); }
  uint64_t ddr_cycles(uint64_t bytes) const {
    const uint64_t rate = uint64_t{ddr_bytes} * ddr_efficiency;
    return (bytes * 100 + rate - 1) / rate;
  }

  uint32_t max_layers = 0, max_ports = 0, max_batch = 0;
  double clock_ghz = 0;
  double launch_us =
      0;  // from the host's call until the accelerator begins, and back; 0 where nothing is said

  // (field, "public" | "assumed", where it is from), in file order; for `mrvlc targets show`.
  struct Provenance {
    std::string field, value, source, note;
    std::string pessimistic = {};  // the value that a doubter would assume; empty: the same
  };
  std::vector<Provenance> provenance;
  std::vector<std::pair<uint32_t Machine::*, uint32_t>> doubts;  // fields with another pessimistic value
};

// The same machine with its pessimistic values, the conservative machine model: what binaries are timed by
// once more.
Machine pessimistic(const Machine& machine);
// Which values of the fields schedules are chosen for.
enum class Column : uint8_t { Default = 0, Conservative = 1, Both = 2 };
inline constexpr std::string_view kColumns[] = {"default", "conservative", "both"};

// `machine` with other values of fields that cycles depend on: "FIELD=VALUE,...", where the word
// `conservative` stands for all pessimistic ones. Errors name `option` (MRV0004).
Result<Machine> changed(Machine machine, std::string_view changes, std::string_view option);

// Checks every field: missing, unknown, wrong type or out of range is a diagnostic.
Result<Machine> parse_machine(std::string_view json, std::string_view shown_name);
// Built-in targets by name, in order of name; their text is compiled in.
std::vector<std::string> builtin_targets();
// `name` looked up in `search` folders (NAME/target.json), then among the built-in ones.
Result<Machine> load_machine(std::string_view name, const std::vector<std::filesystem::path>& search);
// The target's JSON text as found.
Result<std::string> target_text(std::string_view name, const std::vector<std::filesystem::path>& search);

}  // namespace mrvlc::target
