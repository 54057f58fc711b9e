// Dynamic programming over what is live between two nodes, within a number of states: beyond it those that
// promise least are joined to ones that take no more than any of them, so that a bound is left of them.
#include "choice/frontier.h"

#include <algorithm>
#include <unordered_map>

#include "choice/walk.h"

namespace mrvlc::partition {
namespace {

constexpr size_t kStates = 60'000;                 // of all nodes together
constexpr size_t kFewest = 8, kMostStates = 2000;  // between two nodes
constexpr size_t kWidest = 192;                    // values

class FrontierSearch {
 public:
  FrontierSearch(const Walk& walk, double most)
      : walk_(walk),
        most_(most),
        room_(std::clamp(kStates / std::max<size_t>(1, walk.steps()), kFewest, kMostStates)) {}

  Bound run() {
    std::vector<State> now(1);
    now[0].at = walk_.begin();
    for (size_t rank = 0; rank < walk_.steps(); ++rank) now = advance(std::move(now), rank);
    Bound out{most_, {}};
    const State* best = nullptr;
    for (const State& s : now) {
      if (!s.joined && (best == nullptr || s.at.seconds < best->at.seconds)) best = &s;
      out.least = std::min(out.least, s.at.seconds);
    }
    if (best != nullptr) out.choice = choice_of(*best);
    out.least = std::min(out.least, left_out_);
    return out;
  }

 private:
  struct State {
    Progress at;
    double promise = 0;      // the least it comes to
    uint32_t trail = kNone;  // of what was chosen
    bool joined = false;     // of several: no choice comes to it
  };
  static constexpr uint32_t kNone = UINT32_MAX;

  std::vector<State> advance(std::vector<State> now, size_t rank) {
    std::vector<State> next;
    std::unordered_map<std::string, size_t> seen;  // looked up only
    for (const State& s : now) {
      for (uint32_t choice : walk_.choices(s.at, rank)) {
        State t{.at = walk_.step(s.at, rank, choice), .joined = s.joined};
        t.promise = t.at.seconds + walk_.rest(t.at, rank + 1);
        if (t.promise >= most_) continue;
        const auto [it, fresh] = seen.try_emplace(Walk::key(t.at) + (t.joined ? "j" : ""), next.size());
        if (!fresh && next[it->second].at.seconds <= t.at.seconds) continue;
        t.trail = static_cast<uint32_t>(trail_.size());
        trail_.emplace_back(s.trail, choice);
        if (fresh)
          next.push_back(std::move(t));
        else
          next[it->second] = std::move(t);
      }
    }
    keep_best(next);
    return next;
  }

  void keep_best(std::vector<State>& states) {
    if (states.size() <= room_) return;
    std::ranges::stable_sort(states, {}, &State::promise);
    const auto half = static_cast<std::ptrdiff_t>(room_ / 2);
    std::vector<State> rest(std::make_move_iterator(states.begin() + half),
                            std::make_move_iterator(states.end()));
    states.resize(room_ / 2);
    for (const bool coarse : {false, true})
      if (rest.size() > room_ / 2) rest = joined(rest, coarse);
    for (size_t i = room_ / 2; i < rest.size(); ++i) left_out_ = std::min(left_out_, rest[i].promise);
    rest.resize(std::min(rest.size(), room_ / 2));
    std::ranges::move(rest, std::back_inserter(states));
  }

  static std::vector<State> joined(const std::vector<State>& states, bool coarse) {
    std::vector<State> out;
    std::unordered_map<std::string, size_t> seen;  // looked up only
    for (const State& s : states) {
      const auto [it, fresh] = seen.try_emplace(Walk::outline(s.at, coarse), out.size());
      if (fresh) {
        out.push_back(s);
        continue;
      }
      State& into = out[it->second];
      Walk::join(s.at, into.at);
      into.promise = std::min(into.promise, s.promise);
      into.joined = true;
    }
    return out;
  }

  Choice choice_of(const State& s) const {
    Choice out(walk_.steps(), kOnHost);
    uint32_t at = s.trail;
    for (size_t rank = out.size(); rank-- > 0;) {
      out[rank] = trail_[at].second;
      at = trail_[at].first;
    }
    return out;
  }

  const Walk& walk_;
  double most_;
  size_t room_;
  double left_out_ = std::numeric_limits<double>::infinity();
  std::vector<std::pair<uint32_t, uint32_t>> trail_;  // the one before, and what was chosen
};

// Branch and bound in the order of the nodes.
class CompleteSearch {
 public:
  CompleteSearch(const Walk& walk, Whole& whole, Least& best) : walk_(walk), whole_(whole), best_(best) {}

  void run() {
    choice_.assign(walk_.steps(), kOnHost);
    descend(walk_.begin(), 0);
    best_.all = left_ > 0 && wholes_ > 0;
  }

 private:
  void descend(const Progress& at, size_t rank) {
    if (rank == walk_.steps()) return finish();
    struct Branch {
      double promise;
      uint32_t choice;
      Progress at;
    };
    std::vector<Branch> branches;
    for (uint32_t choice : walk_.choices(at, rank)) {
      Progress next = walk_.step(at, rank, choice);
      const double promise = next.seconds + walk_.rest(next, rank + 1);
      branches.push_back({promise, choice, std::move(next)});
    }
    std::ranges::stable_sort(branches, {}, &Branch::promise);
    for (const Branch& b : branches) {
      if (left_ == 0 || wholes_ == 0) return;
      --left_;
      if (b.promise >= best_.seconds * (1 - 1e-9)) return;
      choice_[rank] = b.choice;
      descend(b.at, rank + 1);
    }
  }

  void finish() {
    --wholes_;
    const double seconds = whole_.seconds(choice_);
    if (seconds >= best_.seconds || same_seconds(seconds, best_.seconds)) return;
    best_.seconds = seconds;
    best_.choice = choice_;
  }

  const Walk& walk_;
  Whole& whole_;
  Least& best_;
  Choice choice_;
  size_t left_ = 40'000, wholes_ = 1500;
};

constexpr size_t kMostNodes = 48;  // of a graph that is searched as a whole, which is a call for each

}  // namespace

Bound search_frontier(const Placement& p, const Offers& offers, const Tariff& tariff, double most) {
  const Walk walk(p, offers, tariff);
  Bound out{std::min(most, walk.rest({}, 0)), {}};
  if (walk.width() > kWidest || p.parts.size() > kMostSides) return out;
  Bound found = FrontierSearch(walk, most).run();
  found.least = std::max(found.least, out.least);
  return found;
}

Least search_all(const Placement& p, const Offers& offers, const Tariff& tariff, Whole& whole,
                 const Choice& known, double seconds) {
  Least out{false, seconds, known};
  if (p.order.size() > kMostNodes || p.parts.size() > kMostSides) return out;
  const Walk walk(p, offers, tariff);
  CompleteSearch(walk, whole, out).run();
  return out;
}

}  // namespace mrvlc::partition
