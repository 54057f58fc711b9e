// Reports for people: what a compile knows about time and memory as plain data, and its writers: tables of
// text and report.html, one file that needs no network. Texts may hold any bytes; the writers escape them.
#pragma once
#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "mrvlc/report/graph.h"

namespace mrvlc::report {

// What a cycle is spent on, in the order of the cost model's bounds (docs/timing.md).
inline constexpr size_t kBounds = 6;
inline constexpr size_t kQueues = 4;                    // DMA in, DMA out, POD, PE
const std::array<const char*, kBounds>& bound_names();  // for people
const std::array<const char*, kBounds>& bound_keys();   // in JSON
const std::array<const char*, kQueues>& queue_names();

struct Layer {
  uint32_t number = 0;
  std::string operators;        // of ONNX: "conv_7 (Conv) + relu_7 (Relu)"
  std::string kind, rule, cut;  // cut over tiles; empty when not known
  uint64_t begin = 0, end = 0;  // first start and last end in main, cycles since main began; both 0: no code
  uint64_t cycles = 0;          // its share of the region's time; they add up to the cycles of the region
  std::array<uint64_t, kBounds> bound = {};  // the same cycles by what bounds them
  std::array<uint64_t, kQueues> busy = {};   // engine cycles, all tiles
  // Multiply-accumulates of the operators, and those that instructions make: fewer where nobody reads a
  // result, more where tiles make the same rows.
  uint64_t macs = 0, executed_macs = 0;
  uint64_t ddr_read_bytes = 0, ddr_write_bytes = 0, weights_bytes = 0;
  double mac_utilization = 0;  // cycles that executed_macs take at their peak rates / cycles of all tiles
};

// The kind with most cycles; kBounds when there are none.
size_t main_bound(const std::array<uint64_t, kBounds>& bound);

// An instruction on its engine; cycles since init began (init, main and finish follow each other). Times as
// in the simulator's events.
struct Bar {
  uint64_t start = 0, begin = 0, moved = 0, end = 0;
  uint64_t wait = 0;         // cycles its free engine waited for it to become ready
  uint64_t bytes = 0;        // of DDR
  uint32_t instruction = 0;  // index in its section
  uint32_t layer = 0;        // index into Region::layers
  uint32_t count = 1;        // instructions it stands for
  uint8_t tile = 0, queue = 0, bound = 0;
  uint8_t section = 1;  // 0 init, 1 main, 2 finish
};

// A stretch of the critical path: what bounds the region then, and for which layer.
struct Stretch {
  uint64_t start = 0, end = 0;
  uint32_t layer = 0;
  uint8_t bound = 0;
};

// A range of on-chip memory held for a while.
struct MemoryUse {
  std::string name;
  uint8_t kind = 0;              // 0 activation, 1 weights, 2 workspace
  uint8_t tiles = 0;             // bit t: in tile t
  uint32_t begin = 0, end = 0;   // bytes
  uint64_t start = 0, stop = 0;  // cycles, as in Bar
  uint32_t layer = 0;
};

// Of instructions [begin, end), as a target says that tells no more; they may overlap in time.
struct RangeTime {
  uint64_t begin = 0, end = 0, cycles = 0;
  uint32_t layer = 0, expr = 0;
};

struct Region {
  uint32_t id = 0;
  std::string file;
  uint32_t tiles = 1;
  bool detailed = true;  // false: its cycles alone are known, or nothing (0)
  uint64_t init_cycles = 0, main_cycles = 0, finish_cycles = 0, lower_bound_cycles = 0;
  uint64_t pessimistic_cycles = 0;       // of the same binary on the machine that a doubter would assume
  uint64_t macs = 0, executed_macs = 0;  // as in Layer
  uint64_t ddr_read_bytes = 0, ddr_write_bytes = 0, weights_bytes = 0;
  uint64_t fetched_bytes = 0;  // of code over DDR, not among ddr_read_bytes; 0: not counted
  uint64_t ocm_peak_bytes = 0, ocm_highest_address_bytes = 0;  // a tile: held at once; as far up as is used
  double pod_utilization = 0;                                  // the same of all layers
  double pod_busy = 0;  // cycles of main in which matrix units work, of all tiles
  std::vector<Layer> layers;
  std::vector<Bar> bars;
  std::vector<Stretch> path;
  std::vector<MemoryUse> memory;
  std::vector<RangeTime> ranges;
  uint64_t cycles() const { return init_cycles + main_cycles + finish_cycles; }
};

// An ONNX node that does not run on the accelerator alone.
struct Fallback {
  std::string id, name, op_type, reason;
};

// What the host does in order: `nodes` CPU nodes, or a region.
struct Step {
  bool region = false;
  uint32_t index = 0;  // into Page::regions
  uint32_t nodes = 0;
  double seconds = 0;  // expected
};

// Expected seconds of a run, by who spends them.
struct ExpectedRun {
  bool known = false;  // false: a target does not tell its times
  double seconds = 0, host_only = 0, device = 0, launches = 0, borders = 0, host = 0;
};

struct Page {
  std::string model, sha256, target, precision;
  uint32_t tiles = 0;
  uint32_t ocm_bytes = 0;  // a tile
  double clock_ghz = 0;
  uint64_t onnx_nodes = 0, on_accelerator = 0, on_cpu = 0, folded = 0;
  double mac_share_accelerator = 0;
  uint64_t arena_bytes = 0, arena_lower_bound_bytes = 0, host_weights_bytes = 0;
  uint64_t macs = 0, host_macs = 0;  // of the model; of its nodes on the CPU
  uint64_t conversion_bytes = 0;     // read and written by the host at the borders of regions
  double conversion_seconds = 0;     // estimated
  ExpectedRun run;
  std::vector<std::string> expected;   // lines: what the parts of the partition are expected to take
  std::string expected_error;          // "0.0007", "infinite" or "not known", of fp16 against float32
  std::string accuracy;                // how it was found, or why not
  std::optional<GraphDocument> graph;  // nothing where it is larger than a picture can be
  std::vector<Region> regions;
  std::vector<Step> steps;
  std::vector<Fallback> fallbacks;
  uint64_t more_fallbacks = 0;  // that are not in the list
};

// Above these many, report.html merges or leaves out, and says so.
struct Limits {
  size_t bars = 200000;
  size_t stretches = 200000;
  size_t memory_uses = 100000;
  size_t fallbacks = 2000;
  size_t graph_items = 5000;
  size_t text = 300;  // bytes of a name
};

// The page, complete. The same data gives the same bytes.
std::string html(const Page& page, const Limits& limits = {});

// A line for each region and a table of layers, those with most cycles first; `rows` at most in a region.
std::string profile_text(const std::vector<Region>& regions, size_t rows);

}  // namespace mrvlc::report
