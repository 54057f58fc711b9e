// Runs the memory planner on tables of buffers, in the form of MiniMalloc's benchmarks. A developer's tool:
// see docs/decisions/0004-memory-planner.md.
#include <CLI/CLI.hpp>
#include <chrono>
#include <cinttypes>
#include <cstdio>

#include "mrvlc/alloc/alloc.h"
#include "mrvlc/support/diag/general.h"
#include "mrvlc/support/file.h"

namespace {

using namespace mrvlc;

struct Arguments {
  std::vector<std::string> files;
  int64_t capacity = 0;
  alloc::Options options;
};

Diag not_a_table(std::string_view line) {
  return make_diag<DiagCode::MRV0003>(printable(line), "expected id,lower,upper,size, all of them integers");
}

// The heading, then `id,lower,upper,size` a line, alive in [lower, upper).
Result<std::vector<alloc::Item>> parse(const std::string& text) {
  std::vector<std::string> lines = CLI::detail::split(text, '\n');
  std::vector<alloc::Item> items;
  for (size_t i = 0; i < lines.size(); ++i) {
    CLI::detail::trim(lines[i]);
    if (lines[i].empty()) continue;
    if (i == 0 && lines[i] != "id,lower,upper,size") return not_a_table(lines[i]);
    if (i == 0) continue;
    alloc::Item item;
    char rest = 0;
    int64_t id = 0;
    int fields = std::sscanf(lines[i].c_str(), "%" SCNd64 ",%" SCNd64 ",%" SCNd64 ",%" SCNd64 "%c", &id,
                             &item.begin, &item.end, &item.size, &rest);
    if (fields != 4) return not_a_table(lines[i]);
    items.push_back(item);
  }
  return items;
}

int report(const std::string& file, const Diag& diag) {
  fmt::print(stderr, "{}\n", format_diag(file, diag));
  return static_cast<int>(diag.exit_class());
}

// One line: file, items, peak (or "none"), lower bound, whether the peak is proven to be the least,
// placements tried by the search, steps of effort, seconds.
int solve(const std::string& file, const Arguments& args) {
  auto items = [&]() -> Result<std::vector<alloc::Item>> {
    MRVLC_ASSIGN(std::string text, read_file(file));
    return parse(text);
  }();
  if (!items.ok()) return report(file, items.error());
  auto start = std::chrono::steady_clock::now();
  std::optional<alloc::Placement> found;
  if (args.capacity > 0) {
    found = alloc::place_within(*items, args.capacity, args.options);
  } else {
    found = alloc::minimise_peak(*items, args.options);
  }
  std::chrono::duration<double> time = std::chrono::steady_clock::now() - start;
  int64_t bound = alloc::peak_load(*items, args.options.alignment).bytes;
  if (!found) {
    fmt::print("{}\t{}\tnone\t{}\t\t\t\t{:.3f}\n", file, items->size(), bound, time.count());
    return static_cast<int>(ExitClass::Limit);
  }
  fmt::print("{}\t{}\t{}\t{}\t{}\t{}\t{}\t{:.3f}\n", file, items->size(), found->peak, bound,
             found->proven ? "proven" : "-", found->nodes, found->steps, time.count());
  return 0;
}

int parse_and_run(int argc, char** argv) {
  Arguments args;
  CLI::App app{"Plans memory: offsets for buffers with lifetimes", "mrvlc-alloc"};
  app.set_version_flag("--version", MRVLC_VERSION);
  app.add_option("FILE", args.files, "tables id,lower,upper,size")->required();
  app.add_option("--capacity", args.capacity, "stop at a peak of at most this; else the least is looked for")
      ->check(CLI::PositiveNumber);
  app.add_option("--alignment", args.options.alignment, "of offsets and sizes")
      ->check(CLI::Range(int64_t{1}, int64_t{1} << 30))
      ->capture_default_str();
  app.add_option("--effort", args.options.effort, "steps to spend")->capture_default_str();
  try {
    app.parse(argc, argv);
  } catch (const CLI::ParseError& e) {
    return app.exit(e) == 0 ? 0 : static_cast<int>(ExitClass::Usage);
  }
  fmt::print("file\titems\tpeak\tbound\tproven\tnodes\tsteps\tseconds\n");
  int worst = 0;
  for (const std::string& file : args.files) worst = std::max(worst, solve(file, args));
  return worst;
}

}  // namespace

int main(int argc, char** argv) {
  try {
    return parse_and_run(argc, argv);
  } catch (const std::bad_alloc&) {
    std::fputs("mrvlc-alloc: out of memory\n", stderr);
    return static_cast<int>(ExitClass::Limit);
  } catch (const std::exception& e) {
    return report("mrvlc-alloc", make_diag<DiagCode::MRV0007>(e.what()));
  }
}
