// `mrvlc rules try` and `coverage`: rules on models, each by itself, as if no other had taken anything.
#include <fmt/ranges.h>

#include <algorithm>
#include <set>

#include "inputs/rule_files.h"
#include "mrvlc/driver/place.h"
#include "mrvlc/driver/rules_targets.h"
#include "mrvlc/ir/pass_names.h"
#include "mrvlc/partition/legality.h"
#include "mrvlc/partition/rules.h"
#include "mrvlc/partition/source_rules.h"
#include "mrvlc/passes/pass.h"
#include "mrvlc/rules/matcher.h"
#include "mrvlc/support/diag/general.h"
#include "stages/targets_of.h"

namespace mrvlc::driver {
namespace {

constexpr size_t kFurthest = 3;  // attempts that are told of a rule

struct Graphs {
  ir::Graph imported, canonical;
  ir::Graph integers;  // canonical, but for weights behind DequantizeLinear
  bool one = false;    // of a target that sees integers: canonical has them

  const ir::Graph& of(const rules::Rule& rule) const {
    if (rule.stage == rules::Stage::Source) return imported;
    const bool call = rule.layer == rules::kCallKind;  // a library has one graph
    return !call && !one && partition::asks_for_integers(rule) ? integers : canonical;
  }
  // What becomes of a match is known when the passes have run.
  bool canonical_for(const rules::Rule& rule) const {
    return rule.layer == rules::kCallKind || &of(rule) == &canonical;
  }
};

// One rule on one model.
struct Tried {
  size_t anchors = 0, matches = 0, taken = 0, nodes = 0;
  std::vector<std::string> examples;                            // of matches
  std::string refused;                                          // why the back end does not take the first
  std::vector<std::pair<ir::NodeId, rules::Outcome>> furthest;  // of the attempts that failed
};

std::string shown(const ir::Graph& graph, ir::NodeId id) {
  const ir::Node& n = graph.node(id);
  const std::string& name = n.name.empty() && !n.outputs.empty() ? graph.value(n.outputs[0]).name : n.name;
  return fmt::format("{} '{}'", n.op->name, printable(name, 60));
}

// "Mul 'm' (made by fuse-activations of Sigmoid 's', Mul 'm')"
std::string with_origin(const ir::Graph& graph, ir::NodeId id) {
  const ir::Lineage& l = graph.lineage(id);
  if (l.pass == ir::kImported) return shown(graph, id);
  std::vector<std::string> of;
  for (ir::SourceId s : l.sources) {
    const ir::Source& source = graph.sources()[s.index()];
    if (of.size() < 3)
      of.push_back(fmt::format("{} '{}'", printable(source.op_type, 40), printable(source.name, 60)));
  }
  return fmt::format("{} (made by {} of {}{})", shown(graph, id), l.pass, fmt::join(of, ", "),
                     l.sources.size() > of.size() ? ", ..." : "");
}

std::string what_stood(const ir::Graph& graph, const rules::Stop& stop) {
  if (!stop.value.valid()) return "there is nothing";
  const ir::Value& v = graph.value(stop.value);
  const std::string name = printable(v.name, 60);
  if (stop.upwards) {
    if (v.kind == ir::ValueKind::Input) return fmt::format("'{}' is an input of the model", name);
    if (v.kind == ir::ValueKind::Constant) return fmt::format("'{}' is a constant", name);
    return fmt::format("'{}' is made by {}", name, with_origin(graph, v.producer));
  }
  std::vector<std::string> readers;
  std::set<ir::NodeId> seen;
  for (ir::NodeId n : v.users) {
    if (seen.insert(n).second && readers.size() < 4) readers.push_back(with_origin(graph, n));
  }
  if (graph.is_output(stop.value)) readers.push_back("the outside, as an output of the model");
  if (readers.empty()) return fmt::format("nothing reads '{}'", name);
  return fmt::format("'{}' is read by {}{}", name, fmt::join(readers, ", "), seen.size() > 4 ? ", ..." : "");
}

// The target whose rules are tried: an accelerator, or a library.
struct Subject {
  backends::Opened backend;  // null: it is a library
  Libraries library;

  rules::MachineNumbers numbers() const {
    return backend == nullptr ? rules::MachineNumbers() : partition::machine_numbers(backend->machine());
  }
  rules::Verdict legal(const ir::Graph& graph, const rules::Match& m) const {
    if (m.rule->layer == partition::kCpuKind) return {};
    if (backend == nullptr) return partition::callable(graph, m, in_order(graph, m.nodes));
    const partition::Legality l = backend->legal(graph, partition::layer_of(m, 0));
    return {l.ok, l.condition, l.actual, l.limit, l.reason};
  }
  // The passes of a compile for it.
  Status simplify(ir::Graph& graph, const passes::RunOptions& run) const {
    if (backend == nullptr) return run_passes(graph, host_pipeline_for(library), run, library);
    return run_passes(graph, pipeline_for(*backend), run, library, {backend.get()});
  }

 private:
  static std::vector<ir::NodeId> in_order(const ir::Graph& graph, const std::vector<ir::NodeId>& nodes) {
    std::vector<ir::NodeId> out;
    std::ranges::copy_if(graph.topological_order(), std::back_inserter(out),
                         [&](ir::NodeId n) { return std::ranges::find(nodes, n) != nodes.end(); });
    return out;
  }
};

class RuleTrials {
 public:
  RuleTrials(const Graphs& graphs, const Subject& subject)
      : graphs_(graphs), subject_(subject), numbers_(subject.numbers()), left_(graphs.canonical) {}

  Tried run(const rules::Rule& rule) {
    const ir::Graph& g = graphs_.of(rule);
    Tried out;
    std::vector<bool> taken(g.node_slots());
    rules::MatchOptions options;
    options.machine = &numbers_;
    const range::Knowledge known(g, {}, {});  // of inputs nothing is stated here
    options.known = &known;
    options.available = [&](ir::NodeId n) { return !taken[n.index()]; };
    for (ir::NodeId n : g.topological_order()) {
      if (taken[n.index()] || !rules::anchors(rule, g.node(n))) continue;
      ++out.anchors;
      attempt(rule, n, options, taken, out);
    }
    std::ranges::stable_sort(out.furthest, [](const auto& a, const auto& b) {
      return std::pair(a.second.stop.matched, a.second.progress) >
             std::pair(b.second.stop.matched, b.second.progress);
    });
    return out;
  }

 private:
  void attempt(const rules::Rule& rule, ir::NodeId n, rules::MatchOptions options, std::vector<bool>& taken,
               Tried& out) {
    const ir::Graph& g = graphs_.of(rule);
    if (graphs_.canonical_for(rule)) options.legal = [&](const rules::Match& m) { return legal(m); };
    rules::Outcome o = rules::try_rule(rule, g, n, options);
    const bool compiled = o.match.has_value();
    if (!compiled && options.legal) {
      options.legal = nullptr;
      rules::Outcome pattern = rules::try_rule(rule, g, n, options);
      if (pattern.match && out.refused.empty()) out.refused = o.reason;
      o = std::move(pattern);
    }
    if (!o.match) {
      out.furthest.emplace_back(n, std::move(o));
      return;
    }
    ++out.matches;
    const bool took = compiled && (graphs_.canonical_for(rule) || takes_remains(rule, *o.match, out));
    out.taken += took ? 1 : 0;
    out.nodes += o.match->nodes.size();
    std::vector<std::string> names;
    for (ir::NodeId m : o.match->nodes) {
      taken[m.index()] = true;
      names.push_back(std::string(g.node(m).op->name));
    }
    if (out.examples.size() < kFurthest)
      out.examples.push_back(fmt::format("{}: {}", shown(g, n), fmt::join(names, " ")));
  }

  rules::Verdict legal(const rules::Match& m) const { return subject_.legal(graphs_.canonical, m); }

  bool takes_remains(const rules::Rule& rule, const rules::Match& match, Tried& out) const {
    partition::SourceMatch m{rule.name, {}};
    for (ir::NodeId n : match.nodes) {
      const auto& sources = graphs_.of(rule).lineage(n).sources;
      m.sources.insert(m.sources.end(), sources.begin(), sources.end());
    }
    std::ranges::sort(m.sources);
    partition::Remains left = left_.of(m);
    if (left.nodes.empty()) {
      if (out.refused.empty()) out.refused = left.reason;
      return left.reason.empty();  // all of it was folded
    }
    rules::Match now;
    now.rule = &rule;
    now.anchor = left.nodes.front();
    now.nodes = std::move(left.nodes);
    const rules::Verdict v = legal(now);
    if (!v.ok && out.refused.empty()) out.refused = v.reason;
    return v.ok;
  }

  const Graphs& graphs_;
  const Subject& subject_;
  const rules::MachineNumbers numbers_;
  partition::SourceNodes left_;
};

std::optional<Graphs> graphs_of(const CompileOptions& options, const Subject& subject,
                                Diagnostics& diagnostics) {
  auto model = onnx::import_file(options.model, options.import, diagnostics);
  if (!model) return std::nullopt;
  Graphs g{model->graph, std::move(model->graph), {}, subject.library.integers};
  passes::RunOptions run;
  if (subject.backend != nullptr) limit_passes(run.context, subject.backend->pass_limits());
  auto integers = with_integer_weights(g.imported, run);
  const Status s = subject.simplify(g.canonical, run);
  if (!s.ok() || !integers.ok()) {
    diagnostics.add(s.ok() ? integers.error() : s.error());
    return std::nullopt;
  }
  g.integers = *std::move(integers);
  return g;
}

struct Setup {
  Subject subject;
  rules::RuleSet set;
  std::vector<const rules::Rule*> own;  // of the options' files, not the built-in ones
};

std::optional<Setup> set_up(const CompileOptions& options, Diagnostics& diagnostics) {
  auto library = library_of(options);
  auto backend = library.ok() && *library ? Result<backends::Opened>(nullptr) : backend_of(options);
  auto files = read_rule_files(options.rules);
  if (!library.ok() || !backend.ok() || !files.ok()) {
    diagnostics.add(!library.ok() ? library.error() : backend.ok() ? files.error() : backend.error());
    return std::nullopt;
  }
  Setup out{{std::move(*backend), *library ? *std::move(*library) : Libraries()}, {}, {}};
  if (out.subject.backend != nullptr && out.subject.backend->sees_integers())
    add_integer_passes(out.subject.library);
  // By themselves: it does not matter here which of them would win.
  rules::LoadResult loaded = *library ? partition::load_library_rules(*files)
                                      : partition::load_rules({}, *files, out.subject.backend->layer_words());
  for (const Diag& d : loaded.diagnostics.list()) diagnostics.add(d);
  if (loaded.diagnostics.has_errors()) return std::nullopt;
  out.set = std::move(loaded.set);
  for (const rules::Rule& r : out.set.rules()) out.own.push_back(&r);
  return out;
}

std::string told(const rules::Rule& rule, const ir::Graph& g, const Tried& t) {
  const char* stage = rule.stage == rules::Stage::Source ? "source" : "canonical";
  std::string out = fmt::format("rule '{}' (layer {}, stage {}): tried at {} nodes, {} matches", rule.name,
                                rule.layer, stage, t.anchors, t.matches);
  if (t.taken < t.matches) out += fmt::format(", {} of them compiled", t.taken);
  out += "\n";
  for (const std::string& e : t.examples) out += "  " + e + "\n";
  if (t.matches > t.examples.size()) out += fmt::format("  and {} more\n", t.matches - t.examples.size());
  if (!t.refused.empty()) out += "  the back end refuses a match: " + t.refused + "\n";
  if (t.anchors == 0)
    out += fmt::format("  the model has no {}\n", rules::operators_text(rule.pattern[rule.anchor]));
  for (size_t i = 0; i < std::min(t.furthest.size(), kFurthest); ++i) {
    const auto& [node, o] = t.furthest[i];
    out += fmt::format("  not at {}, {} of its nodes matched\n", with_origin(g, node), o.stop.matched);
    if (o.stop.element != nullptr)
      out += fmt::format("    {}: {}\n", o.stop.element->text, what_stood(g, o.stop));
    else
      out += fmt::format("    {}: {}\n", o.condition, o.reason);
  }
  if (t.furthest.size() > kFurthest)
    out += fmt::format("  and not at {} more nodes\n", t.furthest.size() - kFurthest);
  return out;
}

}  // namespace

std::optional<std::string> rules_try(const CompileOptions& options, Diagnostics& diagnostics) {
  const std::optional<Setup> setup = set_up(options, diagnostics);
  if (!setup) return std::nullopt;
  const std::optional<Graphs> graphs = graphs_of(options, setup->subject, diagnostics);
  if (!graphs) return std::nullopt;
  RuleTrials trials(*graphs, setup->subject);
  std::string out;
  for (const rules::Rule* r : setup->own) out += told(*r, graphs->of(*r), trials.run(*r));
  return out;
}

std::optional<std::string> rules_coverage(const CompileOptions& options,
                                          const std::vector<std::filesystem::path>& models,
                                          Diagnostics& diagnostics) {
  const std::optional<Setup> setup = set_up(options, diagnostics);
  if (!setup) return std::nullopt;
  std::string out =
      fmt::format("{:<24} {:<20} {:>8} {:>9} {:>7}\n", "model", "rule", "matches", "compiled", "nodes");
  std::set<const rules::Rule*> matched;
  for (const auto& model : models) {
    CompileOptions o = options;
    o.model = model;
    const std::optional<Graphs> graphs = graphs_of(o, setup->subject, diagnostics);
    if (!graphs) return std::nullopt;
    RuleTrials trials(*graphs, setup->subject);
    for (const rules::Rule* r : setup->own) {
      const Tried t = trials.run(*r);
      if (t.matches > 0) matched.insert(r);
      out += fmt::format("{:<24} {:<20} {:>8} {:>9} {:>3}/{:<3}\n", printable(model.stem().string(), 60),
                         r->name, t.matches, t.taken, t.nodes, graphs->of(*r).topological_order().size());
    }
  }
  for (const rules::Rule* r : setup->own) {
    if (!matched.contains(r)) out += fmt::format("rule '{}' matches nowhere\n", r->name);
  }
  return out;
}

}  // namespace mrvlc::driver
