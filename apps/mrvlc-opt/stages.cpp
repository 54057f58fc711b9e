// Places a graph on the accelerator, or takes primitives as they are, and prints a stage of the back end.
#include "stages.h"

#include <fmt/ranges.h>

#include "mrvlc/accel/stages.h"
#include "mrvlc/backends/open.h"
#include "mrvlc/driver/place.h"
#include "mrvlc/support/diag/general.h"
#include "mrvlc/target/machine.h"

namespace mrvlc::opt {
namespace {

Result<accel::Options> options_of(const StageArguments& args) {
  auto stage = accel::stage_named(args.stage);
  if (!stage)
    return make_diag<DiagCode::MRV0004>(fmt::format("--stage: there is no stage '{}'; stages are {}",
                                                    printable(args.stage),
                                                    fmt::join(accel::stage_names(), ", ")));
  accel::Options options;
  options.tiles = args.tiles;
  options.texts = {*stage};
  return options;
}

}  // namespace

Result<std::string> stages_of(ir::Graph& graph, const StageArguments& args) {
  MRVLC_ASSIGN(accel::Options options, options_of(args));
  MRVLC_ASSIGN(const backends::Opened backend, backends::find(args.target, {}, {.tiles = args.tiles}));
  partition::Options how;
  how.cpu = args.cpu;
  MRVLC_ASSIGN(const partition::Partition parts, driver::place(graph, backend.get(), how));
  std::string out;
  for (const partition::Region& region : parts.regions) {
    options.name = fmt::format("region{}", region.id);
    MRVLC_ASSIGN(const accel::CompiledRegion compiled,
                 accel::compile_region(graph, region, backend->machine(), options));
    out += fmt::format("# region {}\n{}", region.id, compiled.texts.at(0));
  }
  return out;
}

Result<std::string> stage_of_primitives(const std::string& text, const StageArguments& args) {
  MRVLC_ASSIGN(const accel::Options options, options_of(args));
  MRVLC_ASSIGN(const target::Machine machine, target::load_machine(args.target, {}));
  return accel::stage_from_primitives(text, machine, options, options.texts.at(0));
}

}  // namespace mrvlc::opt
