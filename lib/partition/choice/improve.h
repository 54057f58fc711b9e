// Choices to begin with, and changes that make one better by what it takes as a whole.
#pragma once
#include "choice/whole.h"

namespace mrvlc::partition {

// The host alone; each target by itself; each first, then those whose own costs are least; these alone.
std::vector<Choice> first_choices(const Placement& placement, const Offers& offers, const Tariff& tariff);

struct Priced {
  Choice choice;
  double seconds = 0;
};
// Regions, and what the host has between them, given to another target or to whoever is cheapest; `tries`:
// choices that may still be timed.
Priced improve(const Placement& placement, const Offers& offers, const Tariff& tariff, Whole& whole,
               Priced known, size_t tries);

// Of targets that take the same, the one that --target names first.
Priced prefer_named(const Placement& placement, const Offers& offers, const Tariff& tariff, Whole& whole,
                    Priced known);

}  // namespace mrvlc::partition
