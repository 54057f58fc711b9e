// Layers taken by savings over squared errors, predictions scaled by bisection; layers added and swapped.
#include "search.h"

#include <algorithm>
#include <cmath>
#include <map>
#include <optional>

namespace mrvlc::quantize {
namespace {

// Of what is asked, the predictions that are tried, and how often the range between one that is near enough
// and one that is not is halved.
constexpr double kWider = 1.6;
constexpr size_t kMostWider = 10, kHalvings = 3;
// A layer whose prediction is beyond what is asked by more than this is not tried.
constexpr double kHopeless = 1.5;

using Set = std::vector<bool>;

class ChoiceSearch {
 public:
  ChoiceSearch(const Choosing& choosing, const MeasureChoice& measure) : c_(choosing), measure_(measure) {
    after_.resize(c_.errors.size());
    for (size_t i = 0; i < c_.errors.size(); ++i) moves_.push_back({i});
    for (size_t i = 0; i < c_.before.size(); ++i) {
      if (c_.before[i].empty()) continue;
      moves_.push_back(c_.before[i]);
      moves_.back().push_back(i);
      for (size_t k : c_.before[i]) after_[k].push_back(i);
    }
    best_.integers.assign(c_.errors.size(), false);
    best_.error = c_.floor;
  }

  Result<Chosen> run() {
    if (c_.floor <= c_.asked) MRVLC_TRY(find_scale());
    if (best_saved_ > 0) {
      MRVLC_TRY(add());
      MRVLC_TRY(swap());
    }
    best_.runs = measured_.size();
    return std::move(best_);
  }

 private:
  double square(size_t i) const { return c_.errors[i] * c_.errors[i]; }
  bool may_measure() const { return measured_.size() < c_.runs; }

  double predicted(const Set& set) const {
    double sum = c_.floor * c_.floor;
    for (size_t i = 0; i < set.size(); ++i) sum += set[i] ? square(i) : 0;
    return std::sqrt(sum);
  }

  static bool has(const std::vector<size_t>& layers, size_t i) {
    return std::ranges::find(layers, i) != layers.end();
  }
  static Set with(Set set, const std::vector<size_t>& move) {
    for (size_t i : move) set[i] = true;
    return set;
  }

  // What a move saves beyond what is there, and the square that it costs.
  struct Step {
    double saves = 0, square = 0;
  };
  Step step(const Set& set, const std::vector<size_t>& move) const {
    Step out;
    std::vector<size_t> touched;  // may have all in front of them now
    for (size_t i : move) {
      if (set[i]) continue;
      out.saves += c_.saved[i];
      out.square += square(i);
      touched.push_back(i);
      touched.insert(touched.end(), after_[i].begin(), after_[i].end());
    }
    std::ranges::sort(touched);
    touched.erase(std::unique(touched.begin(), touched.end()), touched.end());
    const auto there = [&](size_t k) { return set[k] || has(move, k); };
    for (size_t i : touched)
      if (there(i) && i < c_.before.size() && !c_.before[i].empty() &&
          std::ranges::all_of(c_.before[i], there))
        out.saves += c_.beside[i];
    return out;
  }

  // By what a saving costs, as long as something fits.
  Set taken(double prediction) const {
    Set set(c_.errors.size(), false);
    double left = prediction * prediction - c_.floor * c_.floor;
    for (;;) {
      const std::vector<size_t>* move = nullptr;
      Step best;
      for (const std::vector<size_t>& m : moves_) {
        const Step next = step(set, m);
        if (next.saves <= 0 || next.square > left) continue;
        if (move == nullptr || next.square * best.saves < best.square * next.saves) move = &m, best = next;
      }
      if (move == nullptr) return set;
      left -= best.square;
      set = with(std::move(set), *move);
    }
  }

  // Whether it is near enough; the best one is kept.
  Result<bool> meets(const Set& set) {
    if (std::ranges::find(set, true) == set.end()) return c_.floor <= c_.asked;
    auto at = measured_.find(set);
    if (at == measured_.end()) {
      if (!may_measure()) return false;
      MRVLC_ASSIGN(const double error, measure_(set));
      at = measured_.emplace(set, error).first;
    }
    if (!(at->second <= c_.asked)) return false;
    if (const double saves = c_.saved_by(set); saves > best_saved_) {
      best_saved_ = saves;
      best_ = {set, at->second, 0};
    }
    return true;
  }

  // Between a multiple of what is asked at which the choice is near enough and one at which it is not.
  Status find_scale() {
    MRVLC_ASSIGN(bool good, meets(taken(c_.asked)));
    double lower = 1, upper = 1;
    const bool grows = good;
    for (size_t n = 0; n < kMostWider && good == grows; ++n) {
      lower = grows ? upper : lower / kWider;
      upper = grows ? upper * kWider : upper;
      const double tried = grows ? upper : lower;
      MRVLC_ASSIGN(good, meets(taken(tried * c_.asked)));
      if (!grows && !good) upper = lower;
    }
    if (good == grows) return {};
    for (size_t n = 0; n < kHalvings; ++n) {
      const double middle = std::sqrt(lower * upper);
      MRVLC_ASSIGN(good, meets(taken(middle * c_.asked)));
      (good ? lower : upper) = middle;
    }
    return {};
  }

  // Moves that are not made, those that save most first.
  std::vector<const std::vector<size_t>*> left_out() const {
    std::vector<std::pair<double, const std::vector<size_t>*>> saves;
    for (const std::vector<size_t>& move : moves_)
      if (const double s = step(best_.integers, move).saves; s > 0) saves.emplace_back(s, &move);
    std::ranges::stable_sort(saves, [](const auto& a, const auto& b) { return a.first > b.first; });
    std::vector<const std::vector<size_t>*> out;
    for (const auto& [s, move] : saves) out.push_back(move);
    return out;
  }
  // The prediction, by as much wrong as for the best one.
  bool may_fit(const Set& set) const {
    const double off = best_.error / std::max(predicted(best_.integers), 1e-300);
    return off * predicted(set) <= kHopeless * c_.asked;
  }

  // Each is tried from the best there is by then.
  Status add() {
    for (const std::vector<size_t>* move : left_out()) {
      if (step(best_.integers, *move).saves <= 0) continue;
      if (const Set set = with(best_.integers, *move); may_fit(set)) MRVLC_TRY(meets(set));
    }
    return {};
  }

  // In the place of the one that makes the largest error of those without which it still saves more.
  Status swap() {
    for (const std::vector<size_t>* move : left_out()) {
      std::optional<size_t> out;
      for (size_t k = 0; k < best_.integers.size(); ++k) {
        if (!best_.integers[k] || has(*move, k) || (out && c_.errors[k] <= c_.errors[*out])) continue;
        if (c_.saved_by(swapped(*move, k)) > best_saved_) out = k;
      }
      if (!out) continue;
      if (const Set set = swapped(*move, *out); may_fit(set)) MRVLC_TRY(meets(set));
    }
    return {};
  }
  Set swapped(const std::vector<size_t>& in, size_t out) const {
    Set set = with(best_.integers, in);
    set[out] = false;
    return set;
  }

  const Choosing& c_;
  const MeasureChoice& measure_;
  std::vector<std::vector<size_t>> moves_;  // layers that are taken together
  std::vector<std::vector<size_t>> after_;  // by layer: those that it is in front of
  std::map<Set, double> measured_;
  Chosen best_;
  double best_saved_ = 0;
};

}  // namespace

double Choosing::saved_by(const std::vector<bool>& integers) const {
  double sum = 0;
  for (size_t i = 0; i < integers.size(); ++i) {
    if (!integers[i]) continue;
    sum += saved[i];
    const bool follows = i < before.size() && !before[i].empty() &&
                         std::ranges::all_of(before[i], [&](size_t k) { return integers[k]; });
    sum += follows ? beside[i] : 0;
  }
  return sum;
}

Result<Chosen> choose_integers(const Choosing& choosing, const MeasureChoice& measure) {
  return ChoiceSearch(choosing, measure).run();
}

}  // namespace mrvlc::quantize
