// The regions of a folder on the simulator: times and traffic by layer.
#pragma once
#include "folder/output_folder.h"
#include "mrvlc/report/report.h"
#include "output/memory_json.h"

namespace mrvlc::driver {

struct Simulation {
  std::map<std::string, backends::Opened> backends;  // by target
  std::vector<report::Region> regions;               // as the report has them
  std::vector<report::Region> what_if;               // of another machine: cycles alone
};

// What bounds most of a layer's cycles, as JSON has it; "hidden" where it has none.
const char* main_bound_key(const report::Layer& layer);

struct SimulationAsked {
  const std::vector<std::filesystem::path>& target_dirs;
  OutputFolder::Libraries libraries = OutputFolder::Libraries::OfPackages;
  std::string what_if = {};            // other values of the machine's fields, for Simulation::what_if
  const MemoryFile* memory = nullptr;  // with it regions have drawings, and what holds their memory
};

Result<Simulation> simulate(const OutputFolder& folder, const Report& report, const backend::CodeIndex& index,
                            const SimulationAsked& asked);

}  // namespace mrvlc::driver
