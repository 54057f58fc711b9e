// `mrvlc evidence` on the command line.
#include "mrvlc/driver/evidence.h"

#include "commands.h"
#include "compile_options.h"

namespace mrvlc::app {
namespace {

void add_run_options(CLI::App& cmd, driver::EvidenceOptions& o) {
  cmd.add_option("--data", o.data,
                 "further tests: folder of input_K.pb/output_K.pb, or .npy, .json (repeatable)")
      ->type_name("DIR")
      ->allow_extra_args(false);
  add_made_sets(cmd, o.sets, o.seeds);
  cmd.add_flag("!--no-analysis", o.analyse, "without cppcheck, which is used where it is installed");
  add_program_options(cmd, o.run);
  cmd.add_option("-j", o.run.jobs, "threads of the simulator, one for each processor by default")
      ->type_name("N");
}

}  // namespace

void add_evidence(CLI::App& app, Context& context) {
  auto o = std::make_shared<driver::EvidenceOptions>();
  auto dirs = std::make_shared<std::vector<std::filesystem::path>>();
  CLI::App* cmd = app.add_subcommand(
      "evidence",
      "for each ONNX node its requirement, code, proof and tests; analyses, an SBOM, known limits");
  cmd->add_option("OUT", o->out, "folder made by compile")->required()->type_name("");
  cmd->add_option("MODEL", o->model,
                  "its ONNX file; by default looked for in OUT, beside it and in the current folder")
      ->type_name("");
  cmd->add_option("-o,--output", o->to, "folder that is written")
      ->required()
      ->type_name("DIR")
      ->check(not_empty());
  add_run_options(*cmd, *o);
  cmd->add_option("--target-dir", *dirs, "folder of target packages (repeatable)")
      ->type_name("DIR")
      ->allow_extra_args(false);
  cmd->callback([o, dirs, &context] {
    auto search = target_search(*dirs);
    if (!search.ok()) return context.fail("mrvlc", search.error());
    o->target_dirs = o->run.target_dirs = *search;
    Diagnostics diagnostics;
    const auto text = driver::evidence(*o, diagnostics);
    context.finish(o->out.string(), text, diagnostics);
  });
}

}  // namespace mrvlc::app
