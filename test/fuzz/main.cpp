// mrvlc-mutate: damaged models through the importer or the whole compiler.
#include <fmt/format.h>
#include <unistd.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <cstdio>
#include <fstream>

#include "cases.h"
#include "mrvlc/driver/driver.h"
#include "paths.h"
#include "seeds.h"
#include "targets.h"

#if defined(__SANITIZE_ADDRESS__)
// Leaks are looked for by the tests; here a request for too much memory must end the process.
extern "C" const char* __asan_default_options();
const char* __asan_default_options() {
  return "detect_leaks=0:max_allocation_size_mb=8192:handle_abort=1:quarantine_size_mb=16";
}
#endif

namespace {

using namespace mrvlc::fuzz;
namespace fs = std::filesystem;

struct Options {
  std::string mode = "import", save;
  CompileCase how;
  uint64_t seed = 1;
  BatchOptions batch;
  int64_t megabytes = 2048;
  bool show = false;
};

Mutant mutant_of(const Options& o, const std::vector<Seed>& seeds, uint64_t n) {
  return o.mode == "sizes" ? make_sized(seeds, o.seed, n) : make_mutant(seeds, o.seed, n);
}

void save(const Options& o, const std::vector<Seed>& seeds, const Found& found) {
  const Mutant mutant = mutant_of(o, seeds, found.n);
  std::printf("%s %s %llu (from %s): %s\n", o.mode.c_str(), to_string(found.outcome),
              static_cast<unsigned long long>(found.n), mutant.seed.c_str(),
              found.what.substr(0, o.show ? 6000 : 300).c_str());
  if (o.save.empty()) return;
  fs::create_directories(o.save);
  const std::string stem = (fs::path(o.save) / (o.mode + "-" + std::to_string(found.n))).string();
  std::ofstream(stem + ".onnx", std::ios::binary) << mutant.bytes;
  std::ofstream text(stem + ".txt");
  text << to_string(found.outcome) << ", from " << mutant.seed << "\n";
  for (const auto& [name, shape] : mutant.options.input_shapes)
    text << "--input-shape " << name << "=" << mrvlc::onnx::to_string(shape) << "\n";
  text << "--batch " << mutant.options.batch << "\n" << found.what << "\n";
}

std::vector<Seed> files(const fs::path& folder, std::string_view extension) {
  std::vector<Seed> seeds;
  for (const auto& entry : fs::recursive_directory_iterator(folder)) {
    if (entry.path().extension() != extension) continue;
    std::ifstream file(entry.path(), std::ios::binary);
    seeds.push_back({entry.path().string(), std::string(std::istreambuf_iterator<char>(file), {})});
  }
  std::sort(seeds.begin(), seeds.end(), [](const Seed& a, const Seed& b) { return a.name < b.name; });
  return seeds;
}

// Model binaries of a small network.
std::vector<Seed> binaries() {
  const fs::path out = fs::temp_directory_path() / ("mrvlc-mutate-seed-" + std::to_string(getpid()));
  mrvlc::driver::CompileOptions compile;
  compile.model = fs::path(MRVLC_SOURCE_DIR) / "models/digits/digits.onnx";
  compile.out = out;
  compile.name = "seed";
  mrvlc::Diagnostics diagnostics;
  std::vector<Seed> seeds;
  if (mrvlc::driver::compile(compile, diagnostics, [](const std::string&) {})) seeds = files(out, ".mrvl");
  fs::remove_all(out);
  return seeds;
}

std::vector<Seed> seeds_for(const std::string& mode) {
  const fs::path source = MRVLC_SOURCE_DIR;
  if (mode == "ir") return files(source / "test/ir", ".txt");
  if (mode == "rules") return files(source / "lib/accel", ".rules");
  if (mode == "target") return files(source / "lib/target", ".json");
  if (mode == "binary") return binaries();
  if (mode == "sizes") return accelerator_seeds();
  return all_seeds();
}

int run(const Options& o) {
  const std::vector<Seed> seeds = seeds_for(o.mode);
  if (seeds.empty()) {
    std::fprintf(stderr, "mrvlc-mutate: nothing to start from\n");
    return 2;
  }
  const Target* target = find_target(o.mode);
  auto one = [&](uint64_t n, const fs::path& folder, std::string& what) {
    const Mutant mutant = mutant_of(o, seeds, n);
    if (target != nullptr) {
      target->run(mutant.bytes);
      return Outcome::Accepted;
    }
    return o.mode == "import" ? import_and_pass(mutant, n, what)
                              : compile_all(mutant, n, folder, o.how, what);
  };
  const BatchReport report = run_batch(one, o.batch);
  for (const Found& found : report.found) save(o, seeds, found);
  fmt::print("{} mutants of {} seeds, set {}, through {}:{}\n{}\n", o.batch.count, seeds.size(), o.seed,
             o.mode, outcomes_text(report), extremes_text(report, "mutant"));
  for (const auto& [word, count] : report.words) fmt::print("{} {}\n", word, count);
  return report.mistakes() == 0 ? 0 : 1;
}

}  // namespace

int main(int argc, char** argv) {
  Options o;
  CLI::App app{"Damages models at random and has the importer or the whole compiler take them",
               "mrvlc-mutate"};
  app.add_option(
         "mode", o.mode,
         "import (importer and passes), compile (all of it), sizes (the same, for the accelerator, sizes "
         "changed alone), or a reader: ir, rules, target, binary")
      ->check(CLI::IsMember({"import", "compile", "sizes", "ir", "rules", "target", "binary"}));
  app.add_option("-n,--count", o.batch.count, "mutants")->default_val(1000);
  app.add_option("--first", o.batch.first, "number of the first");
  app.add_option("--seed", o.seed, "another set of mutants");
  app.add_option("-j,--jobs", o.batch.jobs, "processes");
  app.add_option("--seconds", o.batch.seconds, "of processor time for a mutant");
  app.add_option("--megabytes", o.megabytes, "of memory for a process");
  app.add_option("--save", o.save, "folder for the models that show a mistake");
  app.add_option("--target", o.how.target, "of compile; both in turn when not given");
  app.add_option("--cc", o.how.cc, "C compiler that checks what was generated");
  app.add_flag("--progress", o.batch.progress);
  app.add_flag("--show", o.show, "all that is known of a mistake");
  CLI11_PARSE(app, argc, argv);
  o.batch.max_bytes = o.megabytes << 20;
  if (o.mode == "sizes") o.how.target = "cn10ka";
  return run(o);
}
