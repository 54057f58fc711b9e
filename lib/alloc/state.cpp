// How low each box can lie, inferred section by section; the trail of changes by which a search goes back.
#include "state.h"

#include <algorithm>

namespace mrvlc::alloc {
namespace {

// Boxes that can change places in every layout.
bool is_twin(const Box& a, const Box& b) {
  return a.begin == b.begin && a.end == b.end && a.size == b.size && a.fixed < 0 && b.fixed < 0;
}

}  // namespace

State::State(const Problem& problem, int64_t capacity, Budget& budget)
    : problem_(problem), capacity_(capacity), budget_(budget) {
  size_t n = problem.boxes.size();
  low_.assign(n, 0);
  base_.assign(n, 0);
  placed_.assign(n, 0);
  postponed_.assign(n, 0);
  floor_.assign(problem.sections, 0);
  rest_ = problem.load;
  choices_.assign(problem.sections, 0);
  open_.resize(problem.sections);
  crossing_.assign(problem.sections + 1, 0);
  least_.assign(problem.sections, 0);
  second_.assign(problem.sections, 0);
  least_box_.assign(problem.sections, 0);
  weight_.assign(problem.sections, 1);
  is_dirty_.assign(problem.sections, 0);
  for (uint32_t b = 0; b < n; ++b) {
    const Box& box = problem.boxes[b];
    low_[b] = std::max<int64_t>(0, box.fixed);
    highest_top_.push_back(box.fixed < 0 ? capacity : std::min(capacity, box.fixed + box.size));
    bool same = b > 0 && is_twin(problem.boxes[b - 1], box);
    twin_.push_back(same ? b - 1 : b);
    if (same) low_[b] = low_[b - 1] + box.size;
    position_first_.push_back(position_.size());
    for (uint32_t s = box.begin; s < box.end; ++s) {
      position_.push_back(static_cast<uint32_t>(open_[s].size()));
      open_[s].push_back(b);
      if (s > box.begin) ++crossing_[s];
    }
  }
  for (const auto& o : open_) open_size_.push_back(static_cast<uint32_t>(o.size()));
  for (uint32_t s = 0; s < problem.sections; ++s) touch(s);
}

void State::touch(uint32_t section) {
  if (is_dirty_[section]) return;
  is_dirty_[section] = 1;
  dirty_.push_back(section);
}

bool State::fail(uint32_t section) {
  weight_[section] += weight_step_;
  for (uint32_t s : dirty_) is_dirty_[s] = 0;
  dirty_.clear();
  return false;
}

void State::weigh_later_more() {
  // Old failures count for less: later ones add more, and all shrink only when they would overflow.
  weight_step_ *= 1.001;
  if (weight_step_ < 1e100) return;
  for (double& w : weight_) w *= 1e-100;
  weight_step_ *= 1e-100;
}

void State::raise(uint32_t box, int64_t low) {
  if (low <= low_[box]) return;
  set(Field::Low, low_, box, low);
  for (uint32_t s = problem_.boxes[box].begin; s < problem_.boxes[box].end; ++s) touch(s);
}

void State::set_postponed(uint32_t box, bool value) {
  trail_.push_back({Field::Postponed, box, postponed_[box]});
  postponed_[box] = value;
  if (value) {
    postponed_list_.push_back(box);
  } else {
    std::erase(postponed_list_, box);
  }
}

void State::close(uint32_t box) {
  const Box& b = problem_.boxes[box];
  for (uint32_t s = b.begin; s < b.end; ++s) {
    uint32_t at = *slot(box, s), last = --open_size_[s], other = open_[s][last];
    std::swap(open_[s][at], open_[s][last]);
    *slot(other, s) = at;
    *slot(box, s) = last;
    rest_[s] -= b.size;
    if (s > b.begin) --crossing_[s];
  }
}

// Changes are undone in reverse: the box is the last that was closed, and stands just behind the open ones.
void State::reopen(uint32_t box) {
  const Box& b = problem_.boxes[box];
  for (uint32_t s = b.begin; s < b.end; ++s) {
    ++open_size_[s];
    rest_[s] += b.size;
    if (s > b.begin) ++crossing_[s];
  }
}

bool State::place(uint32_t box) {
  const Box& b = problem_.boxes[box];
  int64_t top = low_[box] + b.size;
  close(box);
  placed_[box] = 1;
  trail_.push_back({Field::Placed, box, 0});
  for (uint32_t s = b.begin; s < b.end; ++s) {
    set(Field::Floor, floor_, s, top);
    touch(s);
    for (uint32_t i = 0; i < open_size_[s]; ++i) {
      uint32_t o = open_[s][i];
      if (base_[o] < top) set(Field::Base, base_, o, top);
      raise(o, top);
      if (postponed_[o]) set_postponed(o, false);
    }
    budget_.steps += 1 + open_size_[s] / 8;
  }
  return infer();
}

bool State::postpone(uint32_t box) {
  set_postponed(box, true);
  return infer();
}

bool State::infer() {
  while (true) {
    for (size_t i = 0; i < dirty_.size(); ++i) {
      uint32_t s = dirty_[i];
      is_dirty_[s] = 0;
      if (!infer_section(s)) return fail(s);
    }
    dirty_.clear();
    for (uint32_t b : postponed_list_)
      if (!infer_postponed(b)) return fail(problem_.boxes[b].begin);
    if (dirty_.empty()) return true;
  }
}

// The next box of the section is one that starts within the slack; the others come above it.
bool State::infer_section(uint32_t s) {
  uint32_t n = open_size_[s];
  if (n == 0) return true;
  budget_.steps += 1 + n / 8;
  const uint32_t* open = open_[s].data();
  int64_t lowest = INT64_MAX;
  for (uint32_t i = 0; i < n; ++i) lowest = std::min(lowest, low_[open[i]]);
  if (lowest > floor_[s]) set(Field::Floor, floor_, s, lowest);
  int64_t limit = capacity_ - rest_[s];  // highest floor
  if (floor_[s] > limit) return false;
  int64_t first = INT64_MAX, least = INT64_MAX, second = INT64_MAX;
  uint32_t least_box = 0, count = 0, only = 0;
  for (uint32_t i = 0; i < n; ++i) {
    uint32_t b = open[i];
    int64_t top = low_[b] + problem_.boxes[b].size;
    if (top > highest_top_[b]) return false;
    if (low_[b] <= limit) {
      first = std::min(first, top);
      ++count;
      only = b;
    }
    if (top < least) {
      second = least;
      least = top;
      least_box = b;
    } else {
      second = std::min(second, top);
    }
  }
  if (count == 0) return false;
  update(Field::Least, least_, s, least);
  update(Field::Second, second_, s, second);
  update(Field::LeastBox, least_box_, s, least_box);
  update(Field::Choices, choices_, s, count);
  for (uint32_t i = 0; i < n; ++i) {
    uint32_t b = open[i];
    int64_t low = floor_[s];
    if (low_[b] > limit || (count == 1 && b != only)) low = first;
    raise(b, low);
  }
  return true;
}

bool State::infer_postponed(uint32_t box) {
  const Box& b = problem_.boxes[box];
  int64_t low = INT64_MAX;
  for (uint32_t s = b.begin; s < b.end; ++s) {
    if (open_size_[s] < 2) continue;
    low = std::min(low, least_box_[s] == box ? second_[s] : least_[s]);
  }
  budget_.steps += 1 + (b.end - b.begin) / 8;
  if (low > highest_top_[box] - b.size) return false;
  raise(box, low);
  return true;
}

void State::undo(size_t mark) {
  while (trail_.size() > mark) {
    Change c = trail_.back();
    trail_.pop_back();
    switch (c.field) {
      case Field::Low:
        low_[c.index] = c.old;
        break;
      case Field::Base:
        base_[c.index] = c.old;
        break;
      case Field::Floor:
        floor_[c.index] = c.old;
        break;
      case Field::Least:
        least_[c.index] = c.old;
        break;
      case Field::Second:
        second_[c.index] = c.old;
        break;
      case Field::LeastBox:
        least_box_[c.index] = c.old;
        break;
      case Field::Choices:
        choices_[c.index] = c.old;
        break;
      case Field::Postponed:
        postponed_[c.index] = static_cast<char>(c.old);
        if (c.old) {
          postponed_list_.push_back(c.index);
        } else {
          std::erase(postponed_list_, c.index);
        }
        break;
      case Field::Placed:
        placed_[c.index] = 0;
        reopen(c.index);
        break;
    }
  }
}

}  // namespace mrvlc::alloc
