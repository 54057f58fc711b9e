// Bodies of control flow: each is a graph of its own, and is partitioned by itself.
#include <algorithm>
#include <memory>

#include "mrvlc/ops/op_kind.h"
#include "mrvlc/ops/work.h"
#include "mrvlc/partition/constraints.h"
#include "mrvlc/partition/follow_bodies.h"
#include "mrvlc/support/saturating.h"

namespace mrvlc::partition {
namespace {

void number_regions(Partition& p, uint32_t first) {
  p.first_region = first;
  for (Region& r : p.regions) r.id += first;
  for (NodeDecision& d : p.decisions)
    if (d.accelerator) d.region += first;
}

class Bodies {
 public:
  Bodies(const Accelerator* accelerator, const Options& options, Partition& out)
      : accelerator_(accelerator), options_(options), out_(out) {
    options_.of_body = true;
    options_.libraries = nullptr;
    options_.decided = nullptr;
    options_.before = nullptr;
    options_.known = nullptr;  // of values of the graph around
    if (options_.pins == nullptr) return;
    auto pins = std::make_shared<Pins>(*options_.pins);
    pins->borders.clear();  // of the graph around
    options_.pins = std::move(pins);
  }

  // `repeats`: what is in the graph runs in rounds; `rounds`: how many of them are known.
  Status add_all(const ir::Graph& graph, bool repeats, int64_t rounds) {
    for (ir::NodeId id : graph.topological_order()) {
      const ir::Node& node = graph.node(id);
      const auto bodies = ir::bodies_of(node);
      if (bodies.empty()) continue;
      const bool in_rounds = repeats || !node.is(Op::If);
      const int64_t inner = saturating_mul(rounds, ops::body_rounds(graph, node));
      for (const ir::Graph* body : bodies) {
        if (may_leave_the_cpu(*body, in_rounds)) MRVLC_TRY(add(*body, inner));
        MRVLC_TRY(add_all(*body, in_rounds, inner));
      }
    }
    return {};
  }

 private:
  Status add(const ir::Graph& body, int64_t rounds) {
    MRVLC_ASSIGN(Partition p, partition(body, accelerator_, options_));
    number_regions(p, next_region());
    out_.bodies.push_back({&body, rounds, std::move(p)});
    return {};
  }

  uint32_t next_region() const {
    const Partition& last = out_.bodies.empty() ? out_ : out_.bodies.back().partition;
    return last.first_region + static_cast<uint32_t>(last.regions.size());
  }

  bool may_leave_the_cpu(const ir::Graph& body, bool in_rounds) const {
    if (names(body, [](const Constraint& c) {
          return c.before || c.after || c.together || c.max_layers || c.max_regions;
        }))
      return false;
    return !in_rounds || options_.costs != nullptr ||
           names(body, [](const Constraint& c) { return c.on == Constraint::Target::Accelerator; });
  }

  // Does a constraint of that sort name a node of the body?
  bool names(const ir::Graph& body, bool (*of)(const Constraint&)) const {
    if (options_.pins == nullptr || options_.pins->empty()) return false;
    const Pins& pins = *options_.pins;
    return std::ranges::any_of(body.topological_order(), [&](ir::NodeId n) {
      return std::ranges::any_of(pins.sets_of(body, n),
                                 [&](uint32_t i) { return of(pins.sets()[i].constraint); });
    });
  }

  const Accelerator* accelerator_;
  Options options_;
  Partition& out_;
};

}  // namespace

Status partition_bodies(const ir::Graph& graph, const Accelerator* accelerator, const Options& options,
                        Partition& partition) {
  if (accelerator == nullptr) return {};
  return Bodies(accelerator, options, partition).add_all(graph, false, 1);
}

std::vector<PlacedRegion> all_regions(const ir::Graph& graph, const Partition& partition) {
  std::vector<PlacedRegion> out;
  for (const Region& r : partition.regions) out.push_back({&graph, &r});
  for (const BodyPartition& body : partition.bodies)
    for (const Region& r : body.partition.regions) out.push_back({body.graph, &r});
  return out;
}

const Partition* partition_of(const Partition& partition, const ir::Graph& body) {
  const auto it = std::ranges::find(partition.bodies, &body, &BodyPartition::graph);
  return it == partition.bodies.end() ? nullptr : &it->partition;
}

void follow_bodies(Partition& partition, const ir::Graph& from, const ir::Graph& copy) {
  std::vector<const ir::Graph*> before, after;
  ir::for_each_body(from, [&](const ir::Graph& body) { before.push_back(&body); });
  ir::for_each_body(copy, [&](const ir::Graph& body) { after.push_back(&body); });
  for (BodyPartition& body : partition.bodies)
    body.graph = after.at(static_cast<size_t>(std::ranges::find(before, body.graph) - before.begin()));
}

}  // namespace mrvlc::partition
