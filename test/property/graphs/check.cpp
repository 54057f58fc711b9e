#include "check.h"

#include <fmt/format.h>
#include <stdlib.h>

#include <algorithm>
#include <cstdlib>
#include <fstream>
#include <nlohmann/json.hpp>
#include <thread>

#include "coarse.h"
#include "grow.h"
#include "ideal.h"
#include "mrvlc/driver/compare.h"
#include "paths.h"

namespace mrvlc::graphs {
namespace fs = std::filesystem;
using conformance::Outcome;
using conformance::Verdict;

Cases::Cases() {
  std::string name = (fs::temp_directory_path() / "mrvlc-graphs-XXXXXX").string();
  if (mkdtemp(name.data()) == nullptr) std::abort();
  folder_ = name;
}

Cases::~Cases() {
  std::error_code ignored;
  fs::remove_all(folder_, ignored);
}

void Cases::write(const std::vector<Model>& models) {
  fs::remove_all(folder_ / "random");
  count_ = models.size();
  for (size_t i = 0; i < models.size(); ++i)
    write_case(models[i], folder_ / "random" / fmt::format("{:06}", i));
}

conformance::Options Cases::options() const {
  conformance::Options options;
  options.roots = {{"random", folder_}};
  options.jobs =
      static_cast<size_t>(setting("MRVLC_RANDOM_JOBS", std::max(1u, std::thread::hardware_concurrency())));
  options.include = MRVLC_SOURCE_DIR "/include";
  if (const char* flags = std::getenv("MRVLC_RANDOM_CFLAGS")) options.cflags = flags;
  return options;
}

std::vector<conformance::CaseResult> Cases::run() const {
  auto releases = conformance::run(options());
  return releases.ok() ? releases->front().cases : std::vector<conformance::CaseResult>(count_);
}

std::vector<Outcome> Cases::run_engine(size_t engine) const {
  conformance::Options o = options();
  o.run = {engine == 0, engine == 1};
  auto releases = conformance::run(o);
  std::vector<Outcome> outcomes(count_, {Verdict::Crashed, {}, "the run failed"});
  for (size_t i = 0; releases.ok() && i < count_; ++i) outcomes[i] = *releases->front().cases[i].of[engine];
  return outcomes;
}

namespace {

// Judges output `output` of set `set` of a model.
using Judgement = std::function<std::string(size_t set, size_t output, const Tensor&, const Tensor&)>;

Judgement within_tolerances(const Model& model) {
  std::vector<std::vector<std::optional<double>>> of;
  for (size_t set = 0; set < data_sets(model); ++set) of.push_back(fp16_tolerances(model, set));
  return [of](size_t set, size_t output, const Tensor& actual, const Tensor& expected) {
    const auto& tolerance = of[set][output];
    if (!tolerance) return std::string();
    const driver::Limits least;
    return driver::compare(actual, expected,
                           {std::max(*tolerance, least.wide), std::max(*tolerance, least.narrow)})
        .text;
  };
}

Judgement no_worse_than_ideal(const Model& model) {
  return [of = ideal_fp16(model)](size_t, size_t output, const Tensor& actual, const Tensor& expected) {
    return worse_than(of[output], actual, expected);
  };
}

}  // namespace

std::vector<Outcome> Cases::simulate(const std::vector<Model>& models, Judge judge) const {
  std::vector<Judgement> judgements;
  for (const Model& model : models)
    judgements.push_back(judge == Judge::Ideal ? no_worse_than_ideal(model) : within_tolerances(model));
  conformance::Options o = options();
  o.run = {false, true};
  o.target = "cn10ka";
  o.difference = [&](const fs::path& folder, const fs::path& data, size_t output, const Tensor& actual,
                     const Tensor& expected) {
    const std::string set = data.filename().string();
    return judgements[std::stoul(folder.filename().string())](std::stoul(set.substr(set.rfind('_') + 1)),
                                                              output, actual, expected);
  };
  setenv("MRVLC_JOBS", "1", 0);  // the simulator's threads; the models run side by side
  auto releases = conformance::run(o);
  std::vector<Outcome> outcomes(count_, {Verdict::Crashed, {}, "the run failed"});
  for (size_t i = 0; releases.ok() && i < count_; ++i) outcomes[i] = *releases->front().cases[i].of[1];
  return outcomes;
}

bool Cases::has_onnx_runtime() {
  const char* folder = std::getenv("ORT_DIR");
  return folder != nullptr && fs::exists(fs::path(folder) / "node_modules" / "onnxruntime-node");
}

// The script writes FOLDER/ort.json: for each case "" (agrees), "refused: ..." or what differs.
std::vector<Outcome> Cases::run_onnx_runtime() const {
  const std::string command =
      fmt::format("node '{}/test/property/graphs/onnx_runtime.mjs' '{}/random' '{}/ort.json' > /dev/null",
                  MRVLC_SOURCE_DIR, folder_.string(), folder_.string());
  std::vector<Outcome> outcomes(count_);
  const bool ran = std::system(command.c_str()) == 0;
  std::ifstream file(folder_ / "ort.json");
  const auto json = nlohmann::json::parse(file, nullptr, false);
  for (size_t i = 0; i < count_; ++i) {
    const std::string name = fmt::format("{:06}", i);
    const std::string text =
        json.is_object() && json.contains(name) ? json[name].get<std::string>() : "crashed";
    if (text.empty()) continue;
    outcomes[i] = {text.starts_with("refused") || !ran ? Verdict::Refused : Verdict::Wrong, {}, text};
  }
  return outcomes;
}

int64_t setting(const char* name, int64_t otherwise) {
  const char* text = std::getenv(name);
  return text == nullptr ? otherwise : std::strtoll(text, nullptr, 10);
}

namespace {

// The node's results become inputs that hold what it computed; what led to them goes.
Model without(Model model, size_t node) {
  for (int v : model.nodes[node].outputs) {
    model.values[static_cast<size_t>(v)].kind = Kind::Input;
    model.inputs.push_back(v);
  }
  std::erase_if(model.outputs, [&](int v) {
    return std::find(model.nodes[node].outputs.begin(), model.nodes[node].outputs.end(), v) !=
           model.nodes[node].outputs.end();
  });
  model.nodes.erase(model.nodes.begin() + static_cast<ptrdiff_t>(node));
  prune(model);
  return model;
}

std::vector<Model> smaller(const Model& model) {
  std::vector<Model> out;
  for (size_t i = 0; i < model.outputs.size() && model.outputs.size() > 1; ++i) {
    Model m = model;
    m.outputs = {model.outputs[i]};
    prune(m);
    out.push_back(std::move(m));
  }
  for (size_t n = model.nodes.size(); n-- > 0;) {
    const auto& made = model.nodes[n].outputs;
    if (!std::all_of(made.begin(), made.end(),
                     [&](int v) { return has_file(model.values[static_cast<size_t>(v)]); }))
      continue;
    Model m = without(model, n);
    if (!m.outputs.empty() && !m.nodes.empty()) out.push_back(std::move(m));
  }
  std::stable_sort(out.begin(), out.end(),
                   [](const Model& a, const Model& b) { return a.nodes.size() < b.nodes.size(); });
  return out;
}

bool has_failed(const std::optional<Outcome>& outcome) {
  return outcome && (outcome->verdict == Verdict::Wrong || outcome->verdict == Verdict::Crashed);
}

}  // namespace

Model reduce(Model model, Judge judge) {
  Cases cases;
  for (;;) {
    const std::vector<Model> candidates = smaller(model);
    if (candidates.empty()) return model;
    cases.write(candidates);
    size_t found = candidates.size();
    if (judge != Judge::Interpreter && judge != Judge::C) {
      const auto outcomes =
          judge == Judge::OnnxRuntime ? cases.run_onnx_runtime() : cases.simulate(candidates, judge);
      for (size_t i = candidates.size(); i-- > 0;)
        if (has_failed(outcomes[i])) found = i;
    } else {
      const auto results = cases.run();
      for (size_t i = candidates.size(); i-- > 0;)
        if (has_failed(results[i].of[judge == Judge::C ? 1 : 0])) found = i;
    }
    if (found == candidates.size()) return model;
    model = candidates[found];
  }
}

}  // namespace mrvlc::graphs
