// `mrvlc graph` on the command line.
#include "commands.h"
#include "compile_options.h"
#include "mrvlc/support/diag/general.h"

namespace mrvlc::app {
namespace {

struct GraphArguments {
  CompileArguments model;
  std::string file;
  bool svg = false, dot = false, html = false;
};

// As an option says, else as the name of the file does.
Result<driver::GraphFormat> format_of(const GraphArguments& a) {
  auto is = [&](bool asked, const char* ending) {
    return asked || (!a.svg && !a.dot && !a.html && std::filesystem::path(a.file).extension() == ending);
  };
  if (is(a.svg, ".svg")) return driver::GraphFormat::Svg;
  if (is(a.dot, ".dot")) return driver::GraphFormat::Dot;
  if (is(a.html, ".html")) return driver::GraphFormat::Html;
  return make_diag<DiagCode::MRV0004>("graph takes --svg, --dot or --html, or -o with a name that ends so");
}

void draw(const CLI::App& cmd, GraphArguments& a, Context& context) {
  const auto format = format_of(a);
  if (!format.ok()) return context.fail("mrvlc graph", format.error());
  auto options = checked(cmd, a.model, context.messages);
  if (!options.ok()) return context.fail("mrvlc", options.error());
  Diagnostics diagnostics;
  const auto text = driver::graph(*options, *format, diagnostics);
  print_diagnostics(a.model.model, diagnostics, context.messages);
  if (!text) {
    context.exit_code = diagnostics.exit_code();
    return;
  }
  if (a.file.empty()) return context.finish(a.model.model, *text);
  context.write(a.file, *text);
}

}  // namespace

void add_graph(CLI::App& app, Context& context) {
  auto a = std::make_shared<GraphArguments>();
  CLI::App* cmd = app.add_subcommand(
      "graph", "a picture of a model, or of a compiled one with regions, layers and times");
  add_model_and_options(*cmd, driver::command::kOthers, a->model);
  cmd->get_option("MODEL")->description("the ONNX model, or a folder made by compile");
  CLI::Option* svg = cmd->add_flag("--svg", a->svg, "a picture");
  CLI::Option* dot = cmd->add_flag("--dot", a->dot, "for Graphviz")->excludes(svg);
  cmd->add_flag("--html", a->html, "a page to search, zoom and click in")->excludes(svg)->excludes(dot);
  cmd->add_option("-o,--output", a->file, "file to write; its ending may say the kind; stdout without it")
      ->type_name("FILE")
      ->check(not_empty());
  cmd->callback([a, cmd, &context] { draw(*cmd, *a, context); });
}

}  // namespace mrvlc::app
