// `mrvlc reduce`, `compare` and `bundle` on the command line.
#include "mrvlc/driver/debug.h"

#include <array>

#include "commands.h"
#include "compile_options.h"

namespace mrvlc::app {
namespace {

void print_nodes(size_t nodes, size_t checks) {
  std::fprintf(stderr, "\r%zu nodes, %zu checks   ", nodes, checks);
}

// Prints what a command came to: its text, then messages, then the exit code.
void tell(const std::optional<std::string>& text, const Diagnostics& diagnostics, const std::string& file,
          Context& context) {
  if (text) context.finish(file, *text);
  print_diagnostics(file, diagnostics, context.messages);
  if (context.exit_code == 0) context.exit_code = diagnostics.exit_code();
}

void add_reduce(CLI::App& app, Context& context) {
  auto a = std::make_shared<CompileArguments>();
  auto o = std::make_shared<driver::ReduceOptions>();
  CLI::App* cmd = app.add_subcommand("reduce", "the smallest model that still fails a check");
  add_model_and_options(*cmd, driver::command::kOthers, *a);
  cmd->add_option("--check", o->check,
                  "command of the shell that fails on the model, e.g. 'mrvlc verify {}'; {} is the model")
      ->required()
      ->type_name("COMMAND")
      ->check(not_empty());
  cmd->add_option("--match", o->match, "text that the command must print, or it has not failed in this way")
      ->type_name("TEXT");
  cmd->add_option("-o,--output", o->out, "ONNX file to write")
      ->required()
      ->type_name("FILE")
      ->check(not_empty());
  cmd->add_option("--timeout", o->timeout, "the most that one check may take, e.g. 90s or 10m (60)")
      ->type_name("TIME")
      ->transform(duration_check());
  cmd->add_option("--max-checks", o->most_checks, "the most models that are tried (2000)")->type_name("N");
  cmd->callback([=, &context] {
    auto options = checked(*cmd, *a, context.messages);
    if (!options.ok()) return context.fail("mrvlc", options.error());
    o->compile = *options;
    if (context.shows_progress()) o->progress = print_nodes;
    Diagnostics diagnostics;
    const auto text = driver::reduce(*o, diagnostics);
    if (o->progress) std::fprintf(stderr, "\r");
    tell(text, diagnostics, a->model, context);
  });
}

void add_compare(CLI::App& app, Context& context) {
  auto a = std::make_shared<CompileArguments>();
  auto o = std::make_shared<driver::CompareOptions>();
  CLI::App* cmd =
      app.add_subcommand("compare", "the first tensor that another runtime has computed differently");
  add_model_and_options(*cmd, driver::command::kOthers, *a);
  cmd->add_option("--with", o->with, "folder of NAME.npy, a file a tensor, the model's inputs too")
      ->required()
      ->type_name("DIR")
      ->check(not_empty());
  cmd->add_option("--input", o->inputs, "NAME=FILE of an input that the folder has not (repeatable)")
      ->type_name("NAME=FILE")
      ->allow_extra_args(false);
  cmd->add_option("--tolerance", o->tolerance,
                  "largest |a-b|/(1+|b|) of floats that is no difference (1e-3; of 16 bits 5e-3)")
      ->type_name("E")
      ->check(tolerance_check());
  cmd->add_flag("--json", o->json, "JSON instead of text");
  cmd->callback([=, &context] {
    auto options = checked(*cmd, *a, context.messages);
    if (!options.ok()) return context.fail("mrvlc", options.error());
    o->compile = *options;
    Diagnostics diagnostics;
    tell(driver::compare_tensors(*o, diagnostics), diagnostics, a->model, context);
  });
}

void add_bundle(CLI::App& app, Context& context) {
  auto a = std::make_shared<CompileArguments>();
  auto o = std::make_shared<driver::BundleOptions>();
  CLI::App* cmd = app.add_subcommand("bundle", "packs what a report of a fault needs, without your weights");
  add_model_and_options(*cmd, driver::command::kBundle, *a);
  cmd->add_option("-o,--output", o->out, "archive to write, .tar.gz")
      ->required()
      ->type_name("FILE")
      ->check(not_empty());
  cmd->add_flag("--with-weights", o->weights, "the model as it is, external data too");
  cmd->add_flag("--with-calibration", o->calibration, "the file of --calibration, which tells of your data");
  cmd->callback([=, &context] {
    constexpr std::array<std::string_view, 3> kOwn = {"--output", "--with-weights", "--with-calibration"};
    auto options = checked(*cmd, *a, context.messages);
    if (!options.ok()) return context.fail("mrvlc", options.error());
    o->compile = *options;
    o->options = typed_options(*cmd, kOwn);
    Diagnostics diagnostics;
    tell(driver::bundle(*o, diagnostics), diagnostics, a->model, context);
  });
}

}  // namespace

void add_debug(CLI::App& app, Context& context) {
  add_reduce(app, context);
  add_compare(app, context);
  add_bundle(app, context);
}

}  // namespace mrvlc::app
