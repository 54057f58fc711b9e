// Sets of inputs within the interpreter's budget, the most telling first; integers at ends a model admits.
#include "values/made_inputs.h"

#include <fmt/ranges.h>

#include <algorithm>

#include "mrvlc/calibration/hints.h"
#include "mrvlc/interp/input_sets.h"
#include "mrvlc/interp/interp.h"
#include "mrvlc/ops/op.h"
#include "mrvlc/ops/op_kind.h"
#include "mrvlc/ops/work.h"
#include "mrvlc/support/diag/general.h"
#include "mrvlc/support/diag/sim.h"

namespace mrvlc::driver {
namespace {

using interp::InputKind;

constexpr int64_t kBudget = 2'000'000'000;  // steps of the interpreter, over all sets; docs/verify.md says so
constexpr int64_t kRoom = int64_t{64}
                          << 20;  // bytes beside those of the graph, for what integers at their ends ask for

constexpr size_t kMostTurns = 16;  // choices that a set tries, where a model refuses the first ones

struct Set {
  InputKind kind;
  uint32_t seed;
  std::string name() const {
    const bool drawn = kind != InputKind::Zeros && kind != InputKind::Constant;
    return std::string(interp::name(kind)) + (drawn ? fmt::format(" seed {}", seed) : "");
  }
};

// Those that find most in front, for when there is not room for all.
std::vector<Set> all_sets(const std::vector<uint32_t>& seeds) {
  const uint32_t first = seeds.front();
  std::vector<Set> sets = {{InputKind::Uniform, first}, {InputKind::Normal, first}};
  for (InputKind kind :
       {InputKind::Large, InputKind::Zeros, InputKind::Negative, InputKind::MaskMixed, InputKind::MaskShut,
        InputKind::MaskOpen, InputKind::Tiny, InputKind::Constant, InputKind::Highest, InputKind::Lowest})
    sets.push_back({kind, first});
  for (size_t i = 1; i < seeds.size(); ++i) sets.push_back({InputKind::Normal, seeds[i]});
  return sets;
}

bool asks_for(const std::vector<std::string>& wanted, InputKind kind) {
  const auto named = [&](std::string_view name) {
    return std::find(wanted.begin(), wanted.end(), name) != wanted.end();
  };
  return wanted.empty() || named("all") || named(interp::name(kind));
}

Status check_names(const std::vector<std::string>& wanted) {
  std::vector<std::string_view> known = {"all"};
  for (size_t k = 0; k < interp::kInputKinds; ++k) known.push_back(interp::name(static_cast<InputKind>(k)));
  for (const std::string& name : wanted) {
    if (std::find(known.begin(), known.end(), name) == known.end())
      return make_diag<DiagCode::MRV0004>(
          fmt::format("--sets: there is no set '{}'; sets are {}", printable(name), fmt::join(known, ", ")));
  }
  return {};
}

int64_t steps_of(const ir::Graph& graph) {
  int64_t steps = 1;
  for (ir::NodeId n : graph.topological_order())
    steps = checked_add(steps, ops::evaluation_work(graph, graph.node(n))).value_or(INT64_MAX);
  return steps;
}

int64_t bytes_of(const ir::Graph& graph) {
  int64_t bytes = 0;
  for (size_t v = 0; v < graph.value_slots(); ++v) {
    const ir::Value& value = graph.value(ir::ValueId(static_cast<uint32_t>(v)));
    if (value.kind != ir::ValueKind::Constant)
      bytes = checked_add(bytes, value.type.bytes()).value_or(INT64_MAX / 4);
  }
  return bytes;
}

class Maker {
 public:
  Maker(const ir::Graph& graph, int64_t steps)
      : graph_(graph), steps_(steps), room_{std::max(interp::Options{}.max_bytes, int64_t{0})} {
    const auto order = graph.topological_order();
    loops_ =
        std::any_of(order.begin(), order.end(), [&](ir::NodeId n) { return graph.node(n).is(Op::Loop); });
    hints_ = calibration::input_hints(graph);
    choices_ = calibration::samples_of_choices(hints_);
  }

  Result<DataSet> make(const Set& set) {
    if (set.kind == InputKind::Lowest || set.kind == InputKind::Highest) return make_end(set);
    const size_t first = made_++;
    auto made = run(set, INT64_MAX, room_, first);
    // The branch that a number chooses may be one that cannot run with these shapes; another can.
    for (size_t k = 1; !made.ok() && k < std::min(choices_, kMostTurns); ++k) {
      auto other = run(set, INT64_MAX, room_, first + k);
      if (other.ok()) return other;
    }
    return made;
  }

 private:
  // Integers that the model compares with constants choose what runs: they take these constants in turns.
  void choose(DataSet& set, size_t turn) const {
    for (size_t i = 0; i < hints_.size(); ++i) {
      const std::vector<int64_t>& choices = hints_[i].choices;
      if (choices.empty()) continue;
      const int64_t value = choices[turn % choices.size()];
      for (int64_t e = 0; e < set.inputs[i].elements(); ++e) set.inputs[i].set_int(e, value);
      set.name += fmt::format(" ({} = {})", printable(graph_.value(graph_.inputs()[i]).name), value);
    }
  }

  Result<DataSet> run(const Set& set, int64_t most, const interp::Options& room,
                      std::optional<size_t> turn = {}) const {
    DataSet out{set.name(), interp::make_inputs(graph_, set.kind, set.seed, most), {}};
    if (turn) choose(out, *turn);
    MRVLC_ASSIGN(auto outputs, interp::run(graph_, out.inputs, room));
    for (size_t i = 0; i < outputs.size(); ++i) out.outputs[i] = std::move(outputs[i]);
    return out;
  }

  // Of indices and sizes the ends are those that the model admits: the largest magnitude that the interpreter
  // takes, of all integers alike.
  Result<DataSet> make_end(const Set& set) const {
    if (loops_) return make_diag<DiagCode::MRV0004>("the number of rounds of a Loop may be an input");
    interp::Options room;
    room.max_bytes = std::min(room.max_bytes, checked_add(kRoom, 2 * bytes_of(graph_)).value_or(INT64_MAX));
    auto at_end = run(set, INT64_MAX, room);
    // The bisection below runs the graph up to 63 times.
    if (at_end.ok() || steps_ > kBudget / 64) return at_end;
    int64_t good = 0, bad = INT64_MAX;
    auto best = run(set, good, room);
    if (!best.ok()) return at_end;
    while (bad - good > 1) {
      const int64_t middle = good + (bad - good) / 2;
      auto tried = run(set, middle, room);
      (tried.ok() ? good : bad) = middle;
      if (tried.ok()) best = std::move(tried);
    }
    best->name += fmt::format(" (to {})", good);
    return best;
  }

  const ir::Graph& graph_;
  int64_t steps_;
  interp::Options room_;
  bool loops_ = false;
  std::vector<calibration::InputHint> hints_;
  size_t choices_ = 1;  // turns until each choice of each input was taken
  size_t made_ = 0;
};

}  // namespace

Result<std::vector<DataSet>> made_inputs(const ir::Graph& graph, const VerifyOptions& options,
                                         Diagnostics& diagnostics) {
  MRVLC_TRY(check_names(options.sets));
  MRVLC_TRY(interp::check_memory(graph));
  const std::vector<uint32_t> seeds = options.seeds.empty() ? std::vector<uint32_t>{1, 2, 3} : options.seeds;
  std::vector<Set> wanted;
  for (const Set& set : all_sets(seeds))
    if (asks_for(options.sets, set.kind) && interp::concerns(set.kind, graph)) wanted.push_back(set);
  const int64_t steps = steps_of(graph);
  const auto most = static_cast<size_t>(std::max<int64_t>(1, kBudget / steps));
  if (options.sets.empty() && wanted.size() > most) {
    diagnostics.add(make_diag<DiagCode::MRV0716>(most, wanted.size(), steps, kBudget));
    wanted.resize(most);
  }
  Maker maker(graph, steps);
  std::vector<DataSet> sets;
  for (const Set& set : wanted) {
    auto made = maker.make(set);
    if (made.ok()) {
      sets.push_back(std::move(*made));
    } else if (set.kind == InputKind::Uniform || wanted.size() == 1) {  // nothing would be compared
      return made.error();
    } else {
      diagnostics.add(make_diag<DiagCode::MRV0715>(set.name(), made.error().message));
    }
  }
  return sets;
}

}  // namespace mrvlc::driver
