// What the exact search knows at one node, with inference and undo. See search.cpp for the method.
#pragma once
#include "problem.h"

namespace mrvlc::alloc {

class State {
 public:
  State(const Problem& problem, int64_t capacity, Budget& budget);

  // Puts the box on what is placed already, under everything else that meets it.
  bool place(uint32_t box);
  // Some box that is not placed yet goes under this one.
  bool postpone(uint32_t box);
  // Draws all conclusions; false on a contradiction. Both of the above end with it.
  bool infer();
  size_t mark() const { return trail_.size(); }
  void undo(size_t mark);

  bool placed(uint32_t box) const { return placed_[box]; }
  int64_t low(uint32_t box) const { return low_[box]; }
  // Nothing known speaks against placing it next.
  bool ready(uint32_t box) const {
    return !placed_[box] && !postponed_[box] && (twin_[box] == box || placed_[twin_[box]]) &&
           (low_[box] == base_[box] || low_[box] == problem_.boxes[box].fixed);
  }
  bool postponed(uint32_t box) const { return postponed_[box]; }
  int64_t floor(uint32_t section) const { return floor_[section]; }
  int64_t slack(uint32_t section) const { return capacity_ - floor_[section] - rest_[section]; }
  // Boxes that may be the next one of a section.
  int64_t choices(uint32_t section) const { return choices_[section]; }
  uint32_t crossing(uint32_t section) const { return crossing_[section]; }  // unplaced, from the one before
  double weight(uint32_t section) const { return weight_[section]; }
  uint32_t open_count(uint32_t section) const { return open_size_[section]; }
  const std::vector<int64_t>& offsets() const { return low_; }
  void weigh_later_more();

 private:
  enum class Field : uint8_t { Low, Base, Floor, Postponed, Choices, Least, Second, LeastBox, Placed };
  struct Change {
    Field field;
    uint32_t index;
    int64_t old;
  };
  void set(Field field, std::vector<int64_t>& v, uint32_t i, int64_t value) {
    trail_.push_back({field, i, v[i]});
    v[i] = value;
  }
  void update(Field field, std::vector<int64_t>& v, uint32_t i, int64_t value) {
    if (v[i] != value) set(field, v, i, value);
  }
  void set_postponed(uint32_t box, bool value);
  void raise(uint32_t box, int64_t low);
  void touch(uint32_t section);
  bool infer_section(uint32_t section);
  bool infer_postponed(uint32_t box);
  bool fail(uint32_t section);
  void close(uint32_t box);
  void reopen(uint32_t box);
  uint32_t* slot(uint32_t box, uint32_t section) {
    return &position_[position_first_[box] + section - problem_.boxes[box].begin];
  }

  const Problem& problem_;
  int64_t capacity_;
  Budget& budget_;
  std::vector<int64_t> low_;   // of a placed box: its offset; else no solution from here has it lower
  std::vector<int64_t> base_;  // top of what is placed under it
  std::vector<int64_t> highest_top_;
  std::vector<uint32_t> twin_;  // the one before that is the same and goes under it; itself: none
  std::vector<int64_t> floor_, rest_, choices_;
  std::vector<char> placed_, postponed_;
  std::vector<uint32_t> postponed_list_;
  std::vector<std::vector<uint32_t>> open_;  // of each section: unplaced boxes first
  std::vector<uint32_t> open_size_;
  std::vector<uint32_t> position_;  // of a box in open_[section]
  std::vector<size_t> position_first_;
  std::vector<uint32_t> crossing_;
  std::vector<int64_t> least_, second_, least_box_;  // least tops of the unplaced boxes of a section
  std::vector<double> weight_;
  double weight_step_ = 1;
  std::vector<uint32_t> dirty_;
  std::vector<char> is_dirty_;
  std::vector<Change> trail_;
};

}  // namespace mrvlc::alloc
