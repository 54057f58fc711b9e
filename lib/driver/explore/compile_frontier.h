// `compile --frontier`: choices of precision, each compiled as far as its times and errors.
#pragma once
#include "explore/trials.h"
#include "model/frontier.h"

namespace mrvlc::driver {

// What a compile of one row takes.
struct FrontierChoice {
  CompileOptions options;                // with the network in integers, where it is one
  std::optional<AccuracyChoice> choice;  // nullopt: none but what the options say
};
struct ExploredFrontier {
  Frontier frontier;
  std::vector<FrontierChoice> choices;  // by row
  std::optional<size_t> unasked;        // row of what is compiled without --frontier; nullopt: it is beaten
};
// nullopt: `said` has the errors, MRV0910 where there is nothing to choose from.
std::optional<ExploredFrontier> explore_frontier(Session& session, const OpenedModel& opened, Said& said);

}  // namespace mrvlc::driver
