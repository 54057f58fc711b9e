// Runs ONNX's backend tests. A developer's tool: see scripts/conformance.sh and docs/conformance.md.
#include <CLI/CLI.hpp>
#include <cstdio>
#include <thread>

#include "mrvlc/conformance/conformance.h"
#include "mrvlc/support/diag/general.h"
#include "mrvlc/support/file.h"

namespace {

using namespace mrvlc;

struct Arguments {
  std::vector<std::string> folders;
  std::string engine = "both", json, markdown;
  bool verbose = false;
  conformance::Options options;
};

int report(const Diag& diag) {
  fmt::print(stderr, "{}\n", format_diag("mrvlc-conformance", diag));
  return static_cast<int>(diag.exit_class());
}

// "NAME=FOLDER", or a folder that names itself.
conformance::Root root_of(const std::string& text) {
  const size_t at = text.find('=');
  if (at != std::string::npos) return {text.substr(0, at), text.substr(at + 1)};
  std::filesystem::path folder = text;
  return {(folder.has_filename() ? folder : folder.parent_path()).filename().string(), folder};
}

bool has_failed(const std::vector<conformance::Release>& releases) {
  using conformance::Verdict;
  int failed = 0;
  for (const auto& release : releases) {
    for (conformance::Engine engine : conformance::kEngines) {
      const auto t = tally(release, {}, engine);
      failed += t.of(Verdict::Wrong) + t.of(Verdict::Crashed);
    }
  }
  return failed > 0;
}

int run(Arguments& args) {
  for (const std::string& folder : args.folders) args.options.roots.push_back(root_of(folder));
  args.options.run = {args.engine != "c", args.engine != "interp"};
  args.options.include = MRVLC_INCLUDE_DIR;
  auto releases = conformance::run(args.options);
  if (!releases.ok()) return report(releases.error());
  fmt::print("{}", conformance::text_report(*releases, args.verbose));
  for (const auto& [file, text] : {std::pair{args.json, &conformance::json_report},
                                   std::pair{args.markdown, &conformance::markdown_report}}) {
    Status status = file.empty() ? Status() : write_file_atomic(file, text(*releases));
    if (!status.ok()) return report(status.error());
  }
  return has_failed(*releases) ? static_cast<int>(ExitClass::Gate) : 0;
}

int parse_and_run(int argc, char** argv) {
  Arguments args;
  conformance::Options& o = args.options;
  o.jobs = std::max(1u, std::thread::hardware_concurrency());
  CLI::App app{"Runs ONNX's backend tests through the reference interpreter and through generated C",
               "mrvlc-conformance"};
  app.set_version_flag("--version", MRVLC_VERSION);
  app.add_option("FOLDER", args.folders, "folders of suites of cases, or NAME=FOLDER")->required();
  app.add_option("--filter", o.filter, "only cases that the regular expression is found in: node/test_relu");
  app.add_option("--engine", args.engine)
      ->check(CLI::IsMember({"interp", "c", "both"}))
      ->capture_default_str();
  app.add_flag("--exported", o.exported, "the interpreter runs each model as mrvlc writes it");
  app.add_option("-j,--jobs", o.jobs, "processes")->check(CLI::PositiveNumber)->capture_default_str();
  app.add_option("--timeout", o.seconds, "seconds after which a case hangs")->capture_default_str();
  app.add_option("--keep", o.keep, "leave the generated C in this folder");
  app.add_option("--cc", o.compiler, "the C compiler")->capture_default_str();
  app.add_option("--cflags", o.cflags, "its options")->capture_default_str();
  app.add_option("--json", args.json, "write every outcome to this file");
  app.add_option("--markdown", args.markdown, "write the page for docs/ to this file");
  app.add_flag("-v,--verbose", args.verbose, "list refusals");
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
  } catch (const std::exception& e) {
    return report(make_diag<DiagCode::MRV0007>(e.what()));
  }
}
