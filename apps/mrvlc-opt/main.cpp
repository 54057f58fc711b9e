// Textual IR in, named passes, textual IR out, or the text of a stage of the back end. A developer's tool:
// see docs/ir.md and docs/stages.md.
#include <CLI/CLI.hpp>
#include <cstdio>
#include <iostream>
#include <iterator>

#include "mrvlc/ir/text.h"
#include "mrvlc/ir/verifier.h"
#include "mrvlc/onnx/importer.h"
#include "mrvlc/ops/op.h"
#include "mrvlc/passes/pass.h"
#include "mrvlc/support/diag/general.h"
#include "mrvlc/support/file.h"
#include "stages.h"

namespace {

using namespace mrvlc;

struct Arguments {
  std::string file = "-", model, output;
  std::vector<std::string> passes;
  std::string pipeline;
  bool list = false, elide = false, times = false, primitives = false;
  opt::StageArguments stage;
};

int report(const std::string& file, const Diag& diag) {
  fmt::print(stderr, "{}\n", format_diag(file, diag));
  return diag.severity() == Severity::Error ? static_cast<int>(diag.exit_class()) : 0;
}

int list_passes() {
  for (const passes::PassInfo& p : passes::all_passes()) fmt::print("{:20} {}\n", p.name, p.summary);
  return 0;
}

std::optional<ir::Graph> import_model(const std::string& path, int& exit_code) {
  Diagnostics diagnostics;
  auto model = onnx::import_file(path, {}, diagnostics);
  for (const Diag& d : diagnostics.list()) report(path, d);
  exit_code = diagnostics.exit_code();
  if (!model) return std::nullopt;
  return std::move(model->graph);
}

Result<std::string> read_text(const std::string& file) {
  if (file != "-") return read_file(file);
  return std::string(std::istreambuf_iterator<char>(std::cin), {});
}

std::optional<ir::Graph> read_graph(const Arguments& args, int& exit_code) {
  if (!args.model.empty()) return import_model(args.model, exit_code);
  auto parsed = [&]() -> Result<ir::Graph> {
    MRVLC_ASSIGN(std::string text, read_text(args.file));
    MRVLC_ASSIGN(ir::Graph graph, ir::parse(text, ops::registry()));
    MRVLC_TRY(ir::verify(graph));
    MRVLC_TRY(ops::verify_types(graph));
    return graph;
  }();
  if (parsed.ok()) return std::move(parsed).value();
  exit_code = report(args.file, parsed.error());
  return std::nullopt;
}

std::vector<std::string_view> pass_names(const Arguments& args) {
  std::vector<std::string_view> names;
  if (!args.pipeline.empty()) {
    auto pipeline = args.pipeline == "host" ? passes::host_pipeline() : passes::default_pipeline();
    names.assign(pipeline.begin(), pipeline.end());
  }
  names.insert(names.end(), args.passes.begin(), args.passes.end());
  return names;
}

int write_text(const Arguments& args, const std::string& text) {
  if (!args.output.empty()) {
    Status s = write_file_atomic(args.output, text);
    return s.ok() ? 0 : report(args.output, s.error());
  }
  bool ok = std::fwrite(text.data(), 1, text.size(), stdout) == text.size() && std::fflush(stdout) == 0;
  return ok ? 0 : report("stdout", make_diag<DiagCode::MRV0002>("stdout", "write failed"));
}

int write_result(const Arguments& args, const Result<std::string>& text) {
  const std::string& source = args.model.empty() ? args.file : args.model;
  return text.ok() ? write_text(args, *text) : report(source, text.error());
}

int run_primitives(const Arguments& args) {
  auto text = read_text(args.file);
  if (!text.ok()) return report(args.file, text.error());
  return write_result(args, opt::stage_of_primitives(*text, args.stage));
}

int run(const Arguments& args) {
  if (args.list) return list_passes();
  if (args.primitives) return run_primitives(args);
  int exit_code = 0;
  auto graph = read_graph(args, exit_code);
  if (!graph) return exit_code;
  std::vector<passes::PassTime> times;
  passes::RunOptions options;
  options.times = &times;
  options.context.half_weights = !args.stage.stage.empty();
  Status s = passes::run_passes(*graph, pass_names(args), options);
  if (!s.ok()) return report(args.model.empty() ? args.file : args.model, s.error());
  for (const auto& t : times) {
    if (args.times) fmt::print(stderr, "{:20} {:9.3f} ms\n", t.name, t.seconds * 1e3);
  }
  if (!args.stage.stage.empty()) return write_result(args, opt::stages_of(*graph, args.stage));
  return write_text(args, ir::print(*graph, {.constants = !args.elide}));
}

void add_stage_options(CLI::App& app, Arguments& args) {
  CLI::Option* stage = app.add_option(
      "--stage", args.stage.stage,
      "print what this stage of the accelerator's back end makes of the graph, region by region: "
      "primitives, tiling, residency or tile-program");
  app.add_flag("--primitives", args.primitives, "FILE is the text of the primitives of one region")
      ->needs(stage)
      ->excludes("--import")
      ->excludes("--pass")
      ->excludes("--pipeline");
  app.add_option("--tiles", args.stage.tiles, "of --stage")
      ->check(CLI::IsMember({1u, 2u, 4u, 8u}))
      ->capture_default_str();
  app.add_option("--cpu", args.stage.cpu,
                 "of --stage: nodes or operator types that stay on the CPU; repeatable")
      ->allow_extra_args(false);
}

int parse_and_run(int argc, char** argv) {
  Arguments args;
  CLI::App app{"Runs passes over the textual IR of mrvlc", "mrvlc-opt"};
  app.set_version_flag("--version", MRVLC_VERSION);
  app.add_option("FILE", args.file, "textual IR; '-' is standard input")->capture_default_str();
  app.add_option("--import", args.model, "read an ONNX model instead")->excludes("FILE");
  app.add_option("--pass", args.passes, "run this pass, after the pipeline; repeatable, in order")
      ->allow_extra_args(false)
      ->take_all();
  app.add_option("--pipeline", args.pipeline, "run a whole pipeline")
      ->check(CLI::IsMember({"default", "host"}));
  app.add_option("-o,--output", args.output, "write here instead of to standard output");
  app.add_flag("--elide", args.elide, "do not print large constants; the text cannot be read back");
  app.add_flag("--times", args.times, "print the time of each pass to standard error");
  app.add_flag("--list", args.list, "list the passes");
  add_stage_options(app, args);
  try {
    app.parse(argc, argv);
  } catch (const CLI::ParseError& e) {
    return app.exit(e) == 0 ? 0 : static_cast<int>(ExitClass::Usage);
  }
  return run(args);
}

}  // namespace

int main(int argc, char** argv) {
  try {
    return parse_and_run(argc, argv);
  } catch (const std::bad_alloc&) {
    std::fputs("mrvlc-opt: out of memory\n", stderr);
    return static_cast<int>(ExitClass::Limit);
  } catch (const std::exception& e) {
    return report("mrvlc-opt", make_diag<DiagCode::MRV0007>(e.what()));
  }
}
