// `mrvlc tune` on the command line.
#include "mrvlc/driver/tune.h"

#include "commands.h"
#include "compile_options.h"

namespace mrvlc::app {

void add_tune(CLI::App& app, Context& context) {
  auto a = std::make_shared<CompileArguments>();
  auto o = std::make_shared<driver::TuneOptions>();
  CLI::App* cmd = app.add_subcommand(
      "tune", "measures kernels of a model's layers on a machine and writes a file for compile --tuning");
  add_model_and_options(*cmd, driver::command::kTune, *a);
  cmd->add_option("-o,--output", o->out, "tuning file to write; what it holds of an earlier call is used")
      ->required()
      ->type_name("FILE")
      ->check(not_empty());
  cmd->add_option("--seconds", o->seconds,
                  "after so long (also 90s, 10m) only what was chosen is measured; no limit by default")
      ->type_name("N")
      ->transform(duration_check());
  add_remote_options(*cmd, o->run);
  cmd->add_option("--cc", o->run.cc, "C compiler ($CC, or cc); with --on one for the other machine");
  cmd->add_option("--cflags", o->run.cflags, "its flags (-O3 -march=native; with --on -O3)");
  cmd->callback([=, &context] {
    auto options = checked(*cmd, *a, context.messages);
    if (!options.ok()) return context.fail("mrvlc", options.error());
    o->compile = *options;
    if (o->run.cflags.empty()) o->run.cflags = o->run.on.empty() ? "-O3 -march=native" : "-O3";
    if (context.shows_progress()) o->progress = show_progress;
    Diagnostics diagnostics;
    const auto summary = driver::tune(*o, diagnostics);
    print_diagnostics(a->model, diagnostics, context.messages);
    context.exit_code = summary ? 0 : diagnostics.exit_code();
    if (summary) context.finish(a->model, *summary);
  });
}

}  // namespace mrvlc::app
