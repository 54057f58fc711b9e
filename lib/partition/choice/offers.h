// Which layers each target would compute: what its rules match by themselves, and what they match of what the
// other targets leave. Targets are in order of their names, so that nothing depends on the order of
// --target.
#pragma once
#include "placement.h"

namespace mrvlc::partition {

// Offer::target and what is chosen of a node: the host computes it.
inline constexpr uint32_t kOnHost = UINT32_MAX;

struct Bidder {
  std::string name;
  bool is_library = false;
  uint32_t index = 0;     // of Accelerator::parts(), or of Options::libraries
  uint32_t position = 0;  // in --target
};

// In order of their names.
std::vector<Bidder> bidders_of(const Placement& placement, const Options& options);
// Layers and calls of one that its rules make of what is left.
void ask_rules(Placement& placement, const Options& options, const SourceMatches& sources,
               const Bidder& bidder);

// One layer, or call.
struct Offer {
  uint32_t bidder = 0;  // index into Offers::bidders
  Layer layer;          // of an accelerator; its nodes in order, those of a call too
  std::optional<Call> call;
  SharedText rule, reason;
};

struct Offers {
  std::vector<Bidder> bidders;
  std::vector<Offer> all;
  std::vector<std::vector<uint32_t>> begin;  // by rank of the first node: indices into `all`
  // By bidder, then by node id: what its rules say of the nodes, asked by itself.
  std::vector<std::vector<NodeDecision>> said;
  size_t left_out = 0;  // beyond kMostOffers at their node

  // What the bidder takes by itself, in order.
  std::vector<uint32_t> alone(uint32_t bidder) const;
  std::vector<size_t> of_bidder;  // `all` begins with these: where those of each bidder end
};

Offers gather_offers(const Placement& placement, const Options& options, const SourceMatches& sources);

// What is chosen: by rank of a node, an index into Offers::all, or kOnHost.
using Choice = std::vector<uint32_t>;

}  // namespace mrvlc::partition
