// `mrvlc calibrate` on the command line.
#include "commands.h"
#include "compile_options.h"

namespace mrvlc::app {

void add_calibrate(CLI::App& app, Context& context) {
  auto a = std::make_shared<CompileArguments>();
  auto o = std::make_shared<driver::CalibrateOptions>();
  CLI::App* cmd = app.add_subcommand(
      "calibrate", "what the values of a model are on your data, for compile --calibration");
  add_model_and_options(*cmd, driver::command::kOthers, *a);
  add_samples_options(*cmd, o->data, o->out, "file to write");
  auto always = std::make_shared<bool>(false), never = std::make_shared<bool>(false);
  CLI::Option* sensitivity = cmd->add_flag(
      "--sensitivity", *always,
      "how far outputs move when a value is rounded to fp16, on every sample, whatever that costs");
  cmd->add_option(
         "--keep-samples", o->keep_samples,
         "samples that lie in the file whole, those that fp16 changes most, for compile to be judged "
         "on; 0: none of your data, only what values of the model are")
      ->check(CLI::Range(0, 1000))
      ->capture_default_str();
  auto frontier = std::make_shared<bool>(false);
  cmd->add_flag("--frontier", *frontier, "print what more accuracy costs: cycles against error");
  cmd->add_flag("--no-sensitivity", *never, "not at all")->excludes(sensitivity);
  cmd->callback([=, &context] {
    using Sensitivity = driver::CalibrateOptions::Sensitivity;
    o->sensitivity = *always ? Sensitivity::Always : *never ? Sensitivity::Never : Sensitivity::WithinBudget;
    auto options = checked(*cmd, *a, context.messages);
    if (!options.ok()) return context.fail("mrvlc", options.error());
    o->compile = *options;
    if (context.shows_progress())
      o->progress = [](size_t sample, size_t of) {
        std::fprintf(stderr, "\r%zu of %zu samples%s", sample, of, sample == of ? "\n" : "");
      };
    Diagnostics diagnostics;
    const bool ok = driver::calibrate(*o, diagnostics);
    print_diagnostics(a->model, diagnostics, context.messages);
    context.exit_code = ok ? 0 : diagnostics.exit_code();
    if (!ok || !*frontier) return;
    driver::CompileOptions compile = o->compile;
    compile.calibration = o->out;
    compile.out = o->out.string() + ".frontier";  // nothing is written
    context.finish(a->model, driver::frontier(compile));
  });
}

}  // namespace mrvlc::app
