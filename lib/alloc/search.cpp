// Branch and bound with restarts: which box is taken next, and parts of the time solved for themselves.
#include "search.h"

#include <algorithm>
#include <array>
#include <tuple>

#include "failed_states.h"
#include "state.h"

namespace mrvlc::alloc {
namespace {

// Which box is tried: among those that can be placed lowest, the one with the greatest value.
struct Rule {
  enum class Value : uint8_t { WeightSpan, WeightArea, WeightSize, Weight, Area, Span } value;
  bool coarse = false;  // what differs by less than 1/256 of the capacity is equally low
};
constexpr std::array<Rule, 8> kRules = {{{Rule::Value::WeightSpan},
                                         {Rule::Value::WeightArea},
                                         {Rule::Value::Area},
                                         {Rule::Value::WeightSize},
                                         {Rule::Value::Weight},
                                         {Rule::Value::Span},
                                         {Rule::Value::WeightSpan, true},
                                         {Rule::Value::WeightArea, true}}};

class OffsetSearch {
 public:
  OffsetSearch(const Problem& problem, int64_t capacity, uint64_t step_limit, Budget& budget)
      : problem_(problem), capacity_(capacity), budget_(budget), state_(problem, capacity, budget) {
    last_step_ = std::min(budget.limit, budget.steps + step_limit);
    first_box_.resize(problem.sections + 1, 0);
    for (const Box& b : problem.boxes) ++first_box_[b.begin + 1];
    for (uint32_t s = 0; s < problem.sections; ++s) first_box_[s + 1] += first_box_[s];
  }

  SearchResult run() {
    SearchResult result;
    result.answer = restarts();
    result.nodes = nodes_;
    if (result.answer != Answer::Found) return result;
    result.layout = {state_.offsets(), 0};
    for (size_t b = 0; b < problem_.boxes.size(); ++b)
      result.layout.peak = std::max(result.layout.peak, state_.offsets()[b] + problem_.boxes[b].size);
    return result;
  }

 private:
  Answer restarts() {
    if (!state_.infer()) return Answer::None;
    constexpr uint64_t kFirstNodes = 500;
    uint64_t nodes = std::max<uint64_t>(kFirstNodes, problem_.boxes.size() * 2);
    for (size_t round = 0; budget_.steps < last_step_; ++round) {
      rule_ = kRules[round % kRules.size()];
      node_limit_ = nodes_ + nodes;
      size_t mark = state_.mark();
      Answer a = solve(0, problem_.sections);
      if (a != Answer::Unknown) return a;
      state_.undo(mark);
      if ((round + 1) % kRules.size() == 0) nodes *= 2;
    }
    return Answer::Unknown;
  }

  template <class F>
  void for_open(uint32_t begin, uint32_t end, F f) const {
    for (uint32_t b = first_box_[begin]; b < first_box_[end]; ++b)
      if (!state_.placed(b)) f(b);
  }

  // Of all that decides whether the unplaced boxes of [begin, end) can be placed.
  uint64_t key(uint32_t begin, uint32_t end) const {
    uint64_t k = mix(uint64_t{begin} << 32 | end);
    for_open(begin, end, [&](uint32_t b) {
      uint64_t status = state_.postponed(b) ? 1 : state_.ready(b) ? 2 : 0;
      k += mix(mix(b * uint64_t{4} + status) ^ static_cast<uint64_t>(state_.low(b)));
    });
    // FailedStates has 0 for a slot that is free.
    return k == 0 ? 1 : k;
  }

  // Each part of [begin, end) that no unplaced box connects with the rest. One that fails fails for itself:
  // other layouts of the parts before it need not be tried.
  Answer solve(uint32_t begin, uint32_t end) {
    for (uint32_t from = begin, s = begin + 1; s <= end; ++s) {
      if (s < end && state_.crossing(s) > 0) continue;
      uint32_t part = from;
      from = s;
      if (s - part == 1 && state_.open_count(part) == 0) continue;
      Answer a = solve_part(part, s);
      if (a != Answer::Found) return a;
    }
    return Answer::Found;
  }

  Answer solve_part(uint32_t begin, uint32_t end) {
    uint64_t k = key(begin, end);
    if (failed_.contains(k)) return Answer::None;
    size_t mark = state_.mark();
    for (int64_t box = choose(begin, end); box >= 0; box = choose(begin, end)) {
      if (nodes_ >= node_limit_ || budget_.steps >= last_step_) return Answer::Unknown;
      ++nodes_;
      state_.weigh_later_more();
      size_t before = state_.mark();
      if (state_.place(static_cast<uint32_t>(box))) {
        Answer a = solve(begin, end);
        if (a != Answer::None) return a;
      }
      state_.undo(before);
      if (!state_.postpone(static_cast<uint32_t>(box))) break;
    }
    state_.undo(mark);
    failed_.insert(k);
    return Answer::None;
  }

  int64_t choose(uint32_t begin, uint32_t end) {
    int64_t best = -1, best_low = INT64_MAX;
    double best_score = 0;
    budget_.steps += 1 + (first_box_[end] - first_box_[begin]) / 4;
    int64_t step = rule_.coarse ? std::max<int64_t>(1, capacity_ / 256) : 1;
    for_open(begin, end, [&](uint32_t b) {
      int64_t low = state_.low(b) / step;
      if (low > best_low || !state_.ready(b)) return;
      double s = score(problem_.boxes[b]);
      if (low == best_low && s <= best_score) return;
      best = b;
      best_low = low;
      best_score = s;
    });
    return best;
  }

  double score(const Box& b) const {
    double weight = 0, span = b.end - b.begin, size = static_cast<double>(b.size);
    for (uint32_t s = b.begin; s < b.end; ++s) weight = std::max(weight, state_.weight(s));
    switch (rule_.value) {
      case Rule::Value::WeightArea:
        return weight * span * size;
      case Rule::Value::WeightSpan:
        return weight * span;
      case Rule::Value::Area:
        return span * size;
      case Rule::Value::WeightSize:
        return weight * size;
      case Rule::Value::Span:
        return span;
      case Rule::Value::Weight:
        return weight;
    }
    return 0;
  }

  const Problem& problem_;
  int64_t capacity_;
  Budget& budget_;
  State state_;
  std::vector<uint32_t> first_box_;  // of each section: boxes that begin before it
  FailedStates failed_;
  Rule rule_ = kRules[0];
  uint64_t nodes_ = 0, node_limit_ = 0, last_step_ = 0;
};

}  // namespace

SearchResult search(const Problem& problem, int64_t capacity, uint64_t step_limit, Budget& budget) {
  constexpr size_t kMaxCells = size_t{4} << 20;  // what a state keeps for each box in each of its sections
  size_t cells = 0;
  for (const Box& b : problem.boxes) cells += b.end - b.begin;
  budget.steps += problem.boxes.size() + cells / 8;
  if (cells > kMaxCells) return {};
  return OffsetSearch(problem, capacity, step_limit, budget).run();
}

}  // namespace mrvlc::alloc
