// Regions one by one, and what that says of each ONNX node.
#include "mrvlc/prove/prove.h"

#include <fmt/format.h>

#include <algorithm>
#include <set>

#include "cones.h"
#include "link.h"
#include "mrvlc/support/diag/tools.h"
#include "mrvlc/support/hash.h"
#include "mrvlc/support/printable.h"
#include "region.h"

namespace mrvlc::prove {
namespace {

// Of an ONNX node, as the layers say that it is a source of: the reason where it has no proof.
struct Reason {
  bool seen = false;
  std::string exact, declared;
  void add(const std::string& of_exact, const std::string& of_declared) {
    seen = true;
    if (exact.empty()) exact = of_exact;
    if (declared.empty()) declared = of_declared;
  }
};

struct Region {
  const RegionHints* hints;
  RegionResult result;
  Linked linked;
  bool executed = true;  // false: its binary is refused, or none that this reads
};

// What a plug-in's file begins with (docs/targets.md): its instructions are known to its vendor alone.
constexpr std::string_view kPluginMagic = "MRVP";

RegionResult without_proof(const RegionHints& region, const std::string& why) {
  RegionResult r;
  r.exact.assign(region.layers.size(), false);
  r.why_not.assign(region.layers.size(), why);
  return r;
}

// Values of a region that rest on taken ones which the model has no name for.
std::set<std::string> unnamed(const Region& r, const Cones& model) {
  std::set<std::string> out;
  for (const std::string& t : r.result.taken)
    if (!model.has(t)) out.insert(t);
  for (const Layer& l : r.hints->layers)
    for (const Node& n : l.nodes) {
      const bool rests = std::any_of(n.inputs.begin(), n.inputs.end(),
                                     [&](const std::string& i) { return out.contains(i); });
      for (const ValueInfo& o : n.outputs)
        if (rests) out.insert(o.name);
    }
  return out;
}

// A node is proved when a value is, in both claims, that it leads to: back from there to inputs of regions
// and to values that are taken as they are. What proof.json says of sources is asked for reasons alone.
class Judge {
 public:
  Judge(const ir::Graph& g, const Linker& linker, const std::vector<Region>& regions)
      : g_(g),
        linker_(linker),
        regions_(regions),
        given_(given()),
        exact_(g, given_),
        declared_(g, given_),
        both_(g, given_) {
    for (const Region& r : regions) add(r);
  }

  std::vector<NodeProof> nodes() const {
    std::vector<NodeProof> out;
    for (const ir::Source& s : g_.sources()) {
      NodeProof n{s.id, s.name, s.op_type, false, "", false, ""};
      // Values between regions may have names that the model lacks: then the way back does not end there.
      const bool open = !not_executed_.contains(s.id);
      const bool proved = open && (both_.nodes().contains(s.id) || linker_.changes_nothing(s.id));
      n.exact = proved || (open && reasons_.contains(s.id) && exact_.nodes().contains(s.id));
      n.declared = proved || (open && declared_.nodes().contains(s.id));
      explain(s.id, proved, n);
      out.push_back(std::move(n));
    }
    return out;
  }

 private:
  std::set<std::string> given() const {
    std::set<std::string> out = linker_.fresh_values();
    for (const Region& r : regions_)
      for (const ProgramPort& p : r.hints->inputs) out.insert(p.value.name);
    return out;
  }

  void add(const Region& r) {
    const std::set<std::string> left_out = unnamed(r, exact_);
    for (const std::string& name : r.result.proved) {
      if (left_out.contains(name)) continue;
      const auto matched = r.linked.matched.find(name);
      exact_.add(matched == r.linked.matched.end() ? name : matched->second);
      if (matched != r.linked.matched.end()) both_.add(matched->second);
    }
    for (const auto& [name, of_model] : r.linked.matched) declared_.add(of_model);
    for (size_t i = 0; i < r.hints->layers.size(); ++i)
      for (const Node& n : r.hints->layers[i].nodes) {
        for (const std::string& s : n.sources) {
          reasons_[s].add(r.result.why_not[i], r.linked.why_not[i]);
          if (!r.executed) not_executed_.insert(s);
        }
        for (const std::string& in : n.inputs)
          if (const auto c = r.hints->constants.find(in); c != r.hints->constants.end())
            for (const std::string& s : c->second.sources)
              reasons_[s].add(r.result.why_not[i], r.linked.why_not[i]);
      }
  }

  void explain(const std::string& id, bool proved, NodeProof& n) const {
    const std::string host = "it is in no region: the C of the host is not proved",
                      apart = "no value that both claims hold for needs it";
    const auto found = reasons_.find(id);
    const auto reason = [&](const std::string& why) {
      return found == reasons_.end() ? host : why.empty() ? "no value that was compared needs it" : why;
    };
    if (!n.exact) n.why_not = reason(found == reasons_.end() ? "" : found->second.exact);
    if (!n.declared) n.why_not_declared = reason(found == reasons_.end() ? "" : found->second.declared);
    if (proved || !n.exact || !n.declared) return;
    n.declared = false;
    n.why_not_declared = apart;
  }

  const ir::Graph& g_;
  const Linker& linker_;
  const std::vector<Region>& regions_;
  std::set<std::string> given_;
  Cones exact_, declared_, both_;
  std::map<std::string, Reason> reasons_;
  std::set<std::string> not_executed_;
};

}  // namespace

bool Proof::contradiction() const {
  return std::any_of(regions.begin(), regions.end(), [](const RegionProof& r) { return !r.refusal.empty(); });
}
size_t Proof::exact() const {
  return static_cast<size_t>(
      std::count_if(nodes.begin(), nodes.end(), [](const NodeProof& n) { return n.exact; }));
}
size_t Proof::proved() const {
  return static_cast<size_t>(
      std::count_if(nodes.begin(), nodes.end(), [](const NodeProof& n) { return n.exact && n.declared; }));
}
size_t Proof::declared() const {
  return static_cast<size_t>(
      std::count_if(nodes.begin(), nodes.end(), [](const NodeProof& n) { return n.declared; }));
}

onnx::ImportOptions import_options(const std::string& hints) {
  onnx::ImportOptions options;
  const Json j = Json::parse(hints, nullptr, false);
  if (!j.is_object() || !j.contains("inputs") || !j.at("inputs").is_array()) return options;
  for (const Json& i : j.at("inputs")) {
    if (!i.is_object() || !i.contains("name") || !i.contains("shape") || i.contains("open")) continue;
    try {
      options.input_shapes.emplace(i.at("name").get<std::string>(),
                                   onnx::GivenShape(i.at("shape").get<Shape>()));
    } catch (const Json::exception&) {
      continue;
    }
  }
  return options;
}

namespace {

Result<Proof> proof_of(const Question& q) {
  std::optional<Hints> hints;
  try {
    hints = read_hints(q.hints);
  } catch (const NotProved& e) {
    return make_diag<DiagCode::MRV1100>(e.reason);
  }
  if (!hints) return make_diag<DiagCode::MRV1100>("it is not one of this version");
  if (hints->model != q.model->sha256) return make_diag<DiagCode::MRV1100>("it is that of another model");
  const Field field(q.seed);
  Proof proof;
  proof.prime = field.prime();
  std::set<std::string> binaries, taken;
  std::vector<Region> regions;
  for (const RegionHints& region : hints->regions) {
    // Each once: a list of hints must not decide how long a proof takes.
    if (!region.file.empty() && !binaries.insert(region.file).second)
      return make_diag<DiagCode::MRV1100>(fmt::format("it has '{}' twice", printable(region.file)));
    std::string bytes;
    if (!region.body && !region.file.empty()) {
      MRVLC_ASSIGN(bytes, q.binary(region.file));
    }
    const bool is_ours = !region.body && !region.file.empty() && !bytes.starts_with(kPluginMagic);
    RegionResult r;
    if (is_ours) {
      r = prove_region(region, bytes, q.model->graph, field, q.target(region.file));
      r.proof.sha256 = sha256_hex(bytes);
      proof.regions.push_back(r.proof);
    } else {
      r = without_proof(region, region.body           ? "it is in a body of control flow"
                                : region.file.empty() ? "its region is no binary of ours"
                                                      : "its region is a plug-in's");
    }
    taken.insert(r.taken.begin(), r.taken.end());
    const bool executed = is_ours && r.proof.refusal.empty();
    regions.push_back({&region, std::move(r), {}, executed});
  }
  Linker linker(q.model->graph, field, taken);
  for (Region& r : regions) r.linked = linker.link(*r.hints);
  proof.nodes = Judge(q.model->graph, linker, regions).nodes();
  return proof;
}

}  // namespace

// Hints are anybody's: what is of another type than it should be, or names what is not there, is their fault.
Result<Proof> prove(const Question& question) {
  try {
    return proof_of(question);
  } catch (const Json::exception&) {
    return make_diag<DiagCode::MRV1100>("a member has another type than it should have");
  } catch (const std::out_of_range&) {
    return make_diag<DiagCode::MRV1100>("it names what is not there");
  } catch (const NotProved& e) {
    return make_diag<DiagCode::MRV1100>(e.reason);
  }
}

}  // namespace mrvlc::prove
