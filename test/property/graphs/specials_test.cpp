// Random models of few operators with NaN and infinities among their inputs, and integers at and beyond the
// ends of what they say where: the interpreter, generated C and the simulated accelerator follow
// docs/special-values.md. Where the reference refuses the values, so must they. MRVLC_RANDOM_SEED,
// MRVLC_SPECIAL_CASES, MRVLC_RANDOM_OP.
#include <fmt/format.h>

#include <catch2/catch.hpp>
#include <cmath>
#include <iostream>
#include <map>

#include "check.h"
#include "coarse.h"
#include "grow.h"
#include "paths.h"

namespace mrvlc::graphs {
namespace {

using conformance::Outcome;
using conformance::Verdict;

constexpr size_t kModels = 256;  // in a run

enum class Spoilt : uint8_t { No, Values, Refused };

void spoil(random::Dice& dice, Tensor& tensor) {
  const int percent = is_float(tensor.elem()) ? dice.of({0, 3, 15}) : dice.of({0, 10, 60});
  for (int64_t i = 0; i < tensor.elements(); ++i) {
    const bool spoils = dice.chance(percent);
    if (is_float(tensor.elem())) {
      // Few digits, so that little depends on how sums are rounded.
      const double v = std::nearbyint(std::clamp(tensor.as_double(i), -8.0, 8.0) * 8) / 8;
      tensor.set_double(i, spoils ? dice.of({double{NAN}, double{INFINITY}, -double{INFINITY}, -0.0}) : v);
    } else if (spoils && is_signed_integer(tensor.elem()) && byte_size(tensor.elem()) >= 4) {
      tensor.set_int(i, dice.chance(90) ? dice.pick(-6, 6) : dice.of<int64_t>({INT32_MAX, INT32_MIN}));
    }
  }
}

// Scales and biases stay as they are: what is computed from infinite ones depends on the order.
bool is_parameter(const Model& model, int v) {
  for (const Node& node : model.nodes) {
    if (node.op->name.find("Normalization") == std::string_view::npos) continue;
    for (size_t i = 1; i < node.inputs.size(); ++i)
      if (node.inputs[i] == v) return true;
  }
  return false;
}

// New inputs, and what the reference makes of them.
Spoilt spoil(Model& model, uint64_t seed) {
  random::Dice dice(seed);
  std::vector<Tensor> held;
  for (size_t v = 0; v < model.values.size(); ++v) {
    Value& value = model.values[v];
    if (value.kind == Kind::Input && !is_parameter(model, static_cast<int>(v))) spoil(dice, value.data);
    held.push_back(value.data);
  }
  for (const Node& node : model.nodes) {
    std::vector<const Tensor*> in;
    for (int v : node.inputs) in.push_back(v < 0 ? nullptr : &held[static_cast<size_t>(v)]);
    auto out = evaluate_op(*node.op, node.attrs, in, node.outputs.size());
    if (!out.ok()) return Spoilt::Refused;
    for (size_t i = 0; i < out->size(); ++i) {
      Value& value = model.values[static_cast<size_t>(node.outputs[i])];
      if (!((*out)[i].type() == value.data.type())) return Spoilt::No;
      held[static_cast<size_t>(node.outputs[i])] = value.data = std::move((*out)[i]);
    }
  }
  return Spoilt::Values;
}

bool suits(const Model& model) {
  if (data_sets(model) > 1) return false;
  for (const Value& value : model.values)
    if (value.dynamic) return false;
  for (const Node& node : model.nodes)
    if (!node.bodies.empty()) return false;
  return true;
}

Model model_of(uint64_t seed) {
  const char* only = std::getenv("MRVLC_RANDOM_OP");
  if (only == nullptr) return random_model(seed, setting("MRVLC_RANDOM_NODES", 2));
  Grower g(seed);
  for (int attempt = 0; attempt < 50 && g.model.nodes.empty(); ++attempt) propose(g, *ops::find_op("", only));
  g.finish();
  return std::move(g.model);
}

struct Tally {
  int64_t compared = 0, refused = 0, accelerated = 0, failed = 0, not_taken = 0;
};

class Batch {
 public:
  Batch(Tally& tally, Cases& cases) : tally_(tally), cases_(cases) {}

  void add(Model model, uint64_t seed, Spoilt spoilt) {
    models_.push_back(std::move(model));
    seeds_.push_back(seed);
    spoilt_.push_back(spoilt);
  }
  size_t size() const { return models_.size(); }

  void check() {
    cases_.write(models_);
    const auto interpreted = cases_.run_engine(0), compiled = cases_.run_engine(1);
    const auto simulated = cases_.simulate(models_);
    for (size_t i = 0; i < models_.size(); ++i) {
      judge(i, "the interpreter", interpreted[i]);
      judge(i, "C", compiled[i]);
      if (std::atoi(simulated[i].message.c_str()) == 0 && simulated[i].verdict == Verdict::Passed) continue;
      ++tally_.accelerated;
      judge(i, "the simulator", simulated[i]);
    }
  }

 private:
  void judge(size_t i, const char* who, const Outcome& outcome) {
    if (outcome.verdict == Verdict::Refused && spoilt_[i] == Spoilt::Values) {
      ++tally_.not_taken;
      return;
    }
    const bool refuses = outcome.message.find("returned 5") != std::string::npos || outcome.code == "MRV0208";
    const bool good = spoilt_[i] == Spoilt::Values ? outcome.verdict == Verdict::Passed : refuses;
    ++(spoilt_[i] == Spoilt::Values ? tally_.compared : tally_.refused);
    if (good) return;
    ++tally_.failed;
    const auto folder =
        std::filesystem::path(MRVLC_BINARY_DIR) / "random_specials" / fmt::format("{}", seeds_[i]);
    write_case(models_[i], folder);
    FAIL_CHECK("MRVLC_RANDOM_SEED=" << seeds_[i] << " MRVLC_SPECIAL_CASES=1: " << who << ": "
                                    << (spoilt_[i] == Spoilt::Values ? "" : "expected an error; ")
                                    << outcome.code << " " << outcome.message << "\n"
                                    << folder.string() << "\n"
                                    << to_text(models_[i]));
  }

  Tally& tally_;
  Cases& cases_;
  std::vector<Model> models_;
  std::vector<uint64_t> seeds_;
  std::vector<Spoilt> spoilt_;
};

}  // namespace

TEST_CASE("random models with NaN, infinities and indices out of range") {
  const auto first = static_cast<uint64_t>(setting("MRVLC_RANDOM_SEED", 1));
  const auto last = first + static_cast<uint64_t>(setting("MRVLC_SPECIAL_CASES", 60));
  Tally tally;
  Cases cases;
  for (uint64_t seed = first; seed < last;) {
    Batch batch(tally, cases);
    for (; seed < last && batch.size() < kModels; ++seed) {
      Model model = model_of(seed);
      if (model.nodes.empty() || !suits(model)) continue;
      const Spoilt spoilt = spoil(model, seed);
      if (spoilt != Spoilt::No) batch.add(std::move(model), seed, spoilt);
    }
    batch.check();
  }
  std::cout << fmt::format(
      "special values: {} results compared, {} refusals, {} of them with layers on the accelerator, {} not "
      "taken; {} failed\n",
      tally.compared, tally.refused, tally.accelerated, tally.not_taken, tally.failed);
}

}  // namespace mrvlc::graphs
