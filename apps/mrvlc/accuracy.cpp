// Accuracy on the command line: options of compile, and the command that makes their calibration file.
#include <fmt/format.h>

#include <cmath>

#include "commands.h"
#include "compile_options.h"
#include "mrvlc/support/diag/general.h"

namespace mrvlc::app {
namespace {

bool read_number(const std::string& text, double& value) {
  return CLI::detail::lexical_cast(text, value) && std::isfinite(value);
}

// NAME=LO:HI; names may hold '=' and ':' themselves.
Result<calibration::InputRange> parse_range(const std::string& text) {
  const size_t eq = text.rfind('='), colon = text.rfind(':');
  calibration::InputRange range;
  if (eq == std::string::npos || eq == 0 || colon == std::string::npos || colon < eq ||
      !read_number(text.substr(eq + 1, colon - eq - 1), range.least) ||
      !read_number(text.substr(colon + 1), range.most)) {
    return make_diag<DiagCode::MRV0004>("--input-range takes NAME=LO:HI, e.g. image=0:255, not '" +
                                        printable(text) + "'");
  }
  if (range.least > range.most)
    return make_diag<DiagCode::MRV0004>(
        fmt::format("--input-range: {} is more than {} in '{}'", range.least, range.most, printable(text)));
  range.pattern = text.substr(0, eq);
  return range;
}

}  // namespace

CLI::Validator tolerance_check() {
  return {[](const std::string& text) {
            double value = 0;
            const bool good = CLI::detail::lexical_cast(text, value) && value >= 0 && value < 1e300;
            return good ? std::string() : "'" + printable(text) + "' is no number from 0 on";
          },
          ""};
}

void add_samples_options(CLI::App& cmd, std::filesystem::path& data, std::filesystem::path& out,
                         const std::string& what) {
  cmd.add_option("--data", data,
                 "folder of samples: a folder each, or one .npy an input (docs/calibration.md)")
      ->required()
      ->type_name("DIR")
      ->check(not_empty());
  cmd.add_option("-o,--output", out, what)->required()->type_name("FILE")->check(not_empty());
}

void add_accuracy_target(CLI::App& cmd, CompileArguments& a) {
  cmd.add_option("--calibration", a.calibration,
                 "what values of the model are on your data, from 'mrvlc calibrate': overflows of fp16 are "
                 "looked for there, "
                 "and the probe's inputs are like the data's")
      ->type_name("FILE")
      ->check(not_empty());
  cmd.add_option(
         "--input-range", a.input_ranges,
         "NAME=LO:HI: the range of an input for the probe, 0:1 by default (repeatable, * and ? allowed)")
      ->type_name("NAME=LO:HI")
      ->allow_extra_args(false);
  cmd.add_option(
         "--objective", a.objective,
         "speed: --accuracy for the fewest cycles; accuracy: the least error within --slowdown (speed)")
      ->type_name("WHAT")
      ->check(CLI::IsMember({"speed", "accuracy"}));
  cmd.add_option("--slowdown", a.slowdown, "of --objective accuracy: times the cycles that may be (2)")
      ->type_name("F")
      ->check(CLI::Range(1.0, 1000.0).description(""));
  cmd.add_option(
         "--accuracy", a.accuracy,
         "largest |a-b|/(1+|b|) of outputs against float32: layers leave fp16 until the probe measures "
         "no more; exit with code 5 when it never does")
      ->type_name("E")
      ->check(tolerance_check());
}

void add_accuracy_options(CLI::App& cmd, CompileArguments& a) {
  add_accuracy_target(cmd, a);
  CLI::Option* probe =
      cmd.add_flag("--probe", a.probe, "compare fp16 with float32 on made inputs whatever that costs");
  cmd.add_flag("--no-probe", a.no_probe, "do not compare at all")->excludes(probe);
  cmd.add_option("--accuracy-warning", a.accuracy_warning,
                 "largest expected |a-b|/(1+|b|) that is no warning (0.01)")
      ->type_name("E")
      ->check(tolerance_check());
  cmd.add_flag(
      "--no-input-limits", a.no_input_limits,
      "do not look how large inputs may be for the outputs to stay accurate; the program then checks no "
      "inputs");
  cmd.add_flag("--fail-on-accuracy", a.fail_on_accuracy,
               "exit with code 5 when the expected error is more than that, when a value overflows fp16, or "
               "when neither is known");
}

Status read_accuracy_options(const CompileArguments& a, driver::CompileOptions& o) {
  using Probe = driver::CompileOptions::Probe;
  o.probe = a.probe ? Probe::Always : a.no_probe ? Probe::Never : Probe::WithinBudget;
  o.calibration = a.calibration;
  o.input_limits = !a.no_input_limits;
  o.accuracy_warning = a.accuracy_warning;
  o.fail_on_accuracy = a.fail_on_accuracy;
  o.accuracy = a.accuracy;
  o.slowdown = a.slowdown;
  using Objective = driver::CompileOptions::Objective;
  o.objective = a.objective == "accuracy" ? Objective::Accuracy : Objective::Speed;
  if (a.objective == "accuracy" && a.accuracy)
    return make_diag<DiagCode::MRV0004>(
        "--objective accuracy takes what --slowdown allows: without --accuracy");
  if (a.no_probe && a.gates.error)
    return make_diag<DiagCode::MRV0004>(
        "--max-error is about what the probe measures, which --no-probe leaves out");
  if (a.no_probe && a.accuracy)
    return make_diag<DiagCode::MRV0004>("--accuracy is measured by the probe, which --no-probe leaves out");
  for (const std::string& text : a.input_ranges) {
    MRVLC_ASSIGN(calibration::InputRange range, parse_range(text));
    o.input_ranges.push_back(std::move(range));
  }
  if (a.no_probe && a.fail_on_accuracy && a.calibration.empty())
    return make_diag<DiagCode::MRV0004>(
        "--fail-on-accuracy has nothing to judge by with --no-probe and no --calibration");
  return {};
}

void add_calibrate(CLI::App& app, Context& context) {
  auto a = std::make_shared<CompileArguments>();
  auto o = std::make_shared<driver::CalibrateOptions>();
  CLI::App* cmd = app.add_subcommand(
      "calibrate", "what the values of a model are on your data, for compile --calibration");
  add_model_options(*cmd, *a);
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
