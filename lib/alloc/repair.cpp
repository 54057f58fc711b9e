// Windows around boxes that are too high, doubled until the search fits them; boxes that leave it are fixed.
#include "repair.h"

#include <algorithm>

#include "search.h"

namespace mrvlc::alloc {
namespace {

constexpr size_t kMaxBoxes = 2000;

struct Window {
  Problem problem;
  std::vector<uint32_t> boxes;  // of the whole, one for each box of the problem
};

class Repair {
 public:
  Repair(const Problem& problem, int64_t goal, Layout& layout, uint64_t& nodes, Budget& budget)
      : problem_(problem), goal_(goal), layout_(layout), nodes_(nodes), budget_(budget) {}

  bool run() {
    for (uint32_t b = 0; b < problem_.boxes.size(); ++b)
      if (too_high(b) && !around(b)) return false;
    layout_.peak = 0;
    for (uint32_t b = 0; b < problem_.boxes.size(); ++b)
      layout_.peak = std::max(layout_.peak, layout_.offsets[b] + problem_.boxes[b].size);
    return true;
  }

 private:
  bool too_high(uint32_t b) const { return layout_.offsets[b] + problem_.boxes[b].size > goal_; }

  bool around(uint32_t box) {
    for (uint32_t margin = 4; !budget_.spent(); margin *= 2) {
      const Box& b = problem_.boxes[box];
      uint32_t begin = b.begin > margin ? b.begin - margin : 0;
      uint32_t end = std::min(problem_.sections, b.end + margin);
      Window w = window(begin, end);
      if (w.boxes.size() > kMaxBoxes) return false;
      constexpr uint64_t kSteps = 300'000;
      SearchResult r = search(w.problem, goal_, kSteps, budget_);
      nodes_ += r.nodes;
      if (r.answer == Answer::Found) {
        for (size_t i = 0; i < w.boxes.size(); ++i) layout_.offsets[w.boxes[i]] = r.layout.offsets[i];
        return true;
      }
      if (begin == 0 && end == problem_.sections) return false;
    }
    return false;
  }

  // All boxes alive in the window, which grows until it holds the live ranges of those that are too high;
  // others that live beyond it are fixed.
  Window window(uint32_t begin, uint32_t end) const {
    for (bool grown = true; grown;) {
      grown = false;
      for (uint32_t b = 0; b < problem_.boxes.size(); ++b) {
        const Box& box = problem_.boxes[b];
        if (box.end <= begin || box.begin >= end || !too_high(b)) continue;
        grown |= box.begin < begin || box.end > end;
        begin = std::min(begin, box.begin);
        end = std::max(end, box.end);
      }
    }
    Window w;
    w.problem.sections = end - begin;
    for (uint32_t b = 0; b < problem_.boxes.size(); ++b) {
      Box box = problem_.boxes[b];
      if (box.end <= begin || box.begin >= end) continue;
      if (box.begin < begin || box.end > end) box.fixed = layout_.offsets[b];
      box.begin = std::max(box.begin, begin) - begin;
      box.end = std::min(box.end, end) - begin;
      w.problem.boxes.push_back(box);
      w.boxes.push_back(b);
    }
    budget_.steps += problem_.boxes.size() / 8;
    add_up(w.problem);
    return w;
  }

  const Problem& problem_;
  int64_t goal_;
  Layout& layout_;
  uint64_t& nodes_;
  Budget& budget_;
};

}  // namespace

bool repair(const Problem& problem, int64_t goal, Layout& layout, uint64_t& nodes, Budget& budget) {
  return Repair(problem, goal, layout, nodes, budget).run();
}

}  // namespace mrvlc::alloc
