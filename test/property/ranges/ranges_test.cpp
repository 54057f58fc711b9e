// Random models of all operators, on inputs inside the ranges that were stated: no value that the reference
// interpreter gives lies outside the interval that was proved. MRVLC_RANDOM_SEED, MRVLC_RANDOM_CASES.
#include <fmt/format.h>

#include <catch2/catch.hpp>
#include <iostream>
#include <map>

#include "../graphs/grow.h"
#include "mrvlc/interp/visit.h"
#include "mrvlc/onnx/importer.h"
#include "mrvlc/range/range.h"

namespace mrvlc {
namespace {

using random::Dice;
using range::Interval;

int64_t setting(const char* name, int64_t otherwise) {
  const char* text = std::getenv(name);
  return text == nullptr ? otherwise : std::atoll(text);
}

bool is_number(ElementType type) {
  return is_float(type) || is_integer(type);
}

struct Case {
  ir::Graph graph;
  range::Stated stated;
  std::vector<Tensor> inputs;  // as the model was grown with
};

// Integers are often sizes and indices: they stay as they are, and nothing is stated of them.
std::optional<Case> made(const graphs::Model& model, Dice& dice) {
  Diagnostics said;
  auto imported = onnx::import_bytes(graphs::to_onnx(model), {}, {}, said);
  if (!imported) return std::nullopt;
  Case out{std::move(imported->graph), {}, {}};
  if (out.graph.inputs().size() != model.inputs.size()) return std::nullopt;
  for (size_t i = 0; i < model.inputs.size(); ++i) {
    const Tensor& data = model.values[static_cast<size_t>(model.inputs[i])].data;
    out.inputs.push_back(data);
    if (!is_float(data.elem()) || data.elements() == 0 || data.type().wrapper != Wrapper::None) continue;
    Interval all{data.as_double(0), data.as_double(0)};
    for (int64_t k = 0; k < data.elements(); ++k) all = hull(all, range::point(data.as_double(k)));
    if (!all.bounded()) continue;
    // Sometimes far more than the data that operators were chosen by.
    const double wider = dice.of({0.0, 0.0, 0.5, 3.0}) * (all.high - all.low);
    Tensor ends(data.type().with_elem(data.elem()));
    ends.set_double(0, all.low - wider);
    all.low = ends.as_double(0);
    ends.set_double(0, all.high + wider);
    all.high = ends.as_double(0);
    if (all.bounded()) out.stated[i] = all;
  }
  return out;
}

std::vector<Tensor> drawn(const Case& c, Dice& dice) {
  std::vector<Tensor> out = c.inputs;
  const int ends = dice.of({0, 50, 100});  // of the elements, in per cent
  for (const auto& [i, interval] : c.stated)
    for (int64_t k = 0; k < out[i].elements(); ++k) {
      const double v = dice.chance(ends) ? (dice.chance(50) ? interval.low : interval.high)
                                         : dice.real(interval.low, interval.high);
      out[i].set_double(k, v);
      if (!interval.contains(out[i].as_double(k))) out[i].set_double(k, interval.low);
    }
  return out;
}

class Check {
 public:
  void model(uint64_t seed, const graphs::Model& model) {
    Dice dice(seed);
    const auto c = made(model, dice);
    if (!c) return;
    ++models;
    const range::Ranges ranges(c->graph, c->stated);
    find_bounded(c->graph, ranges);
    for (int n = 0; n < 4; ++n) {
      const std::vector<Tensor> inputs = n == 0 ? c->inputs : drawn(*c, dice);
      const auto ran = interp::run_visited(
          c->graph, inputs, [&](ir::ValueId id, Tensor& t) { look(*c, ranges, seed, model, id, t); }, false);
      runs += ran.ok() ? 1 : 0;
    }
  }

  int64_t models = 0, runs = 0, proved = 0, values = 0, failed = 0, by_channel = 0;
  std::map<std::string, std::pair<int64_t, int64_t>> operators;  // results that are proved, all

 private:
  // Values of which all that they are made of is bounded: they hold no NaN.
  void find_bounded(const ir::Graph& g, const range::Ranges& ranges) {
    bounded_.assign(g.value_slots(), false);
    for (ir::ValueId v : g.inputs()) bounded_[v.index()] = ranges.of(v).bounded();
    for (ir::NodeId id : g.topological_order()) {
      const ir::Node& n = g.node(id);
      bool all = ir::bodies_of(n).empty();
      for (ir::ValueId v : n.inputs) all = all && (!v.valid() || g.is_constant(v) || bounded_[v.index()]);
      for (ir::ValueId v : n.outputs) {
        if (!v.valid()) continue;
        const bool known = ranges.of(v).bounded();
        bounded_[v.index()] = all && known;
        if (!is_float(g.value(v).type.elem)) continue;
        ++values, proved += known ? 1 : 0, by_channel += ranges.range(v).by_channel() ? 1 : 0;
        auto& count = operators[n.op->name.empty() ? "?" : std::string(n.op->name)];
        count.first += known ? 1 : 0, count.second += 1;
      }
    }
  }

  void look(const Case& c, const range::Ranges& ranges, uint64_t seed, const graphs::Model& model,
            ir::ValueId id, const Tensor& t) {
    if (t.type().wrapper != Wrapper::None || !is_number(t.elem())) return;
    const range::Range& r = ranges.range(id);
    int64_t inner = 1;
    for (size_t d = static_cast<size_t>(r.axis) + 1; d < t.shape().size(); ++d) inner *= t.shape()[d];
    const auto channels = static_cast<int64_t>(r.channels.size());
    for (int64_t k = 0; k < t.elements(); ++k) {
      const double v = t.as_double(k);
      const Interval& i = r.channels[static_cast<size_t>(channels == 1 ? 0 : k / inner % channels)];
      if (std::isnan(v) ? !bounded_[id.index()] : i.contains(v)) continue;
      const ir::Value& value = c.graph.value(id);
      if (++failed < 20)
        FAIL_CHECK("seed " << seed << ": '" << value.name << "' of "
                           << (value.producer.valid() ? c.graph.node(value.producer).op->name : "the inputs")
                           << " is " << v << ", proved to be in [" << i.low << ", " << i.high << "]\n"
                           << graphs::to_text(model));
      return;
    }
  }

  std::vector<bool> bounded_;
};

TEST_CASE("random models stay in the intervals that are proved") {
  const auto first = static_cast<uint64_t>(setting("MRVLC_RANDOM_SEED", 1));
  const int64_t cases = setting("MRVLC_RANDOM_CASES", 1500);
  Check check;
  for (int64_t k = 0; k < cases; ++k) {
    const uint64_t seed = first + static_cast<uint64_t>(k);
    check.model(seed, graphs::random_model(seed, setting("MRVLC_RANDOM_NODES", 8)));
  }
  INFO(check.models << " models, " << check.runs << " runs, " << check.proved << " of " << check.values
                    << " values proved, " << check.by_channel << " by channel");
  if (std::getenv("MRVLC_TEST_VERBOSE") != nullptr) {
    std::cout << check.models << " models, " << check.runs << " runs, " << check.proved << " of "
              << check.values << " values proved, " << check.by_channel << " by channel\n";
    for (const auto& [op, n] : check.operators)
      std::cout << fmt::format("  {} {}/{}\n", op, n.first, n.second);
  }
  CHECK(check.failed == 0);
  // It is not that nothing is proved.
  if (cases >= 1000) CHECK(check.proved * 2 > check.values);
}

// Each operator in models of its own, so that rare ones have their turn.
TEST_CASE("each operator stays in the intervals that are proved") {
  const int64_t cases = setting("MRVLC_RANGE_CASES", 40);
  Check check;
  for (const ops::OpDef* op : graphs::growable()) {
    for (int64_t k = 0; k < cases; ++k) {
      const uint64_t seed = 1000 + static_cast<uint64_t>(k);
      graphs::Grower g(seed);
      for (int n = 0; n < 3; ++n) graphs::propose(g, *op);
      if (g.model.nodes.empty()) continue;
      g.finish();
      check.model(seed, g.model);
    }
  }
  if (std::getenv("MRVLC_TEST_VERBOSE") != nullptr)
    for (const auto& [op, n] : check.operators)
      std::cout << fmt::format("  {} {}/{}\n", op, n.first, n.second);
  CHECK(check.failed == 0);
}

}  // namespace
}  // namespace mrvlc
