// `mrvlc verify` on the command line.
#include <fmt/format.h>

#include "commands.h"
#include "compile_options.h"
#include "mrvlc/driver/layers.h"
#include "mrvlc/support/diag/general.h"
#include "mrvlc/support/file.h"

namespace mrvlc::app {
namespace {

struct VerifyArguments {
  CompileArguments compile;
  std::vector<std::string> data, sets;
  std::vector<uint32_t> seeds;
  std::optional<double> tolerance;
  double integer_tolerance = 0;
  bool layers = false, json = false;
  std::string against = "float32", html;
  std::optional<double> max_ulp;
  driver::RunOptions run;
};

void add_options(CLI::App& cmd, VerifyArguments& a) {
  add_model_and_options(cmd, driver::command::kVerify, a.compile);
  cmd.add_option("--data", a.data,
                 "folder of input_K.pb/output_K.pb, or .npy, .json (repeatable); without it the reference "
                 "interpreter is asked")
      ->allow_extra_args(false);
  cmd.add_option("--tolerance", a.tolerance,
                 "largest |a-b|/(1+|b|) of floats; 2e-2, or 1e-4 on the host (of 16 bits: 5e-3) with weights "
                 "of fp32")
      ->check(tolerance_check());
  cmd.add_option("--integer-tolerance", a.integer_tolerance, "largest |a-b| of integers; 0: they are equal")
      ->check(tolerance_check());
  cmd.add_option("--max-ulp", a.max_ulp,
                 "exit with code 5 when more values of the type lie between a float and the expected one")
      ->type_name("N")
      ->check(tolerance_check());
  cmd.add_option("-j", a.compile.options.jobs, "threads of the simulator, one for each processor by default")
      ->type_name("N");
  add_made_sets(cmd, a.sets, a.seeds);
  cmd.add_flag("--json", a.json, "JSON instead of text");
}

void add_layer_options(CLI::App& cmd, VerifyArguments& a) {
  CLI::Option* layers =
      cmd.add_flag("--layers", a.layers,
                   "the error of every layer too, its own and inherited; names the first bad one. --data "
                   "may then hold inputs alone");
  cmd.add_option(
         "--against", a.against,
         "what is compared with: float32 (the reference interpreter); ort: outputs with those of ONNX "
         "Runtime; host: of --layers, with the host's code")
      ->check(CLI::IsMember({"float32", "host", "ort"}))
      ->type_name("REFERENCE");
  cmd.add_option("--html", a.html, "write the layers as a page")
      ->type_name("FILE")
      ->check(not_empty())
      ->needs(layers);
}

driver::VerifyOptions options_of(const VerifyArguments& a, const driver::CompileOptions& compile,
                                 const Context& context) {
  driver::VerifyOptions v;
  v.compile = compile;
  v.data.assign(a.data.begin(), a.data.end());
  v.tolerance = a.tolerance;
  v.integer_tolerance = a.integer_tolerance;
  v.sets = a.sets;
  v.seeds = a.seeds;
  v.max_ulp = a.max_ulp;
  v.against_ort = a.against == "ort";
  v.run = a.run;
  if (a.layers) v.layers = driver::LayerOptions{a.against == "host", nullptr};
  if (context.shows_progress()) {
    v.progress = [](const std::string& set, size_t number, size_t of) {
      std::fprintf(stderr, "%zu of %zu: %s\n", number, of, printable(set).c_str());
    };
  }
  return v;
}

const char* reason(driver::Comparison::Limit limit) {
  using Limit = driver::Comparison::Limit;
  return limit == Limit::Given       ? ", given"
         : limit == Limit::Condition ? ", by what roundings move"
         : limit == Limit::Package   ? ", of the target's package"
                                     : "";
}

std::string text_of(const std::vector<driver::Comparison>& comparisons, const driver::LayerErrors* layers) {
  std::string text;
  for (const driver::Comparison& c : comparisons)
    text += fmt::format("{} {}: {:.3g} (limit {:.3g}{}){} {}\n", c.set, printable(c.output), c.error,
                        c.tolerance, reason(c.limit), c.ulp ? fmt::format(", {:.6g} ulp", *c.ulp) : "",
                        c.same          ? "ok"
                        : c.beyond_fp16 ? "fp16"
                                        : "DIFFERS");
  return layers == nullptr ? text : text + layers_text(*layers);
}

void verify(const VerifyArguments& a, const driver::CompileOptions& compile, Context& context) {
  Diagnostics diagnostics;
  std::optional<driver::LayerErrors> errors;
  const auto comparisons = driver::verify(options_of(a, compile, context), diagnostics, &errors);
  const driver::LayerErrors* layers = errors ? &*errors : nullptr;
  context.finish(a.compile.model,
                 a.json ? driver::verify_json(comparisons, layers) : text_of(comparisons, layers));
  print_diagnostics(a.compile.model, diagnostics, context.messages);
  if (context.exit_code == 0) context.exit_code = diagnostics.exit_code();
  if (a.html.empty() || layers == nullptr) return;
  const std::string model = std::filesystem::path(a.compile.model).filename().string();
  const Status written = write_file_atomic(a.html, driver::layers_page(*layers, model));
  if (!written.ok()) context.fail(a.compile.model, written.error());
}

}  // namespace

void add_verify(CLI::App& app, Context& context) {
  auto a = std::make_shared<VerifyArguments>();
  CLI::App* cmd = app.add_subcommand("verify", "compile, run and compare with expected outputs");
  add_options(*cmd, *a);
  add_program_options(*cmd, a->run);
  add_remote_options(*cmd, a->run);
  add_layer_options(*cmd, *a);
  cmd->callback([a, cmd, &context] {
    auto options = checked(*cmd, a->compile, context.messages);
    if (!options.ok()) return context.fail("mrvlc", options.error());
    if (a->against == "host" && !a->layers)
      return context.fail("mrvlc", make_diag<DiagCode::MRV0004>("--against host is about --layers"));
    // The samples that integers are chosen by are the data that are compared.
    if (a->data.size() == 1 && options->precision == "int8") options->data = a->data.front();
    verify(*a, *options, context);
  });
}

}  // namespace mrvlc::app
