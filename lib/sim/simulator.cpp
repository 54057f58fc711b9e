// Sections timed, looked through for hazards and executed; inputs to DDR, outputs from it.
#include "mrvlc/sim/simulator.h"

#include <algorithm>
#include <cstring>
#include <thread>

#include "execute.h"
#include "hazard.h"
#include "mrvlc/cost/timing.h"
#include "mrvlc/support/diag/sim.h"
#include "validate.h"

namespace mrvlc::sim {
using cost::by_start;
namespace {

constexpr Section kSections[] = {Section::Init, Section::Main, Section::Finish};

const std::vector<isa::Instruction>& program_of(const isa::Binary& b, Section s) {
  return s == Section::Init ? b.init : s == Section::Main ? b.main : b.finish;
}

uint64_t& cycles_of(Report& r, Section s) {
  return s == Section::Init ? r.init_cycles : s == Section::Main ? r.main_cycles : r.finish_cycles;
}

void add_events(Report& report, const Timing& timing, bool keep) {
  report.fetched_bytes += timing.fetched_bytes;
  for (const Event& e : timing.events) {
    report.macs += e.macs;
    report.ddr_read_bytes += e.ddr_read_bytes;
    report.ddr_write_bytes += e.ddr_write_bytes;
  }
  if (!keep) return;
  report.events.reserve(report.events.size() + timing.events.size());
  for (uint32_t i : by_start(timing)) report.events.push_back(timing.events[i]);
}

double pod_busy(const std::vector<isa::Instruction>& program, const Timing& timing, unsigned tiles) {
  uint64_t busy = 0;
  for (const Event& e : timing.events)
    if (std::holds_alternative<isa::Conv>(program[e.instruction].body)) busy += e.end - e.start;
  double all = static_cast<double>(timing.cycles) * tiles;
  return all > 0 ? static_cast<double>(busy) / all : 0;
}

Result<Report> time_sections(const isa::Binary& binary, const target::Machine& machine,
                             const Options& options) {
  Report report;
  for (Section s : kSections) {
    const auto& program = program_of(binary, s);
    MRVLC_ASSIGN(Timing timed, time_program(program, machine, s, binary.encoding));
    cycles_of(report, s) = timed.cycles;
    add_events(report, timed, options.keep_events);
    if (s == Section::Main) report.pod_busy = pod_busy(program, timed, binary.tiles);
    if (options.detect_hazards) find_hazards(binary, s, program, timed, report.hazards);
  }
  return report;
}

Status check_inputs(const isa::Binary& b, std::span<const std::span<const std::byte>> inputs) {
  if (inputs.size() != b.inputs.size()) return make_diag<DiagCode::MRV0707>(inputs.size(), b.inputs.size());
  for (size_t i = 0; i < inputs.size(); ++i)
    if (inputs[i].size() != b.inputs[i].bytes())
      return make_diag<DiagCode::MRV0706>(i, inputs[i].size(), b.inputs[i].bytes());
  return {};
}

unsigned threads_of(const Options& options, const Report& report) {
  // Threads keep to queues and waits alone: bits are the same for any number where there is no hazard.
  if (!options.detect_hazards || !report.hazards.empty()) return 1;
  return options.jobs != 0 ? options.jobs : std::max(1u, std::thread::hardware_concurrency());
}

// The flags of all sections.
uint32_t execute_all(const isa::Binary& b, const target::Machine& machine, unsigned threads,
                     std::span<const std::span<const std::byte>> inputs, std::vector<std::string>& outputs) {
  Memory memory(b, machine);
  for (size_t i = 0; i < inputs.size(); ++i)
    if (!inputs[i].empty())
      std::memcpy(memory.write_ddr(b.inputs[i].ddr_offset), inputs[i].data(), inputs[i].size());
  uint32_t flags = 0;
  for (Section s : kSections) flags |= execute_in_parallel(program_of(b, s), memory, threads);
  outputs.clear();
  for (const isa::Port& p : b.outputs) {
    std::string bytes(p.bytes(), '\0');
    if (!bytes.empty()) std::memcpy(bytes.data(), memory.read_ddr(p.ddr_offset), bytes.size());
    outputs.push_back(std::move(bytes));
  }
  return flags;
}

}  // namespace

Result<Simulator> Simulator::create(isa::Binary binary, target::Machine machine) {
  MRVLC_TRY(validate(binary, machine));
  return Simulator(std::move(binary), std::move(machine));
}

Result<Report> Simulator::run(std::span<const std::span<const std::byte>> inputs,
                              std::vector<std::string>& outputs, const Options& options) {
  if (options.functional) MRVLC_TRY(check_inputs(binary_, inputs));
  bool keep = options.detect_hazards && !options.keep_events;
  Report report;
  if (keep && checked_) {
    report = *checked_;
  } else {
    MRVLC_ASSIGN(report, time_sections(binary_, machine_, options));
    if (keep) checked_ = report;
  }
  if (options.functional)
    report.flags = execute_all(binary_, machine_, threads_of(options, report), inputs, outputs);
  return report;
}

Result<Report> Simulator::time_only() {
  return time_sections(binary_, machine_, {false, false, true});
}

Result<uint64_t> Simulator::cycles_on(const target::Machine& other) const {
  uint64_t cycles = 0;
  for (Section s : kSections) {
    MRVLC_ASSIGN(Timing timed, time_program(program_of(binary_, s), other, s, binary_.encoding));
    cycles += timed.cycles;
  }
  return cycles;
}

}  // namespace mrvlc::sim
