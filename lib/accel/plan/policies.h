// What is decided before a schedule can be made and timed: prices of memory and of sending.
#pragma once
#include <string>
#include <vector>

#include "plan/search.h"

namespace mrvlc::accel {

struct Policy {
  Prices price;
  double fetch_share = 0.25;                     // of on-chip memory, for what is fetched just ahead
  const target::Machine* planned_for = nullptr;  // null: the machine
};

std::string text(const Policy& policy);

// Policies worth trying, the most promising first, the one that counts DDR second. `many`: for those who have
// time.
std::vector<Policy> policies(const Program& program, const target::Machine& machine, uint32_t tiles,
                             bool many);

}  // namespace mrvlc::accel
