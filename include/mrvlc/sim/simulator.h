// The accelerator, simulated: bit-exact and cycle-approximate. Reads only the encoded binary and the machine
// description.
#pragma once
#include <cstdint>
#include <functional>
#include <span>
#include <string>
#include <vector>

#include "mrvlc/isa/container.h"
#include "mrvlc/target/machine.h"

namespace mrvlc::sim {

enum class Section : uint8_t { Init = 0, Main = 1, Finish = 2 };

// What one executed instruction did in simulated time; cycles since its section began.
struct Event {
  Section section = Section::Main;
  uint32_t instruction = 0;  // index in its section
  uint8_t tile = 0;
  isa::Queue queue = isa::Queue::DmaIn;
  uint64_t ready = 0;  // its queue was free
  uint64_t start = 0;  // its waits were met
  uint64_t end = 0;
  uint64_t macs = 0;                                 // nominal: taps in the padding count
  uint64_t ddr_read_bytes = 0, ddr_write_bytes = 0;  // bursts counted whole
};

// Two instructions that touch the same granule, at least one writing, and that neither their queue nor a
// chain of waits orders. Found whether or not they collided in this run's timing.
struct Hazard {
  Section section = Section::Main;
  uint32_t first = 0, second = 0;  // instruction indices, program order
  std::string what;  // "read of OCM tile 2 [0x1000, 0x1040) before instruction 17 has written it"
};

struct Report {
  uint64_t init_cycles = 0, main_cycles = 0, finish_cycles = 0;
  uint64_t total_cycles() const { return init_cycles + main_cycles + finish_cycles; }
  uint64_t macs = 0, ddr_read_bytes = 0, ddr_write_bytes = 0;
  double pod_utilization = 0;   // busy POD cycles of all used tiles / (tiles x main cycles)
  std::vector<Event> events;    // in order of start time (ties: instruction index)
  std::vector<Hazard> hazards;  // at most 16 are kept
};

struct Options {
  bool functional = true;  // false: timing only
  bool detect_hazards = true;
  bool keep_events = true;
};

class Simulator {
 public:
  // Rejects binaries that do not fit the machine (tiles, OCM bounds, accumulator limits): a diagnostic, never
  // a crash.
  static Result<Simulator> create(isa::Binary binary, target::Machine machine);
  // inputs[i]: bytes of port i in its inner type and stored layout (see isa::Port); outputs are resized. DDR
  // scratch and OCM start filled with a NaN pattern so that a read of what nobody wrote shows.
  Result<Report> run(std::span<const std::span<const std::byte>> inputs, std::vector<std::string>& outputs,
                     const Options& options = {});
  Result<Report> time_only();
  const isa::Binary& binary() const { return binary_; }

 private:
  Simulator(isa::Binary binary, target::Machine machine)
      : binary_(std::move(binary)), machine_(std::move(machine)) {}
  isa::Binary binary_;
  target::Machine machine_;
};

}  // namespace mrvlc::sim
