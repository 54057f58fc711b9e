// Follows every constraint to the nodes that answer it now, and says which came to nothing, and why.
#include "mrvlc/partition/ineffective_constraints.h"

#include <algorithm>
#include <functional>
#include <map>
#include <optional>
#include <set>

#include "mrvlc/ir/lineage.h"
#include "mrvlc/ir/pass_names.h"
#include "mrvlc/partition/answers.h"
#include "mrvlc/support/diag/partition.h"
#include "placement.h"

namespace mrvlc::partition {
namespace {

// ONNX nodes need not have a name: the name of their first result stands for it then.
std::string shown(const std::string& name, const std::string& result, std::string_view op) {
  return fmt::format("'{}' ({})", printable(name.empty() ? result : name, 80), printable(op, 80));
}
std::string shown(const ir::Source& s) {
  return shown(s.name, s.outputs.empty() ? s.id : s.outputs.front(), s.op_type);
}

class Finder {
 public:
  Finder(const ir::Graph& graph, const Partition& partition, const Options& options)
      : graph_(graph), partition_(partition), options_(options) {}

  std::vector<Diag> run() {
    look_up();
    for (const std::string& p : options_.cpu) constraint(pattern("--cpu", p, true, false));
    for (const std::string& p : options_.accel) constraint(pattern("--accel", p, false, false));
    for (const std::string& p : options_.borders) constraint(pattern("--border", p, false, true));
    if (options_.pins != nullptr) {
      const auto named = named_by_pins();
      for (size_t i = 0; i < named.size(); ++i) constraint(pinned(options_.pins->sets()[i], named[i]));
    }
    rule_files();
    return std::move(out_);
  }

 private:
  // A constraint, however it was read.
  struct Asked {
    std::string given_as;
    bool cpu, border;
    std::vector<ir::NodeId> named;
    std::function<bool(ir::SourceId)> names_source;
    std::function<bool(const ir::Node&)> names_part;  // what it names holds more than that
    ir::SourceId first_source;                        // where it is known
  };

  Asked pattern(std::string_view option, const std::string& p, bool cpu, bool border) const {
    auto part = [&](const ir::Node& n) {
      return !answers_itself(n, p) && graph_.lineage(n.id).sources.size() > 1;
    };
    return {fmt::format("{} '{}'", option, printable(p)),
            cpu,
            border,
            answering(p),
            [&](ir::SourceId s) { return answers(graph_.sources()[s.index()], p); },
            part,
            {}};
  }

  std::vector<ir::NodeId> answering(const std::string& pattern) const {
    std::vector<ir::NodeId> out;
    for (ir::NodeId n : order_) {
      if (answers(graph_, graph_.node(n), pattern)) out.push_back(n);
    }
    return out;
  }

  // Of each set of the pins.
  std::vector<std::vector<ir::NodeId>> named_by_pins() const {
    std::vector<std::vector<ir::NodeId>> out(options_.pins->sets().size());
    for (ir::NodeId n : order_) {
      for (uint32_t i : options_.pins->sets_of(graph_, n)) out[i].push_back(n);
    }
    return out;
  }

  Asked pinned(const Pins::Set& set, const std::vector<ir::NodeId>& named) const {
    const Constraint& c = set.constraint;
    auto part = [&](const ir::Node& n) {
      const bool whole = c.before || c.after || c.together || c.max_layers || c.max_regions;
      return !whole && options_.pins->holds_more(set, graph_, n.id);
    };
    return {c.given_as,
            c.on == Constraint::Target::Cpu,
            c.before || c.after,
            named,
            [&](ir::SourceId s) { return set.names(s); },
            part,
            set.sources.empty() ? ir::SourceId() : set.sources.front()};
  }

  void look_up() {
    if (options_.cpu.empty() && options_.accel.empty() && options_.borders.empty() &&
        options_.pins == nullptr)
      return;
    order_ = graph_.topological_order();
    for (const NodeDecision& d : partition_.decisions) decisions_[d.node] = &d;
  }

  void no_effect(const Asked& asked, std::string cause, std::string remedy) {
    out_.push_back(make_diag<DiagCode::MRV0406>(asked.given_as, std::move(cause), std::move(remedy)));
  }

  void constraint(const Asked& asked) {
    if (!partition_.accelerator && !asked.cpu)
      return no_effect(asked, "the model is compiled for the host CPU alone",
                       "name an accelerator with --target");
    if (asked.named.empty()) return swallowed(asked);
    if (partition_.accelerator) merged(asked, asked.named);
    if (asked.border) border(asked, asked.named);
  }

  // Nothing is left that answers: the first ONNX node it names says why.
  void swallowed(const Asked& asked) {
    const std::optional<ir::SourceId> id = first_named(asked);
    if (!id) return;
    const ir::Source& first = graph_.sources()[id->index()];
    if (in_bodies().contains(*id)) {
      if (!asked.cpu && !accelerated_in_bodies().contains(*id))
        no_effect(asked, shown(first) + " is in a body of control flow, which runs on the CPU as a whole",
                  "name a node outside of it");
      return;
    }
    no_effect(asked, shown(first) + " is no more: " + what_became(*id),
              "take it out, or name a node that is left (mrvlc explain lists them)");
  }

  std::optional<ir::SourceId> first_named(const Asked& asked) const {
    if (!asked.first_source.valid()) {
      for (size_t i = 0; i < graph_.sources().size(); ++i)
        if (asked.names_source(ir::SourceId(i))) return ir::SourceId(i);
      return std::nullopt;
    }
    return asked.first_source;
  }

  // These are made when they are needed, once: thousands of constraints may come to nothing.
  using Sources = std::set<ir::SourceId>;
  const Sources& in_bodies() {
    if (!in_bodies_) {
      in_bodies_.emplace();
      ir::for_each_body(graph_, [&](const ir::Graph& body) {
        for (ir::NodeId n : body.topological_order()) {
          const auto& sources = body.lineage(n).sources;
          in_bodies_->insert(sources.begin(), sources.end());
        }
      });
    }
    return *in_bodies_;
  }

  const Sources& accelerated_in_bodies() {
    if (!accelerated_in_bodies_) {
      accelerated_in_bodies_.emplace();
      for (const BodyPartition& body : partition_.bodies) {
        for (const NodeDecision& d : body.partition.decisions) {
          if (!d.accelerator) continue;
          const auto& sources = body.graph->lineage(d.node).sources;
          accelerated_in_bodies_->insert(sources.begin(), sources.end());
        }
      }
    }
    return *accelerated_in_bodies_;
  }

  std::string what_became(ir::SourceId id) {
    if (!gone_) gone_ = ir::gone_sources(graph_);
    const ir::NodeId newest = (*gone_)[id.index()].newest;
    if (newest.valid()) return graph_.lineage(newest).erased_because;
    return "control does not reach it, or the compiler knows what it computes";
  }

  // Where an ONNX node is a part of what it names, the constraint holds for all of that.
  void merged(const Asked& asked, const std::vector<ir::NodeId>& named) {
    std::string first;
    size_t count = 0;
    for (ir::NodeId n : named) {
      const ir::Node& node = graph_.node(n);
      const std::string& pass = graph_.lineage(n).pass;
      const bool conversion = pass == ir::kWidenF16;  // beside what was named
      // Integer forms on the CPU join only what no target took in any case.
      const bool integers = asked.cpu && pass == ir::kIntegerProducts;
      if (!asked.names_part(node) || conversion || integers) continue;
      if (++count > 1) continue;
      const auto& sources = graph_.lineage(n).sources;
      const ir::Source& s = graph_.sources()[std::ranges::find_if(sources, asked.names_source)->index()];
      first = fmt::format("{} is part of {}", shown(s), partition::shown(graph_, node));
    }
    if (count == 0) return;
    if (count > 1) first += fmt::format(", and {} more like it", count - 1);
    out_.push_back(make_diag<DiagCode::MRV0405>(asked.given_as, first));
  }

  void border(const Asked& asked, const std::vector<ir::NodeId>& named) {
    const NodeDecision* first = nullptr;
    for (ir::NodeId n : named) {
      auto d = decisions_.find(n);
      if (d == decisions_.end() || d->second->accelerator) return;
      if (first == nullptr) first = d->second;
    }
    const ir::Node& node = graph_.node(first->node);
    no_effect(asked, partition::shown(graph_, node) + " runs on the CPU: " + first->reason.str(),
              "regions begin at nodes of the accelerator: name one of those");
  }

  void rule_files() {
    if (options_.turns.empty() || options_.turns.front().rules == nullptr)
      return;  // none but the accelerator's
    // The files are the same for all accelerators.
    for (const Diag& d : options_.turns.front().rules->diagnostics.list()) {
      if (d.severity() == Severity::Warning) out_.push_back(d);
    }
  }

  const ir::Graph& graph_;
  const Partition& partition_;
  const Options& options_;
  std::vector<ir::NodeId> order_;
  std::map<ir::NodeId, const NodeDecision*> decisions_;
  std::optional<Sources> in_bodies_, accelerated_in_bodies_;
  std::optional<std::vector<ir::Gone>> gone_;
  std::vector<Diag> out_;
};

}  // namespace

std::string shown(const ir::Graph& graph, const ir::Node& n) {
  return shown(n.name, n.outputs.empty() ? n.name : graph.value(n.outputs.front()).name, n.op->name);
}

std::vector<Diag> ineffective_constraints(const ir::Graph& graph, const Partition& partition,
                                          const Options& options) {
  return Finder(graph, partition, options).run();
}

}  // namespace mrvlc::partition
