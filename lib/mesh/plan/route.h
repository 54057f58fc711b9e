// Ways between chips.
#pragma once
#include "mrvlc/mesh/machine.h"

namespace mrvlc::mesh {

// Links wait for each other in one order only: along x before y where all chips and links work, else up a
// tree of chips before down it.
class Routes {
 public:
  Routes(const Machine& machine, const Working& working);
  // The chip of the host link: the first that works.
  uint32_t host() const { return host_; }
  bool reaches(uint32_t chip) const { return level_[chip] >= 0; }
  std::vector<uint32_t> between(uint32_t from, uint32_t to) const;

 private:
  std::vector<uint32_t> along_axes(uint32_t from, uint32_t to) const;
  std::vector<uint32_t> along_tree(uint32_t from, uint32_t to) const;
  bool is_up(uint32_t from, uint32_t to) const;

  const Working& working_;
  int64_t columns_ = 1;
  bool whole_ = true;
  uint32_t host_ = 0;
  std::vector<int64_t> level_;  // links from the host; -1: not reached
};

}  // namespace mrvlc::mesh
