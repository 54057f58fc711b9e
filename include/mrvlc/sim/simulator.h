// The accelerator, simulated: bit-exact and cycle-approximate. Reads only the encoded binary and the machine
// description.
#pragma once
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "mrvlc/cost/timing.h"
#include "mrvlc/isa/container.h"
#include "mrvlc/target/machine.h"

namespace mrvlc::sim {

// What a report speaks of is the cost model's, which the compiler plans with as well.
using cost::Bound;
using cost::bound_name;
using cost::critical_path;
using cost::Event;
using cost::InstructionSpan;
using cost::kBounds;
using cost::kNoInstruction;
using cost::kNoLayer;
using cost::layer_times;
using cost::LayerTime;
using cost::PathStep;
using cost::Section;
using cost::time_program;
using cost::Timing;

// Two instructions that touch the same granule, at least one writing, and that neither their queue nor a
// chain of waits orders. Found whether or not they collided in this run's timing.
struct Hazard {
  Section section = Section::Main;
  uint32_t first = 0, second = 0;  // instruction indices, program order
  std::string what;  // "read of OCM tile 2 [0x1000, 0x1040) before instruction 17 has written it"
};

// Sticky flags of a run; docs/isa.md, Flags.
enum class Flag : uint32_t { Overflow = 1, Invalid = 2 };

struct Report {
  uint64_t init_cycles = 0, main_cycles = 0, finish_cycles = 0;
  uint64_t total_cycles() const { return init_cycles + main_cycles + finish_cycles; }
  uint64_t macs = 0, ddr_read_bytes = 0, ddr_write_bytes = 0;
  uint64_t fetched_bytes = 0;   // of code, not among ddr_read_bytes
  uint32_t flags = 0;           // bits of Flag, of all sections; 0 without functional simulation
  double pod_busy = 0;          // busy POD cycles of all used tiles / (tiles x main cycles)
  std::vector<Event> events;    // in order of start time (ties: instruction index)
  std::vector<Hazard> hazards;  // at most 16 are kept
};

struct Options {
  bool functional = true;  // false: timing only
  // Without, the functional simulation runs on one thread: only a program without hazards may be executed in
  // any order that its queues and waits allow.
  bool detect_hazards = true;
  bool keep_events = true;
  // Threads of the functional simulation; 0: one for each processor. Outputs never depend on it.
  unsigned jobs = 0;
};

class Simulator {
 public:
  // Rejects binaries that do not fit the machine (tiles, OCM bounds, accumulator limits): a diagnostic, never
  // a crash.
  static Result<Simulator> create(isa::Binary binary, target::Machine machine);
  // inputs[i]: bytes of port i in its inner type and stored layout (see isa::Port); outputs are resized. DDR
  // scratch and OCM start filled with a NaN pattern so that a read of what nobody wrote shows. Timing and
  // hazards do not depend on data: runs with the default options but keep_events = false look for them once.
  Result<Report> run(std::span<const std::span<const std::byte>> inputs, std::vector<std::string>& outputs,
                     const Options& options = {});
  Result<Report> time_only();
  // Cycles of all sections on another machine that could run the same binary: its timing differs alone.
  Result<uint64_t> cycles_on(const target::Machine& other) const;
  const isa::Binary& binary() const { return binary_; }

 private:
  Simulator(isa::Binary binary, target::Machine machine)
      : binary_(std::move(binary)), machine_(std::move(machine)) {}
  isa::Binary binary_;
  target::Machine machine_;
  std::optional<Report> checked_;  // hazards looked for, without events: the same for every run
};

}  // namespace mrvlc::sim
