// When each instruction of a program runs, what decided it, and to which layer and resource every cycle
// belongs. The model is docs/timing.md.
#pragma once
#include <array>
#include <cstdint>
#include <span>
#include <vector>

#include "mrvlc/isa/code.h"
#include "mrvlc/isa/isa.h"
#include "mrvlc/support/result.h"
#include "mrvlc/target/machine.h"

namespace mrvlc::cost {

enum class Section : uint8_t { Init = 0, Main = 1, Finish = 2 };

// What a cycle was spent on.
enum class Bound : uint8_t {
  Matrix = 0,  // the POD's own work
  Vector = 1,  // the PE's own work
  Port = 2,    // a tile's OCM ports or the link into it
  Ddr = 3,     // the DDR channel
  Wait = 4,    // nothing moved: instruction overhead, DDR latency
  Fetch = 5,   // the instruction was not in its queue yet
};
inline constexpr size_t kBounds = 6;
// "matrix", "vector", "port", "ddr", "wait", "fetch".
const char* bound_name(Bound bound);

inline constexpr uint32_t kNoInstruction = 0xffffffffu;
inline constexpr uint32_t kNoLayer = 0xffffffffu;

// What one executed instruction did in simulated time; cycles since its section began.
// ready <= met <= start <= begin <= channel <= moved <= end.
struct Event {
  Section section = Section::Main;
  isa::Queue queue = isa::Queue::DmaIn;
  uint8_t tile = 0;
  Bound bound = Bound::Wait;  // what decided `moved`: the time from begin to moved is spent on it
  bool held = false;          // completed later than it could because its queue completes in order
  uint32_t instruction = 0;   // index in its section
  bool behind = false;        // a copy had the DDR channel at `start`
  // The instruction that decided `begin`: if `behind`, the copy that had the DDR channel before; else what
  // decided `met`: the one before in its queue, or the one it waited for longest (at equal times the queue).
  // None: the section's begin.
  uint32_t cause = kNoInstruction;
  uint64_t ready = 0;         // its queue was free
  uint64_t met = 0;           // and its waits were met
  uint64_t start = 0;         // and it was in its queue
  uint64_t begin = 0;         // the DDR channel took it; `start` where DDR is not involved
  uint64_t channel = 0;       // the DDR channel was free again; `begin` where DDR is not involved
  uint64_t moved = 0;         // its work was done, its last byte had passed every path
  uint64_t end = 0;           // its semaphore counted it
  uint64_t macs = 0;          // nominal: taps in the padding count
  uint64_t integer_macs = 0;  // of these, products of integers
  uint64_t ddr_read_bytes = 0, ddr_write_bytes = 0;  // bursts counted whole
};

struct Timing {
  uint64_t cycles = 0;
  std::vector<Event> events;     // by instruction
  std::vector<uint32_t> issued;  // instructions by start time, each after all it waits for
  uint64_t fetched_bytes = 0;  // of code, over DDR; bursts counted whole; 0 where the machine does not count
};

// Times one section; its instructions must fit the machine (tiles, queues and waits are those the instruction
// set allows: Simulator::create checks). Nearly linear in the number of instructions, half a
// microsecond each; nothing is executed and hazards are not looked for. A section that cannot finish is a
// diagnostic (MRV0705) that names an instruction and what it waits for.
// `encoding`: of the code that is fetched, where the machine counts that.
Result<Timing> time_program(std::span<const isa::Instruction> program, const target::Machine& machine,
                            Section section = Section::Main, isa::Encoding encoding = isa::Encoding::Compact);

// Instructions by start time, then index.
std::vector<uint32_t> by_start(const Timing& timing);

// Instructions [begin, end) of a section belong to `layer`.
struct InstructionSpan {
  Section section = Section::Main;
  uint32_t begin = 0, end = 0;
  uint32_t layer = 0;
};

// A layer's part of one section.
struct LayerTime {
  uint32_t layer = 0;
  uint64_t cycles = 0;  // of the section, by the critical path: the layers' cycles add up to the section's
  std::array<uint64_t, kBounds> by_bound{};  // by Bound; adds up to `cycles`
  std::array<uint64_t, isa::kQueues>
      busy{};  // by queue, all tiles: POD, PE: start to end; DMA: begin to moved
  uint64_t first_start = UINT64_MAX, last_end = 0;  // UINT64_MAX, 0: no instruction in this section
  uint64_t instructions = 0;
  uint64_t macs = 0, integer_macs = 0, ddr_read_bytes = 0, ddr_write_bytes = 0;
  uint8_t tiles = 0;  // bit mask of tiles whose engines it uses
  // What most of its cycles were spent on; Wait for a layer without cycles of its own (hidden behind others).
  Bound bound() const;
};

// Walks the critical path of a section backwards from its last completion and gives each of its cycles to the
// layer and bound of the instruction it was spent on. `events`: Report::events or Timing::events (any order,
// other sections are skipped, all events of the section). One entry for each layer named in `spans` for this
// section, in order of layer number, and a last one, kNoLayer, if some instruction lies in no span.
std::vector<LayerTime> layer_times(std::span<const Event> events, Section section,
                                   std::span<const InstructionSpan> spans);

// The critical path itself, in order of time: adjoining steps that cover the section from 0 to its last
// completion.
struct PathStep {
  uint32_t instruction = 0;
  Bound bound = Bound::Wait;
  uint64_t begin = 0, end = 0;
};
std::vector<PathStep> critical_path(std::span<const Event> events, Section section);

}  // namespace mrvlc::cost
