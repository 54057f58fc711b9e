// lib/accel as a Backend: legality, costs and code; binaries in their container, executed by the simulator.
#include "cn10ka.h"

#include <fmt/ranges.h>

#include <algorithm>

#include "mrvlc/accel/accel.h"
#include "mrvlc/accel/legality.h"
#include "mrvlc/accel/stages.h"
#include "mrvlc/accel/stored.h"
#include "mrvlc/isa/identity.h"
#include "mrvlc/sim/simulator.h"
#include "mrvlc/support/diag/general.h"

namespace mrvlc::backends {
namespace {

Result<sim::Simulator> simulator_of(std::string_view binary, const target::Machine& machine) {
  MRVLC_ASSIGN(isa::Binary program, isa::read_container(binary));
  return sim::Simulator::create(std::move(program), machine);
}

class Simulated : public backend::Executor {
 public:
  explicit Simulated(sim::Simulator simulator) : simulator_(std::move(simulator)) {}

  Result<std::vector<std::string>> run(const std::vector<std::string>& inputs) override {
    std::vector<std::span<const std::byte>> spans;
    for (const std::string& bytes : inputs)
      spans.push_back(std::as_bytes(std::span(bytes.data(), bytes.size())));
    sim::Options options;
    options.detect_hazards = false;
    options.keep_events = false;
    std::vector<std::string> outputs;
    MRVLC_ASSIGN([[maybe_unused]] const sim::Report report, simulator_.run(spans, outputs, options));
    return outputs;
  }

 private:
  sim::Simulator simulator_;
};

class Cn10ka : public backend::Backend {
 public:
  Cn10ka(target::Machine machine, accel::Options options)
      : machine_(std::move(machine)), options_(std::move(options)) {}

  const target::Machine& machine() const override { return machine_; }
  rules::RuleFile rule_file() const override { return accel::default_rule_file(); }
  const partition::SoundRules& rules() const override { return accel::default_rules(); }
  uint32_t tiles() const override { return options_.tiles; }
  backend::PassLimits pass_limits() const override {
    return {.half_weights = true,
            .integers = true,
            .longest_row = accel::longest_row(machine_),
            .largest_batch = machine_.max_batch,
            .tiles = options_.tiles,
            .tile_bytes = machine_.ocm_bytes};
  }

  partition::Legality legal(const ir::Graph& graph, const partition::Layer& layer) const override {
    return accel::layer_legal(graph, layer, machine_);
  }
  partition::RegionForms forms(const ir::Graph& graph, const partition::Region& region) const override {
    return accel::expected_forms(graph, region);
  }
  double layer_seconds(const ir::Graph& graph, const partition::Layer& layer) const override {
    return accel::quick_seconds(graph, layer, machine_, options_.tiles);
  }
  double border_seconds(const ir::Graph& graph, const partition::Region& region) const override {
    return accel::quick_border_seconds(graph, region, machine_);
  }

  Result<backend::RegionCode> generate(const ir::Graph& graph, const partition::Region& region,
                                       const std::string& name, const Log& log) const override {
    accel::Options options = options_;
    options.name = name;
    options.log = log;
    MRVLC_ASSIGN(accel::CompiledRegion compiled, accel::compile_region(graph, region, machine_, options));
    backend::RegionCode code = std::move(static_cast<backend::RegionCode&>(compiled));
    const auto binary = std::make_shared<isa::Binary>(std::move(compiled.binary));
    code.encode = [binary](backend::RegionCode& made) {
      made.bytes = isa::write_container(*binary);
      made.identity = isa::stored_identity(made.bytes);
    };
    return code;
  }
  std::vector<backend::StoredValue> stored_values(const ir::Graph& graph,
                                                  const partition::Region& region) const override {
    return accel::stored_values(graph, region);
  }

  Result<std::unique_ptr<backend::Timing>> time(std::string_view binary) const override {
    return cn10ka_timing(binary, machine_);
  }
  Result<std::unique_ptr<backend::Timing>> time_changed(std::string_view binary, std::string_view changes,
                                                        std::string_view option) const override {
    MRVLC_ASSIGN(const target::Machine machine, target::changed(machine_, changes, option));
    return cn10ka_timing(binary, machine);
  }
  Result<std::unique_ptr<backend::Executor>> executor(std::string_view binary) const override {
    MRVLC_ASSIGN(sim::Simulator simulator, simulator_of(binary, machine_));
    return std::unique_ptr<backend::Executor>(std::make_unique<Simulated>(std::move(simulator)));
  }
  Result<std::string> disassembly(std::string_view binary,
                                  const std::vector<backend::CodeRange>& ranges) const override {
    return cn10ka_disassembly(binary, ranges);
  }

 private:
  target::Machine machine_;
  accel::Options options_;
};

Result<std::vector<accel::Stage>> stages_of(const std::vector<std::string>& names) {
  std::vector<accel::Stage> out;
  for (const std::string& name : names) {
    const std::optional<accel::Stage> stage = accel::stage_named(name);
    if (!stage)
      return make_diag<DiagCode::MRV0004>(fmt::format("--dump-stage: there is no stage '{}'; stages are {}",
                                                      printable(name),
                                                      fmt::join(accel::stage_names(), ", ")));
    out.push_back(*stage);
  }
  return out;
}

}  // namespace

Result<Opened> open_cn10ka(target::Machine machine, const Settings& settings) {
  accel::Options options;
  const auto& counts = machine.tile_counts;
  options.tiles = settings.tiles != 0 || counts.empty() ? settings.tiles : counts.back();
  if (std::ranges::find(counts, options.tiles) == counts.end())
    return make_diag<DiagCode::MRV0004>(fmt::format("--tiles: {} does not take {} tiles; it takes {}",
                                                    machine.name, options.tiles, fmt::join(counts, ", ")));
  options.effort = settings.effort;
  options.column = settings.column;
  options.pin_weights = settings.pin_weights;
  if (settings.silicon_id) options.architecture = isa::Architecture::Mlip;
  MRVLC_ASSIGN(options.texts, stages_of(settings.stages));
  return Opened(std::make_unique<Cn10ka>(std::move(machine), std::move(options)));
}

}  // namespace mrvlc::backends
