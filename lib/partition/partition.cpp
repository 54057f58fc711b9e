// The stages of partitioning in order: constraints, layers, regions, decisions.
#include "mrvlc/partition/partition.h"

#include <algorithm>
#include <utility>
#include <vector>

#include "calls.h"
#include "mrvlc/partition/accelerator.h"
#include "mrvlc/partition/costs.h"
#include "mrvlc/support/diag/partition.h"
#include "placement.h"

namespace mrvlc::partition {
namespace {

Status check_batch(const Options& options, const Placement& placement) {
  for (const Accelerator* part : placement.parts) {
    const uint32_t most = part->machine().max_batch;
    if (options.batch < 1 || options.batch > most) return make_diag<DiagCode::MRV0404>(options.batch, most);
  }
  return {};
}

bool has_libraries(const Options& options) {
  return options.libraries != nullptr && !options.libraries->empty();
}

// Targets in their order, each with its rules: accelerators from `part` on, libraries from `library` on.
void take_turns(Placement& placement, const Options& options, const SourceMatches& sources, uint32_t part = 0,
                size_t library = 0) {
  const size_t count = has_libraries(options) ? options.libraries->size() : 0;
  for (size_t i = library; i <= count; ++i) {
    for (uint32_t a = part; a < placement.parts.size(); ++a) {
      const Turn turn = turn_of(options, a);
      const SoundRules& rules = turn.rules != nullptr ? turn.rules : placement.parts[a]->rules();
      if (turn.behind == i) place_layers(placement, a, rules->set, sources);
    }
    if (i < count) place_calls(placement, (*options.libraries)[i]);
  }
}

// Without an accelerator.
void keep_rest(Placement& placement, const Options& options, Partition& out) {
  out.steps.reserve(placement.order.size());
  const SharedText reason = "The model is compiled for the host CPU alone.";
  for (ir::NodeId n : placement.order) {
    if (!has_libraries(options)) {
      placement.decision(n).reason = reason;
      placement.decision(n).why = Why::HostTarget;
    }
    out.steps.push_back({Step::Kind::Cpu, n, 0});
  }
}

// What accelerator `part` took and gave back, as no product was among its layers, is offered to the targets
// behind it, together with what none of the rules takes; true when one of them takes something.
bool offer_given_back(Placement& placement, const Options& options, const SourceMatches& sources,
                      uint32_t part) {
  const size_t calls = placement.calls.size(), layers = placement.layers.size();
  std::vector<NodeDecision> offered;
  for (ir::NodeId n : placement.order) {
    const bool by_part = placement.given_back[n.index()] >> part == 1;
    if (placement.decision(n).why != Why::NoProduct || !by_part) continue;
    offered.push_back(placement.decision(n));
    placement.settled[n.index()] = false;
  }
  if (offered.empty()) return false;
  take_turns(placement, options, sources, part + 1, turn_of(options, part).behind);
  for (NodeDecision& d : offered) {
    if (placement.settled[d.node.index()]) continue;
    placement.settled[d.node.index()] = true;
    d.trials = std::move(placement.decision(d.node).trials);
    placement.decision(d.node) = std::move(d);
  }
  return placement.calls.size() > calls || placement.layers.size() > layers;
}

bool offer_given_back(Placement& placement, const Options& options, const SourceMatches& sources) {
  if (!has_libraries(options) && placement.parts.size() < 2) return false;
  for (uint32_t part = 0; part < placement.parts.size(); ++part)
    if (offer_given_back(placement, options, sources, part)) return true;
  return false;
}

void form_again(Placement& placement, Partition& out, bool by_product) {
  out.regions.clear(), out.steps.clear();
  for (ir::NodeId n : placement.order) placement.decision(n).accelerator = false;
  form_regions(placement, out, by_product);
}

void form_regions(Placement& placement, const Options& options, const SourceMatches& sources,
                  Partition& out) {
  if (chooses_among(placement, options)) {
    form_regions(placement, out, false);
  } else if (options.decided != nullptr) {
    partition_as_decided(placement, *options.decided, out);
  } else if (options.costs != nullptr) {
    partition_by_cost(placement, options, out);
  } else {
    form_regions(placement, out, true);
  }
  const bool by_product = options.decided == nullptr && options.costs == nullptr;
  // All regions anew: layers that go to the CPU may separate those that are left, or let others join.
  while (give_back_rounded(placement, out) || give_back_regions(placement, out) ||
         (by_product && offer_given_back(placement, options, sources)))
    form_again(placement, out, by_product);
}

// Which target takes what.
void place(Placement& placement, const Options& options, const SourceMatches& sources, Partition& out) {
  if (!chooses_among(placement, options)) return take_turns(placement, options, sources);
  if (options.before != nullptr) return place_as_before(placement, options, sources);
  place_by_cost(placement, options, sources, out);
}

// Seconds of the partition that takes turns, for who compares; 0 where it is none.
double greedy_seconds(const ir::Graph& graph, const Accelerator* accelerator, Options options,
                      const SourceMatches& sources) {
  const Costs& costs = *std::exchange(options.costs, nullptr);
  auto greedy = partition(graph, accelerator, options, sources);
  if (!greedy.ok() || accelerator == nullptr) return 0;
  std::vector<double> nodes = node_seconds(graph, costs.host);
  time_calls(greedy->calls, nodes);
  const auto parts = accelerator->parts();
  const auto of_region = [&](const Region& r) {
    double sum = parts[r.accelerator]->border_seconds(graph, r);
    for (const Layer& l : r.layers) sum += parts[r.accelerator]->layer_seconds(graph, l);
    return sum;
  };
  return estimate(graph, *greedy, *accelerator, costs.host, nodes, crossings(graph, *greedy, *accelerator),
                  of_region)
      .seconds();
}

}  // namespace

Turn turn_of(const Options& options, uint32_t part) {
  return part < options.turns.size() ? options.turns[part] : Turn();
}

Result<Placement> begin_placement(const ir::Graph& graph, const Accelerator* accelerator,
                                  const Options& options) {
  Placement placement(graph, accelerator);
  placement.known = options.known;
  // Constraints are read for the host alone too: a pattern that names nothing is a mistake there as well.
  MRVLC_TRY(read_constraints(placement, options));
  if (accelerator == nullptr) return placement;
  MRVLC_TRY(check_batch(options, placement));
  if (std::ranges::any_of(placement.parts, &Accelerator::half)) {
    find_roundings(placement);
    find_exact_operands(placement);
  }
  return placement;
}

std::string_view word(Why why) {
  switch (why) {
    case Why::Rule:
      return "rule";
    case Why::HostRule:
      return "host-rule";
    case Why::HostOption:
      return "host-option";
    case Why::Accuracy:
      return "accuracy";
    case Why::Rounded:
      return "rounded";
    case Why::Sensitive:
      return "sensitive";
    case Why::Refused:
      return "refused";
    case Why::NoRule:
      return "no-rule";
    case Why::NoProduct:
      return "no-product";
    case Why::CheaperOnHost:
      return "cheaper-on-host";
    case Why::HostTarget:
      return "host-target";
  }
  return "";
}

Result<Partition> partition(const ir::Graph& graph, const Accelerator* accelerator, const Options& options) {
  return partition(graph, accelerator, options, {});
}

Result<Partition> partition(const ir::Graph& graph, const Accelerator* accelerator, const Options& options,
                            const SourceMatches& sources) {
  MRVLC_ASSIGN(Placement placement, begin_placement(graph, accelerator, options));
  Partition out;
  out.accelerator = accelerator != nullptr;
  place(placement, options, sources, out);
  if (accelerator != nullptr || has_libraries(options)) explain_rest(placement);
  if (accelerator != nullptr) {
    MRVLC_TRY(check_forced(placement));
    form_regions(placement, options, sources, out);
  } else {
    keep_rest(placement, options, out);
  }
  for (const Accelerator* part : placement.parts) MRVLC_TRY(part->fault());
  if (chooses_among(placement, options) && options.before == nullptr)
    out.greedy_seconds = greedy_seconds(graph, accelerator, options, sources);
  out.calls = std::move(placement.calls);
  gather_calls(graph, out);
  out.beyond_regions = std::move(placement.beyond_regions);
  placement.constraints = {}, placement.layers = {};  // of a large graph more than the decisions
  out.decisions.reserve(placement.order.size());
  for (ir::NodeId n : placement.order) out.decisions.push_back(std::move(placement.decision(n)));
  if (accelerator != nullptr && options.pins != nullptr) MRVLC_TRY(check_honoured(graph, *options.pins, out));
  return out;
}

}  // namespace mrvlc::partition
