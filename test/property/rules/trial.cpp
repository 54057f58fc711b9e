#include "trial.h"

#include <algorithm>
#include <cmath>
#include <map>

#include "../../e2e/accel/ports.h"
#include "mrvlc/backends/open.h"
#include "mrvlc/chost/chost.h"
#include "mrvlc/driver/place.h"
#include "mrvlc/idmap/idmap.h"
#include "mrvlc/interp/interp.h"
#include "mrvlc/partition/ineffective_constraints.h"
#include "mrvlc/partition/rules.h"
#include "mrvlc/passes/pass.h"
#include "mrvlc/sim/simulator.h"
#include "mrvlc/support/diag/accel.h"

namespace mrvlc::rule_trials {
namespace {

using fuzz::Outcome;

// Largest |a-b| / (1 + |b|); infinite where types, infinities or NaNs differ.
double distance(const Tensor& a, const Tensor& b) {
  if (!(a.type() == b.type())) return INFINITY;
  double most = 0;
  for (int64_t i = 0; i < b.elements(); ++i) {
    const double x = a.as_double(i), y = b.as_double(i);
    if (x == y || (std::isnan(x) && std::isnan(y))) continue;
    const double d = std::abs(x - y) / (1 + std::abs(y));
    most = std::isnan(d) ? INFINITY : std::max(most, d);
  }
  return most;
}

passes::RunOptions pass_options() {
  passes::RunOptions options;
  options.context.half_weights = true;  // as where there is an accelerator
  return options;
}

// Nothing is stated of inputs: what constants and operators say.
range::Knowledge known_of(const ir::Graph& graph) {
  return {graph, {}, {}};
}

class Runner {
 public:
  explicit Runner(Trial trial) : t_(std::move(trial)) {}

  Verdict run() {
    auto backend = backends::open_default({.tiles = t_.tiles});
    if (!backend.ok()) return wrong("machine: " + backend.error().message);
    backend_ = std::move(*backend);
    const auto builtin = t_.default_rules ? partition::BuiltIn(backend_->rule_file()) : std::nullopt;
    auto rules = partition::sound_rules(builtin, t_.rule_files);
    if (!rules.ok()) return refused(rules.error());
    t_.options.turns = {{*std::move(rules)}};
    if (t_.imported && !match_beforehand()) return v_;
    known_ = known_of(t_.graph);
    t_.options.known = &known_;
    if (t_.keep_layers && !name_layers()) return v_;
    auto placed = driver::place(t_.graph, backend_.get(), t_.options, sources_);
    if (!placed.ok()) return refused(placed.error());
    for (const Diag& d : partition::ineffective_constraints(t_.graph, *placed, t_.options))
      if (d.severity() != Severity::Warning) return wrong("no warning: " + d.message);
    for (size_t i = 0; i < t_.inputs.size(); ++i) values_[t_.graph.inputs()[i]] = t_.inputs[i];
    for (const partition::Step& step : placed->steps) {
      const bool done = step.kind == partition::Step::Kind::Cpu ? on_cpu(step.node)
                                                                : on_device(placed->regions[step.region]);
      if (!done) return v_;
    }
    if (!generate(*placed)) return v_;
    for (size_t i = 0; i < t_.expected.size(); ++i) compare(i);
    return v_;
  }

 private:
  Verdict wrong(std::string why) {
    v_.outcome = Outcome::Wrong;
    v_.what = std::move(why);
    return v_;
  }

  Verdict refused(const Diag& d) {
    v_.outcome = static_cast<Outcome>(static_cast<int>(d.exit_class()));
    if (d.exit_class() == ExitClass::Internal) v_.outcome = Outcome::Internal;
    v_.code = diag_info(d.code).name;
    v_.what = d.message;
    // What is legal can be lowered.
    if (d.code == DiagCode::MRV0502) v_.outcome = Outcome::Wrong;
    return v_;
  }

  // As the driver does; where integer weights stay, the graph is another one.
  bool match_beforehand() {
    passes::RunOptions run = pass_options();
    auto matches = driver::match_beforehand(*t_.imported, t_.options.turns, *backend_, run, known_of);
    if (!matches.ok()) return refused(matches.error()), false;
    sources_ = *std::move(matches);
    if (!run.context.stays) return true;
    t_.graph = *t_.imported;
    const Status s = passes::run_passes(t_.graph, passes::default_pipeline(), run);
    if (!s.ok()) refused(s.error());
    return s.ok();
  }

  // False: the rules are refused.
  bool name_layers() {
    auto parts = partition::partition(t_.graph, backend_.get(), t_.options, sources_);
    if (!parts.ok()) return refused(parts.error()), false;
    for (const partition::NodeDecision& d : parts->decisions) {
      const bool given_back = d.reason.str().find("cost more than it saves") != std::string::npos;
      if (!d.accelerator && !given_back) continue;
      const ir::Node& node = t_.graph.node(d.node);
      t_.options.accel.push_back(node.name.empty() ? std::string(node.op->name) : node.name);
    }
    return true;
  }

  const Tensor* value(ir::ValueId v) const {
    if (!v.valid()) return nullptr;
    if (const Tensor* constant = t_.graph.constant(v)) return constant;
    return &values_.at(v);
  }

  bool on_cpu(ir::NodeId id) {
    const ir::Node& node = t_.graph.node(id);
    std::vector<const Tensor*> inputs;
    for (ir::ValueId in : node.inputs) inputs.push_back(value(in));
    auto results = interp::evaluate(t_.graph, node, inputs);
    if (!results.ok()) return wrong("interpreter: " + results.error().message), false;
    for (size_t i = 0; i < node.outputs.size(); ++i) values_[node.outputs[i]] = std::move((*results)[i]);
    return true;
  }

  bool on_device(const partition::Region& region) {
    accel::Options o;
    o.tiles = backend_->tiles();
    o.name = "net";
    auto compiled = accel::compile_region(t_.graph, region, backend_->machine(), o);
    if (!compiled.ok()) return refused(compiled.error()), false;
    if (!accel_test::covers(*compiled)) return wrong("an instruction belongs to no layer"), false;
    std::vector<std::string> out;
    if (std::string why = simulate(*compiled, out); !why.empty()) return wrong(why), false;
    for (size_t i = 0; i < compiled->outputs.size(); ++i) {
      const backend::Port& port = compiled->outputs[i];
      const TensorType& type = t_.graph.value(port.value).type;
      const Tensor read = accel_test::from_device(port, out[i], type.shape);
      Tensor stored(type);
      for (int64_t k = 0; k < read.elements(); ++k) stored.set_double(k, read.as_double(k));
      values_[port.value] = std::move(stored);
    }
    v_.layers += region.layers.size();
    for (const partition::Layer& layer : region.layers) {
      if (backend_->rules()->set.find(layer.rule) != nullptr) continue;
      ++v_.asked;
      v_.fused += layer.nodes.size() > 1 ? 1 : 0;
      v_.source +=
          std::ranges::find(sources_, layer.rule, &partition::SourceMatch::rule) != sources_.end() ? 1 : 0;
    }
    regions_.push_back(std::move(*compiled));
    return true;
  }

  std::string simulate(const accel::CompiledRegion& c, std::vector<std::string>& out) {
    auto binary = isa::read_container(isa::write_container(c.binary));
    if (!binary.ok()) return "container: " + binary.error().message;
    auto simulator = sim::Simulator::create(*binary, backend_->machine());
    if (!simulator.ok()) return "simulator: " + simulator.error().message;
    std::vector<std::string> bytes;
    for (const backend::Port& port : c.inputs)
      bytes.push_back(accel_test::to_device(port, *value(port.value)));
    std::vector<std::span<const std::byte>> spans;
    for (const std::string& b : bytes) spans.push_back(std::as_bytes(std::span(b.data(), b.size())));
    sim::Options options;
    options.keep_events = false;
    options.jobs = 1;
    auto report = simulator->run(spans, out, options);
    if (!report.ok()) return "run: " + report.error().message;
    return report->hazards.empty() ? std::string() : "hazard: " + report->hazards[0].what;
  }

  // The host's part and the ID map, so that they hold for whatever rules make.
  bool generate(const partition::Partition& parts) {
    ir::number_expressions(t_.graph);
    chost::Options o;
    o.name = o.file_stem = "net";
    auto host = chost::generate(t_.graph, parts, regions_, o);
    if (!host.ok()) return refused(host.error()), false;
    std::vector<idmap::SectionCounts> counts;
    for (const backend::RegionCode& r : regions_)
      counts.push_back({r.section_counts[0], r.section_counts[1], r.section_counts[2]});
    const auto gaps = idmap::find_gaps(idmap::build({t_.graph, parts, regions_, *host}), counts);
    if (!gaps.empty()) return wrong("ID map: " + gaps.front()), false;
    return true;
  }

  void compare(size_t i) {
    if (!t_.tolerances[i]) return;
    ++v_.compared;
    const ir::ValueId out = t_.graph.outputs()[i];
    const double error = distance(*value(out), t_.expected[i]);
    if (error <= *t_.tolerances[i]) return;
    wrong("output '" + t_.graph.value(out).name + "' differs by " + std::to_string(error) + ", more than " +
          std::to_string(*t_.tolerances[i]));
  }

  range::Knowledge known_;
  Trial t_;
  backends::Opened backend_;
  partition::SourceMatches sources_;
  std::map<ir::ValueId, Tensor> values_;
  std::vector<backend::RegionCode> regions_;
  Verdict v_;
};

}  // namespace

Status simplify(ir::Graph& graph) {
  return passes::run_passes(graph, passes::default_pipeline(), pass_options());
}

Result<ir::Graph> with_integer_weights(const ir::Graph& imported) {
  return driver::with_integer_weights(imported, pass_options());
}

Verdict run(Trial trial) {
  return Runner(std::move(trial)).run();
}

}  // namespace mrvlc::rule_trials
