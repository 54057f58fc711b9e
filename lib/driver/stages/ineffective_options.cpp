// Options without effect on this model, and models that mostly stay on the CPU, with what keeps them there.
#include "stages/ineffective_options.h"

#include <algorithm>
#include <map>

#include "mrvlc/driver/option_table.h"
#include "mrvlc/idmap/idmap.h"
#include "mrvlc/ops/attributes.h"
#include "mrvlc/ops/dynamic_shapes.h"
#include "mrvlc/ops/op.h"
#include "mrvlc/ops/op_kind.h"
#include "mrvlc/ops/work.h"
#include "mrvlc/partition/ineffective_constraints.h"
#include "mrvlc/support/diag/general.h"
#include "mrvlc/support/diag/onnx.h"
#include "mrvlc/support/diag/partition.h"
#include "mrvlc/support/saturating.h"

namespace mrvlc::driver {
namespace {

void warn(Diagnostics& diagnostics, std::string_view option, std::string_view why, std::string_view remedy) {
  diagnostics.add(make_diag<DiagCode::MRV0010>(option, why, remedy));
}

bool given(const CompileOptions& options, std::string_view option) {
  return options.given.contains(option);
}

bool any_value(const ir::Graph& graph, const std::function<bool(const TensorType&)>& holds) {
  for (size_t i = 0; i < graph.value_slots(); ++i) {
    if (holds(graph.value(ir::ValueId(i)).type)) return true;
  }
  return false;
}

bool has_sequence_of(const ir::Graph& graph, int64_t length) {
  auto bounded = [&](const TensorType& t) {
    return (t.wrapper == Wrapper::Sequence || t.wrapper == Wrapper::OptionalSequence) && t.length == length;
  };
  bool found = any_value(graph, bounded);
  ir::for_each_body(graph, [&](const ir::Graph& body) { found = found || any_value(body, bounded); });
  return found;
}

bool has_limited_loop(const ir::Graph& graph) {
  bool found = false;
  const auto look = [&](const ir::Graph& g) {
    for (ir::NodeId id : g.topological_order())
      found = found || (g.node(id).is(Op::Loop) && ops::attr::max_rounds(g.node(id)) > 0);
  };
  look(graph);
  ir::for_each_body(graph, look);
  return found;
}

void check_bound(const std::string& name, const ir::Graph& graph, Diagnostics& diagnostics) {
  const std::string option = fmt::format("--bound for '{}'", printable(name));
  const auto value = graph.find_value(name);
  if (!value) {
    warn(diagnostics, option, "the model has no value of that name", "'mrvlc inspect' lists the values");
  } else if (graph.value(*value).type.is_static()) {
    warn(diagnostics, option,
         fmt::format("its shape is known at compile time, {}", to_string(graph.value(*value).type)),
         "leave it away");
  }
}

}  // namespace

void warn_ineffective_shapes(const CompileOptions& options, const onnx::Model& model,
                             Diagnostics& diagnostics) {
  const ir::Graph& graph = model.graph;
  if (given(options, "--batch") && !model.has_batch) {
    const std::string_view by = !options.import.input_shapes.empty() ? "--input-shape"
                                : !options.import.input_dims.empty() ? "--input-dim"
                                                                     : "";
    warn(diagnostics, fmt::format("--batch {}", options.import.batch),
         by.empty() ? "the model fixes the leading dimension of every input"
                    : fmt::format("{}, or the model, fixes the leading dimension of every input", by),
         by.empty() ? "export the model with a dynamic batch" : fmt::format("write the batch into {}", by));
  }
  for (const auto& [name, shape] : options.import.bounds) check_bound(name, graph, diagnostics);
  if (given(options, "--max-sequence") && !has_sequence_of(graph, options.import.max_sequence)) {
    warn(diagnostics, fmt::format("--max-sequence {}", options.import.max_sequence),
         "the model has no sequence, or its operands bound the lengths", "leave it away");
  }
  if (options.import.max_rounds > 0 && !has_limited_loop(graph))
    warn(diagnostics, fmt::format("--max-rounds {}", options.import.max_rounds),
         "the model has no Loop that data end", "leave it away");
}

namespace {

// Multiply-accumulates and nodes on either side, without those that --cpu or a rule of kind `cpu` keeps from
// the accelerator; and the reason that keeps most of them.
class Tally {
 public:
  explicit Tally(const PlacedModel& m) : m_(m) {
    for (const auto& d : m.partition.decisions) add(m.model.graph, 1, d);
    for (const auto& [graph, rounds, placed] : m.partition.bodies)
      for (const auto& d : placed.decisions) add(*graph, rounds, d);
  }

  bool everything_asked_for() const { return nodes_on_ == nodes_; }
  int64_t macs() const { return macs_; }
  // Share of the accelerator; of a model that multiplies nothing, of its nodes.
  double share() const {
    if (macs_ == 0) return nodes_ == 0 ? 1 : nodes_on_ == 0 ? 0 : 1;
    return static_cast<double>(macs_on_) / static_cast<double>(macs_);
  }
  std::string cause() const {
    auto most = std::ranges::max_element(
        kept_, {}, [](const auto& k) { return std::pair(k.second.macs, k.second.nodes); });
    if (most == kept_.end()) return "nothing is left to compute";
    const Kept& k = most->second;
    std::string text = k.first;
    if (k.nodes > 1) text += fmt::format(" and {} more", k.nodes - 1);
    text += (k.nodes > 1 ? " run on the CPU: " : " runs on the CPU: ") + most->first;
    while (text.ends_with('.')) text.pop_back();
    return text;
  }
  bool quantised() const { return quantised_; }

 private:
  struct Kept {
    int64_t macs = 0, nodes = 0;
    std::string first;  // of them
  };

  // Without bodies whose nodes are asked themselves.
  int64_t macs_of(const ir::Graph& graph, const ir::Node& node) const {
    const auto bodies = ir::bodies_of(node);
    const bool placed = std::ranges::any_of(
        bodies, [&](const ir::Graph* body) { return partition_of(m_.partition, *body) != nullptr; });
    return placed ? 0 : ops::macs(graph, node);
  }

  void add(const ir::Graph& graph, int64_t rounds, const partition::NodeDecision& d) {
    const ir::Node& n = graph.node(d.node);
    quantised_ = quantised_ || ops::traits(n).quantised;
    const bool asked_for = !d.rule.empty() || d.why == partition::Why::CheaperOnHost ||
                           d.why == partition::Why::HostOption || d.why == partition::Why::Accuracy;
    if (!d.accelerator && asked_for) return;
    const int64_t macs = saturating_mul(rounds, macs_of(graph, n));
    ++nodes_, macs_ = saturating_add(macs_, macs);
    if (d.accelerator) {
      ++nodes_on_, macs_on_ = saturating_add(macs_on_, macs);
      return;
    }
    Kept& k = kept_[d.reason.str()];
    if (k.nodes++ == 0) k.first = fmt::format("'{}' ({})", printable(n.name), n.op->name);
    k.macs = saturating_add(k.macs, macs);
  }

  const PlacedModel& m_;
  int64_t nodes_ = 0, nodes_on_ = 0, macs_ = 0, macs_on_ = 0;
  bool quantised_ = false;
  std::map<std::string, Kept> kept_;
};

// An input whose shape is known at run time only, where that keeps nodes from the accelerator.
const ir::Value* dynamic_input(const ir::Graph& graph) {
  for (ir::ValueId id : graph.inputs()) {
    if (!graph.value(id).type.is_static()) return &graph.value(id);
  }
  return nullptr;
}

bool dynamic_everywhere(const PlacedModel& m) {
  return std::ranges::any_of(m.partition.decisions, [&](const auto& d) {
    return ops::has_dynamic_shapes(m.model.graph, m.model.graph.node(d.node));
  });
}

// Of a choice among several targets: how good it is, where that is not known to be the best.
void tell_choice(const PlacedModel& m, Diagnostics& diagnostics) {
  constexpr double kWorthTelling = 1e-3;
  const partition::Partition& p = m.partition;
  if (p.gap >= kWorthTelling) diagnostics.add(make_diag<DiagCode::MRV0417>(100 * p.gap / (1 + p.gap)));
  if (p.left_out > 0)
    diagnostics.add(make_diag<DiagCode::MRV0418>(p.left_out, p.left_out == 1 ? " was" : "s were",
                                                 partition::kMostOffers));
}

}  // namespace

void warn_placement(const PlacedModel& m, partition::Options options, Diagnostics& diagnostics) {
  options.cpu.clear();  // what the user asked for is in the pins
  const auto add = [&](std::vector<Diag> found) {
    for (Diag& d : found) diagnostics.add(std::move(d));
  };
  add(partition::ineffective_constraints(m.model.graph, m.partition, options));
  add(partition::refused_precisions(m.model.graph, m.partition, options));
  tell_choice(m, diagnostics);
  if (!m.has_accelerator) return;
  add(partition::integers_in_half(m.model.graph, m.partition, *m.backend));
  const Tally tally(m);
  if (tally.everything_asked_for() || tally.share() >= 0.5) return;
  const ir::Value* dynamic = dynamic_input(m.model.graph);
  const bool nothing = all_regions(m.model.graph, m.partition).empty();
  if (nothing && dynamic != nullptr && dynamic_everywhere(m)) {
    diagnostics.add(make_diag<DiagCode::MRV0011>(m.partition.decisions.size(), printable(dynamic->name),
                                                 to_string(onnx::GivenShape(dynamic->type.shape))));
    return;
  }
  const std::string what = nothing ? fmt::format("nothing of the model runs on {}", m.machine().name)
                                   : fmt::format("only {:.1f} % of the multiply-accumulates run on {}",
                                                 100 * tally.share(), m.machine().name);
  const char* remedy = tally.quantised() && m.backend->half()
                           ? "the network is quantised in a form that it does not take in integers: 'mrvlc "
                             "explain OUT' tells of "
                             "every node why"
                           : "'mrvlc explain OUT' tells of every node why";
  diagnostics.add(make_diag<DiagCode::MRV0012>(what, tally.cause(), remedy));
}

void warn_ineffective_options(const CompileOptions& options, const CompiledModel& m,
                              Diagnostics& diagnostics) {
  if (m.regions.empty()) {
    const bool host = !m.has_accelerator;
    const char* why = host ? "with --target host nothing runs on an accelerator"
                           : "nothing of the model runs on the accelerator";
    const char* remedy = host ? "name an accelerator with --target" : "'mrvlc explain OUT' tells why";
    for (const OptionRecord& record : option_table())
      if ((record.facts & option::kNeedsRegions) != 0 && given(options, long_name(record)))
        warn(diagnostics, long_name(record), why, remedy);
    if (host && given(options, "--no-default-rules")) warn(diagnostics, "--no-default-rules", why, remedy);
    const bool kind = given(options, "--precision") && options.precisions.empty();
    if (host && kind && options.data.empty())
      warn(diagnostics, "--precision " + options.precision, why, remedy);
    if (!options.data.empty() && options.precision == "fp16") warn(diagnostics, "--data", why, remedy);
    if (std::ranges::find(options.emit, "disasm") != options.emit.end())
      warn(diagnostics, "--emit disasm", why, remedy);
  }
  const bool vendor = std::ranges::any_of(m.regions, [](const auto& r) { return !r.files.empty(); });
  if (!vendor && std::ranges::find(options.emit, "nodes-json") != options.emit.end())
    warn(diagnostics, "--emit nodes-json", "nothing goes to the vendor's compiler",
         "name it with --target ('mrvlc targets list')");
  if (!m.regions.empty() && given(options, "--input-range") && given(options, "--no-probe"))
    warn(diagnostics, "--input-range", "--no-probe leaves away what it is for", "leave away either");
  for (const char* option : {"--chips", "--without"})
    if (given(options, option))
      warn(diagnostics, option, "no target is a mesh", "'mrvlc mesh list' lists meshes");
  if (given(options, "--text-bytes") && !m.host.texts_made) {
    warn(diagnostics, fmt::format("--text-bytes {}", options.host.text_bytes),
         "the model makes no texts at run time", "leave it away");
  }
}

}  // namespace mrvlc::driver
