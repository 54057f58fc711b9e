// The stages of partitioning in order: constraints, layers, regions, decisions.
#include "mrvlc/partition/partition.h"

#include <utility>
#include <vector>

#include "calls.h"
#include "mrvlc/support/diag/partition.h"
#include "placement.h"

namespace mrvlc::partition {
namespace {

Status check_batch(const Options& options, const Accelerator& accelerator) {
  const uint32_t most = accelerator.machine().max_batch;
  if (options.batch >= 1 && options.batch <= most) return {};
  return make_diag<DiagCode::MRV0404>(options.batch, most);
}

bool has_libraries(const Options& options) {
  return options.libraries != nullptr && !options.libraries->empty();
}

const rules::LoadResult& rules_of(const Options& options, const Accelerator& accelerator) {
  return options.rules != nullptr ? *options.rules : *accelerator.rules();
}

// Targets in their order, each with its rules.
void take_turns(Placement& placement, const Options& options, const SourceMatches& sources) {
  const size_t count = has_libraries(options) ? options.libraries->size() : 0;
  for (size_t i = 0; i <= count; ++i) {
    if (placement.accelerator != nullptr && i == options.accelerator_at)
      place_layers(placement, rules_of(options, *placement.accelerator).set, sources);
    if (i < count) place_calls(placement, (*options.libraries)[i]);
  }
  if (placement.accelerator != nullptr || count > 0) explain_rest(placement);
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

// Layers that the accelerator took and gave back, being among no product, are offered to the libraries behind
// it, as what none of its rules takes; true when there is a new call.
bool offer_given_back(Placement& placement, const Options& options) {
  const size_t count = has_libraries(options) ? options.libraries->size() : 0, calls = placement.calls.size();
  if (options.accelerator_at >= count) return false;
  std::vector<NodeDecision> offered;
  for (ir::NodeId n : placement.order) {
    if (placement.decision(n).why != Why::NoProduct) continue;
    offered.push_back(placement.decision(n));
    placement.settled[n.index()] = false;
  }
  if (offered.empty()) return false;
  for (size_t i = options.accelerator_at; i < count; ++i) place_calls(placement, (*options.libraries)[i]);
  for (NodeDecision& d : offered) {
    if (placement.settled[d.node.index()]) continue;
    placement.settled[d.node.index()] = true;
    d.trials = std::move(placement.decision(d.node).trials);
    placement.decision(d.node) = std::move(d);
  }
  return placement.calls.size() > calls;
}

void form_again(Placement& placement, Partition& out, bool by_product) {
  out.regions.clear(), out.steps.clear();
  for (ir::NodeId n : placement.order) placement.decision(n).accelerator = false;
  form_regions(placement, out, by_product);
}

void form_regions(Placement& placement, const Options& options, Partition& out) {
  if (options.decided != nullptr) {
    partition_as_decided(placement, *options.decided, out);
  } else if (options.costs != nullptr) {
    partition_by_cost(placement, options, out);
  } else {
    form_regions(placement, out, placement.accelerator->needs_product());
  }
  const bool by_product =
      options.decided == nullptr && options.costs == nullptr && placement.accelerator->needs_product();
  // All regions anew: layers that go to the CPU may separate those that are left, or let others join.
  while (give_back_rounded(placement, out) || give_back_regions(placement, out) ||
         (by_product && offer_given_back(placement, options)))
    form_again(placement, out, by_product);
}

}  // namespace

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
  Placement placement(graph, accelerator);
  placement.known = options.known;
  Partition out;
  out.accelerator = accelerator != nullptr;
  // Constraints are read for the host alone too: a pattern that names nothing is a mistake there as well.
  MRVLC_TRY(read_constraints(placement, options));
  if (accelerator != nullptr) {
    MRVLC_TRY(check_batch(options, *accelerator));
    if (accelerator->half()) find_roundings(placement);
  }
  take_turns(placement, options, sources);
  if (accelerator != nullptr) {
    MRVLC_TRY(check_forced(placement));
    form_regions(placement, options, out);
  } else {
    keep_rest(placement, options, out);
  }
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
