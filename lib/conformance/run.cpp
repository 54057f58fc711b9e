// All cases in batches: each of its steps in child processes, batches in parallel.
#include <fmt/format.h>
#include <re2/re2.h>

#include <algorithm>

#include "isolate.h"
#include "mrvlc/interp/interp.h"
#include "mrvlc/onnx/exporter.h"
#include "mrvlc/support/diag/general.h"
#include "mrvlc/support/temporary_dir.h"
#include "stub.h"

namespace mrvlc::conformance {
namespace fs = std::filesystem;

namespace {

constexpr size_t kBatch = 32;

struct Item {
  CaseFolder folder;
  size_t release = 0;
  CaseResult* result = nullptr;
};

// The model as a file that we wrote says it.
Status write_and_read(onnx::Model& model, const onnx::ImportOptions& import) {
  MRVLC_ASSIGN(const std::string bytes, onnx::to_onnx(model.graph, ""));
  Diagnostics diagnostics;
  auto again = onnx::import_bytes(bytes, {}, import, diagnostics);
  if (!again) return import_error(diagnostics);
  model = *std::move(again);
  return {};
}

Outcome interpret(const CaseFolder& folder, const Options& options) {
  const Difference& judge = options.difference;
  Case c = load_case(folder.folder);
  if (!c.model) return c.refusal;
  if (options.exported) {
    const Status status = write_and_read(*c.model, c.import);
    if (!status.ok()) return {Verdict::Wrong, {}, "written by to_onnx: " + status.error().message};
  }
  Outcome outcome;
  for (size_t set = 0; set < c.sets.size(); ++set) {
    auto inputs = read_inputs(c, set);
    if (!inputs.ok()) return failure(inputs.error());
    auto actual = interp::run(c.model->graph, *inputs);
    if (!actual.ok()) return failure(actual.error());
    outcome = check_outputs(c, set, *inputs, *actual, judge);
    if (outcome.verdict != Verdict::Passed) break;
  }
  return outcome;
}

// An outcome as a line: verdict, code and message.
std::string to_line(const Outcome& outcome) {
  std::string message = outcome.message.substr(0, 2000);
  std::replace_if(
      message.begin(), message.end(), [](char c) { return c == '\n' || c == '\t'; }, ' ');
  return fmt::format("{}\t{}\t{}", static_cast<int>(outcome.verdict), outcome.code, message);
}

Outcome from_line(const std::string& line) {
  const size_t code = line.find('\t'), message = line.find('\t', code + 1);
  return {static_cast<Verdict>(line[0] - '0'), line.substr(code + 1, message - code - 1),
          line.substr(message + 1)};
}

Outcome crashed(std::string why) {
  return {Verdict::Crashed, {}, std::move(why)};
}

using Outcomes = std::vector<std::optional<Outcome>>;

// step(i) in a child for those without an outcome that wanted(i); of the others the outcomes stay.
template <class Step, class Take>
void isolate(size_t count, double seconds, const Step& step, const Take& take) {
  for_each_isolated(
      count, seconds, [&](size_t i) { return to_line(step(i)); },
      [&](size_t i, const std::string& line) { take(i, from_line(line)); },
      [&](size_t i, std::string why) { take(i, crashed(std::move(why))); });
}

class Batch {
 public:
  Batch(const Options& options, std::span<const Item> items, fs::path folder)
      : options_(options), items_(items), folder_(std::move(folder)) {}

  Outcomes interpreted() {
    Outcomes out(items_.size());
    isolate(
        items_.size(), options_.seconds, [&](size_t i) { return interpret(items_[i].folder, options_); },
        [&](size_t i, Outcome outcome) { out[i] = std::move(outcome); });
    return out;
  }

  Outcomes compiled() {
    std::error_code ec;
    fs::create_directories(folder_, ec);
    Outcomes out(items_.size());
    generate(out);
    build(out);
    execute(out);
    if (options_.keep.empty()) fs::remove_all(folder_, ec);
    return out;
  }

 private:
  std::string symbol(size_t i) const {
    std::string name = fmt::format("r{}_{}", items_[i].release, items_[i].folder.name);
    std::replace_if(
        name.begin(), name.end(), [](unsigned char c) { return std::isalnum(c) == 0; }, '_');
    return name;
  }

  void generate(Outcomes& out) {
    isolate(
        items_.size(), options_.seconds,
        [&](size_t i) {
          Case c = load_case(items_[i].folder.folder);
          return c.model ? generate_stub(c, options_, symbol(i), folder_) : c.refusal;
        },
        [&](size_t i, Outcome outcome) {
          const bool done = outcome.verdict != Verdict::Passed || !outcome.message.empty();
          if (done) out[i] = std::move(outcome);
        });
  }

  void build(Outcomes& out) {
    std::vector<size_t> of;
    std::vector<std::string> names;
    for (size_t i = 0; i < out.size(); ++i) {
      if (out[i]) continue;
      of.push_back(i);
      names.push_back(symbol(i));
    }
    auto errors = build_stubs(options_, folder_, names);
    for (size_t k = 0; k < of.size(); ++k) {
      if (!errors[k].empty()) out[of[k]] = crashed("the C does not compile: " + errors[k]);
    }
  }

  void execute(Outcomes& out) {
    std::vector<size_t> of;
    for (size_t i = 0; i < out.size(); ++i) {
      if (!out[i]) of.push_back(i);
    }
    StubLibrary library(folder_);  // loaded in the child
    isolate(
        of.size(), options_.seconds,
        [&](size_t k) {
          return run_stub(load_case(items_[of[k]].folder.folder), options_, symbol(of[k]), library);
        },
        [&](size_t k, Outcome outcome) { out[of[k]] = std::move(outcome); });
  }

  const Options& options_;
  std::span<const Item> items_;
  fs::path folder_;
};

std::string to_lines(const Outcomes& outcomes) {
  std::string text;
  for (const auto& outcome : outcomes) text += to_line(*outcome) + "\n";
  return text;
}

void take_lines(std::string_view text, std::span<const Item> items, size_t engine) {
  for (const Item& item : items) {
    const size_t end = text.find('\n');
    if (end == std::string_view::npos) return;
    item.result->of[engine] = from_line(std::string(text.substr(0, end)));
    text.remove_prefix(end + 1);
  }
}

Status find_cases(const Options& options, std::vector<Release>& releases, std::vector<Item>& items) {
  const re2::RE2 filter(options.filter, re2::RE2::Quiet);
  if (!filter.ok()) return make_diag<DiagCode::MRV0004>(fmt::format("--filter: {}", filter.error()));
  for (const Root& root : options.roots) {
    auto folders = cases_in(root.folder);
    if (folders.empty()) return make_diag<DiagCode::MRV0003>(root.folder.string(), "it holds no cases");
    Release& release = releases.emplace_back(Release{root.name, {}});
    std::erase_if(folders, [&](const CaseFolder& f) { return !re2::RE2::PartialMatch(f.name, filter); });
    for (const CaseFolder& f : folders) release.cases.push_back({f.suite, f.name, {}});
    for (size_t i = 0; i < folders.size(); ++i)
      items.push_back({std::move(folders[i]), releases.size(), nullptr});
  }
  size_t next = 0;
  for (Release& release : releases) {
    for (CaseResult& result : release.cases) items[next++].result = &result;
  }
  return {};
}

// The folder of the generated C: one to keep, or a temporary one that lives as long as `temporary`.
Result<fs::path> workplace(const fs::path& keep, std::optional<TemporaryDir>& temporary) {
  if (!keep.empty()) {
    std::error_code ec;
    fs::create_directories(keep, ec);
    return keep;
  }
  MRVLC_ASSIGN(TemporaryDir dir, TemporaryDir::create());
  return temporary.emplace(std::move(dir)).path();
}

}  // namespace

Result<std::vector<Release>> run(const Options& options) {
  std::vector<Release> releases;
  std::vector<Item> items;
  MRVLC_TRY(find_cases(options, releases, items));
  std::optional<TemporaryDir> temporary;
  MRVLC_ASSIGN(const fs::path folder, workplace(options.keep, temporary));
  // One engine's batches behind the other's, so that a batch is short.
  const size_t batches = (items.size() + kBatch - 1) / kBatch;
  auto batch_items = [&](size_t b) {
    return std::span<const Item>(items).subspan(b * kBatch, std::min(kBatch, items.size() - b * kBatch));
  };
  auto is_asked = [&](size_t task) { return options.run[task / batches]; };
  for_each_parallel(
      options.jobs, 2 * batches,
      [&](size_t task) {
        if (!is_asked(task)) return std::string();
        const size_t b = task % batches;
        Batch batch(options, batch_items(b), folder / fmt::format("{:03}", b));
        return to_lines(task < batches ? batch.interpreted() : batch.compiled());
      },
      [&](size_t task, const std::string& text) {
        take_lines(text, batch_items(task % batches), task / batches);
      });
  for (Item& item : items) {
    for (size_t e = 0; e < kEngines.size(); ++e) {
      if (options.run[e] && !item.result->of[e]) item.result->of[e] = crashed("its batch was lost");
    }
  }
  return releases;
}

}  // namespace mrvlc::conformance
