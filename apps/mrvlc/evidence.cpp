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
  cmd.add_option("--sets", o.sets, "inputs that are made, as of verify")
      ->delimiter(',')
      ->type_name("SET,...")
      ->allow_extra_args(false);
  cmd.add_option("--seed", o.seeds, "of these inputs, as of verify (1,2,3)")
      ->delimiter(',')
      ->type_name("N,...")
      ->allow_extra_args(false);
  cmd.add_flag("!--no-analysis", o.analyse, "without cppcheck and Frama-C, which are used where they are installed");
  o.run.timeout = 3600;
  cmd.add_option("--timeout", o.run.timeout, "what the program may take for one set of inputs, in seconds (3600)")
      ->type_name("SECONDS")
      ->transform(duration_check());
  cmd.add_option("--cc", o.run.cc, "C compiler ($CC or cc)");
  cmd.add_option("--cflags", o.run.cflags, "its flags, behind all others (-O2)");
  cmd.add_option("-j", o.run.jobs, "threads of the simulator, one for each processor by default")->type_name("N");
}

}  // namespace

void add_evidence(CLI::App& app, Context& context) {
  auto o = std::make_shared<driver::EvidenceOptions>();
  auto dirs = std::make_shared<std::vector<std::filesystem::path>>();
  CLI::App* cmd = app.add_subcommand(
      "evidence", "for each ONNX node its requirement, code, proof and tests; analyses, an SBOM, known limits");
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
    context.finish(o->out.string(), text);
    print_diagnostics(o->out.string(), diagnostics, context.messages);
    if (context.exit_code == 0) context.exit_code = diagnostics.exit_code();
  });
}

}  // namespace mrvlc::app
