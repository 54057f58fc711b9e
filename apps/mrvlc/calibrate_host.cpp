// `mrvlc calibrate-host` on the command line.
#include "mrvlc/driver/calibrate_host.h"

#include "commands.h"
#include "compile_options.h"

namespace mrvlc::app {

void add_calibrate_host(CLI::App& app, Context& context) {
  auto a = std::make_shared<CompileArguments>();
  auto o = std::make_shared<driver::HostCalibration>();
  CLI::App* cmd = app.add_subcommand(
      "calibrate-host", "measures models on a machine and writes a host model for compile --host-model");
  cmd->add_option("MODEL", o->models, "ONNX models to measure; the more kinds of operators, the better")
      ->required()
      ->type_name("FILE")
      ->check(not_empty());
  cmd->add_option("-o,--output", o->out, "host model to write")
      ->required()
      ->type_name("FILE")
      ->check(not_empty());
  o->name = "host";
  cmd->add_option("--name", o->name, "name of the host model")->type_name("NAME")->capture_default_str();
  cmd->add_option("--host-model", a->options.host_model,
                  "what is measured against, and holds for what no model shows; the built-in one by default")
      ->type_name("FILE");
  add_table_options(*cmd, driver::command::kOthers, *a);
  add_remote_options(*cmd, o->run);
  cmd->add_option("--cc", o->run.cc, "C compiler ($CC, or cc); with --on one for the other machine");
  cmd->add_option("--cflags", o->run.cflags, "its flags (-O3 -march=native; with --on -O3)");
  cmd->add_option("--bench", o->run.bench, "runs of each model; the least time of a function counts (100)")
      ->type_name("N")
      ->check(CLI::Range(1, 1000000).description(""));
  cmd->callback([=, &context] {
    auto options = checked(*cmd, *a, context.messages);
    if (!options.ok()) return context.fail("mrvlc", options.error());
    o->compile = *options;
    if (o->run.cflags.empty()) o->run.cflags = o->run.on.empty() ? "-O3 -march=native" : "-O3";
    if (context.shows_progress()) o->progress = show_progress;
    Diagnostics diagnostics;
    const auto summary = driver::calibrate_host(*o, diagnostics);
    print_diagnostics(o->out.string(), diagnostics, context.messages);
    context.exit_code = summary ? 0 : diagnostics.exit_code();
    if (summary) context.finish(o->out.string(), *summary);
  });
}

}  // namespace mrvlc::app
