// Shares graphs of layers out to accelerators (docs/mesh.md).
#include <CLI/CLI.hpp>

#include "mrvlc/mesh/split.h"
#include "mrvlc/support/file.h"

namespace {

using namespace mrvlc;

int report(const std::string& file, const Diag& diag) {
  fmt::print(stderr, "{}\n", format_diag(file, diag));
  return static_cast<int>(diag.exit_class());
}

struct Arguments {
  std::string graph, out;
  mesh::SplitOptions options;
};

int run(const Arguments& a) {
  const auto text = read_file(a.graph);
  if (!text.ok()) return report(a.graph, text.error());
  const auto split = mesh::split_graph(*text, a.options);
  if (!split.ok()) return report(a.graph, split.error());
  const Status written = write_file_atomic(a.out, split->json);
  if (!written.ok()) return report(a.out, written.error());
  fmt::print("largest load {:.6f}\n", split->load);
  return 0;
}

}  // namespace

int main(int argc, char** argv) {
  Arguments a;
  CLI::App app("shares a graph of layers or operators out to accelerators", "mrvlc-partition");
  app.set_version_flag("--version", "mrvlc-partition " MRVLC_VERSION);
  app.add_option("GRAPH", a.graph, "JSON, in the form of dnn-partitioning")->required();
  app.add_option("-o,--output", a.out, "the split: JSON")->required();
  app.add_option("--steps", a.options.steps, "changes that are tried")->capture_default_str();
  app.add_option("--seed", a.options.seed, "of these")->capture_default_str();
  try {
    app.parse(argc, argv);
  } catch (const CLI::ParseError& e) {
    return app.exit(e) == 0 ? 0 : 2;
  }
  return run(a);
}
