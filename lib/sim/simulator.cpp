#include "mrvlc/sim/simulator.h"

#include <algorithm>
#include <cstring>

#include "functional.h"
#include "hazard.h"
#include "schedule.h"
#include "validate.h"

namespace mrvlc::sim {
namespace {

constexpr const char* kSectionNames[] = {"init", "main", "finish"};
constexpr Section kSections[] = {Section::Init, Section::Main, Section::Finish};

const std::vector<isa::Instruction>& program_of(const isa::Binary& b, Section s) {
  return s == Section::Init ? b.init : s == Section::Main ? b.main : b.finish;
}

uint64_t& cycles_of(Report& r, Section s) {
  return s == Section::Init ? r.init_cycles : s == Section::Main ? r.main_cycles : r.finish_cycles;
}

void add_events(Report& report, Section section, const std::vector<isa::Instruction>& program,
                const Schedule& schedule, bool keep) {
  for (uint32_t i : schedule.order) {
    const Slot& s = schedule.slots[i];
    report.macs += s.macs;
    report.ddr_read_bytes += s.ddr_read_bytes;
    report.ddr_write_bytes += s.ddr_write_bytes;
    if (!keep) continue;
    report.events.push_back({section, i, program[i].tile, program[i].queue, s.ready, s.start, s.end, s.macs,
                             s.ddr_read_bytes, s.ddr_write_bytes});
  }
}

double pod_utilization(const std::vector<isa::Instruction>& program, const Schedule& schedule,
                       unsigned tiles) {
  uint64_t busy = 0;
  for (size_t i = 0; i < program.size(); ++i)
    if (std::holds_alternative<isa::Conv>(program[i].body))
      busy += schedule.slots[i].end - schedule.slots[i].start;
  double all = static_cast<double>(schedule.cycles) * tiles;
  return all > 0 ? static_cast<double>(busy) / all : 0;
}

Result<Report> time_sections(const isa::Binary& binary, const target::Machine& machine,
                             const Options& options) {
  Report report;
  for (Section s : kSections) {
    const auto& program = program_of(binary, s);
    MRVLC_ASSIGN(Schedule timed, schedule(program, machine, kSectionNames[static_cast<size_t>(s)]));
    cycles_of(report, s) = timed.cycles;
    add_events(report, s, program, timed, options.keep_events);
    if (s == Section::Main) report.pod_utilization = pod_utilization(program, timed, binary.tiles);
    if (options.detect_hazards) find_hazards(binary, machine, s, program, timed, report.hazards);
  }
  return report;
}

uint64_t port_bytes(const isa::Port& p) {
  constexpr uint32_t kTypeBytes[] = {0, 1, 1, 2, 2, 4, 4, 2, 4, 8, 8};
  return uint64_t{p.elements()} * kTypeBytes[p.inner_type];
}

Status check_inputs(const isa::Binary& b, std::span<const std::span<const std::byte>> inputs) {
  if (inputs.size() != b.inputs.size()) return make_diag<DiagCode::MRV0707>(inputs.size(), b.inputs.size());
  for (size_t i = 0; i < inputs.size(); ++i)
    if (inputs[i].size() != port_bytes(b.inputs[i]))
      return make_diag<DiagCode::MRV0706>(i, inputs[i].size(), port_bytes(b.inputs[i]));
  return {};
}

void execute_all(const isa::Binary& b, const target::Machine& machine,
                 std::span<const std::span<const std::byte>> inputs, std::vector<std::string>& outputs) {
  Memory memory(b, machine);
  for (size_t i = 0; i < inputs.size(); ++i)
    if (!inputs[i].empty())
      std::memcpy(memory.write_ddr(b.inputs[i].ddr_offset), inputs[i].data(), inputs[i].size());
  Scratch scratch;
  for (Section s : kSections)
    for (const isa::Instruction& i : program_of(b, s)) execute(i, memory, scratch);
  outputs.clear();
  for (const isa::Port& p : b.outputs) {
    std::string bytes(port_bytes(p), '\0');
    if (!bytes.empty()) std::memcpy(bytes.data(), memory.read_ddr(p.ddr_offset), bytes.size());
    outputs.push_back(std::move(bytes));
  }
}

}  // namespace

Result<Simulator> Simulator::create(isa::Binary binary, target::Machine machine) {
  MRVLC_TRY(validate(binary, machine));
  return Simulator(std::move(binary), std::move(machine));
}

Result<Report> Simulator::run(std::span<const std::span<const std::byte>> inputs,
                              std::vector<std::string>& outputs, const Options& options) {
  if (options.functional) MRVLC_TRY(check_inputs(binary_, inputs));
  MRVLC_ASSIGN(Report report, time_sections(binary_, machine_, options));
  if (options.functional) execute_all(binary_, machine_, inputs, outputs);
  return report;
}

Result<Report> Simulator::time_only() {
  return time_sections(binary_, machine_, {false, false, true});
}

}  // namespace mrvlc::sim
