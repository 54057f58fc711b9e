// mrvlc-fuzz-rules: random rule files on random graphs, compiled, simulated and compared; CONTRIBUTING.md.
#include <fmt/format.h>
#include <sys/mman.h>

#include <CLI/CLI.hpp>
#include <atomic>
#include <fstream>

#include "grammar.h"
#include "grown.h"

namespace {

using namespace mrvlc;
using namespace mrvlc::rule_trials;
namespace fs = std::filesystem;

constexpr size_t kCodes = 10000;

// In memory that all processes share.
struct Tally {
  std::atomic<uint64_t> on_device{0}, layers{0}, asked{0}, fused{0}, source{0}, compared{0};
  std::atomic<uint32_t> refused[kCodes] = {};  // by number of the code
};

struct Options {
  std::string save;
  bool show = false;
  uint64_t required = 0;
  fuzz::BatchOptions batch;
};

struct Case {
  graphs::Model model;
  Trial trial;
  std::string rules, command;  // the options of mrvlc compile
};

std::string random_pattern(random::Dice& dice, const ir::Graph& graph) {
  const ir::Node& node = graph.node(dice.of(graph.topological_order()));
  return dice.chance(70) ? node.name : std::string(node.op->name);
}

Result<Case> make_case(uint64_t seed) {
  Case c{random_model(seed), {}, {}, {}};
  c.trial = trial_of(c.model);
  c.trial.imported = c.trial.graph;
  MRVLC_TRY(simplify(c.trial.graph));
  if (c.trial.graph.topological_order().empty()) return c;  // all of it folded
  random::Dice dice(seed * 2 + 1);
  partition::Options& o = c.trial.options;
  MRVLC_ASSIGN(const ir::Graph integers, with_integer_weights(*c.trial.imported));
  c.rules = random_rules(dice, c.trial.graph, *c.trial.imported, integers);
  c.trial.rule_files = {{"random.rules", c.rules}};
  c.trial.default_rules = dice.chance(40);
  c.trial.tiles = dice.of({1u, 2u, 4u, 8u});
  c.trial.keep_layers = dice.chance(80);
  if (dice.chance(20)) o.borders.insert(random_pattern(dice, c.trial.graph));
  if (dice.chance(10)) o.cpu.push_back(random_pattern(dice, c.trial.graph));
  if (dice.chance(5)) o.accel.push_back(random_pattern(dice, c.trial.graph));
  c.command = "--rules random.rules --tiles " + std::to_string(c.trial.tiles);
  if (!c.trial.default_rules) c.command += " --no-default-rules";
  for (const std::string& b : o.borders) c.command += " --border " + b;
  for (const std::string& p : o.cpu) c.command += " --cpu " + p;
  for (const std::string& p : o.accel) c.command += " --accel " + p;
  return c;
}

fuzz::Outcome one(uint64_t seed, Tally& tally, std::string& what) {
  auto c = make_case(seed);
  if (!c.ok()) return what = c.error().message, fuzz::Outcome::Internal;
  if (c->rules.empty()) return fuzz::Outcome::Accepted;
  const Verdict v = run(std::move(c->trial));
  what = v.code + " " + v.what;
  tally.on_device += v.layers > 0 ? 1 : 0;
  tally.layers += v.layers;
  tally.asked += v.asked;
  tally.fused += v.fused;
  tally.source += v.source;
  tally.compared += v.compared;
  if (v.outcome != fuzz::Outcome::Accepted && v.code.size() > 3)
    ++tally.refused[std::stoul(v.code.substr(3)) % kCodes];
  return v.outcome;
}

void save(const Options& o, const fuzz::Found& found) {
  fmt::print("{} {}: {}\n", found.n, to_string(found.outcome), found.what.substr(0, o.show ? 6000 : 300));
  auto c = make_case(found.n);
  if (!c.ok()) return;
  if (o.show) fmt::print("{}{}\n{}\n", graphs::to_text(c->model), c->command, c->rules);
  if (o.save.empty()) return;
  const fs::path folder = fs::path(o.save) / std::to_string(found.n);
  graphs::write_case(c->model, folder);
  std::ofstream(folder / "random.rules") << c->rules;
  std::ofstream(folder / "README") << c->command << "\n" << found.what << "\n";
}

// The only case, though it shows no mistake.
void show_case(const Options& o) {
  auto c = make_case(o.batch.first);
  if (!c.ok()) return;
  fmt::print("{}{}\n{}\n", graphs::to_text(c->model), c->command, c->rules);
  const Verdict v = run(std::move(c->trial));
  fmt::print("{} {}\n", v.code, v.what);
}

int run_all(const Options& o) {
  void* memory = mmap(nullptr, sizeof(Tally), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
  if (memory == MAP_FAILED) return 3;
  Tally& tally = *new (memory) Tally;
  const auto report = fuzz::run_batch(
      [&](uint64_t n, const fs::path&, std::string& what) { return one(n, tally, what); }, o.batch);
  for (const fuzz::Found& found : report.found) save(o, found);
  if (o.show && o.batch.count == 1 && report.found.empty()) show_case(o);
  fmt::print(
      "{} rule files:{}\n{} ran {} layers on the accelerator, {} of their own rules ({} of several "
      "operators, {} of stage source); {} "
      "outputs compared; refused:",
      o.batch.count, fuzz::outcomes_text(report), tally.on_device.load(), tally.layers.load(),
      tally.asked.load(), tally.fused.load(), tally.source.load(), tally.compared.load());
  for (size_t i = 0; i < kCodes; ++i)
    if (tally.refused[i] > 0) fmt::print(" MRV{:04} {}", i, tally.refused[i].load());
  fmt::print("\n{}\n", fuzz::extremes_text(report, "case"));
  const bool enough = tally.fused >= o.required && tally.source >= o.required;
  if (!enough) fmt::print("fewer than {} layers of several operators, or of stage source\n", o.required);
  return report.mistakes() == 0 && enough ? 0 : 1;
}

}  // namespace

int main(int argc, char** argv) {
  Options o;
  CLI::App app{"Random rule files on random graphs: compiled, simulated, and compared with the reference",
               "mrvlc-fuzz-rules"};
  app.add_option("-n,--count", o.batch.count, "rule files")->default_val(1000);
  app.add_option("--first", o.batch.first, "number of the first")->default_val(1);
  app.add_option("-j,--jobs", o.batch.jobs, "processes");
  app.add_option("--seconds", o.batch.seconds, "of processor time for one");
  app.add_option("--save", o.save, "folder for what shows a mistake: model, rules, options");
  app.add_flag("--progress", o.batch.progress);
  app.add_flag("--show", o.show, "print graph and rules of what shows a mistake, or of the only case");
  app.add_option("--require", o.required,
                 "fail unless so many layers are of several operators, and so many of stage source");
  CLI11_PARSE(app, argc, argv);
  return run_all(o);
}
