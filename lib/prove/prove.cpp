// Regions one by one, and what that says of each ONNX node.
#include "mrvlc/prove/prove.h"

#include <fmt/format.h>

#include <algorithm>
#include <set>

#include "link.h"
#include "mrvlc/support/diag/tools.h"
#include "mrvlc/support/hash.h"
#include "mrvlc/support/printable.h"
#include "region.h"

namespace mrvlc::prove {
namespace {

struct Verdict {
  bool seen = false, exact = true, declared = true;
  std::string why_not, why_not_declared;
  void add(bool is_exact, const std::string& reason, bool is_declared, const std::string& reason_declared) {
    seen = true;
    if (!is_exact && why_not.empty()) why_not = reason;
    if (!is_declared && why_not_declared.empty()) why_not_declared = reason_declared;
    exact = exact && is_exact;
    declared = declared && is_declared;
  }
};

using Verdicts = std::map<std::string, Verdict>;

void judge_layers(const RegionHints& hints, const RegionResult& r, const Linked& linked, Verdicts& verdicts) {
  for (size_t i = 0; i < hints.layers.size(); ++i)
    for (const Node& n : hints.layers[i].nodes)
      for (const std::string& s : n.sources)
        verdicts[s].add(r.exact[i], r.why_not[i], linked.declared[i], linked.why_not[i]);
}

// What was folded into a constant has the verdict of the layers that read it.
void judge_constants(const RegionHints& hints, const RegionResult& r, const Linked& linked,
                     Verdicts& verdicts) {
  std::set<std::string> own;
  for (const Layer& l : hints.layers)
    for (const Node& n : l.nodes) own.insert(n.sources.begin(), n.sources.end());
  for (size_t i = 0; i < hints.layers.size(); ++i)
    for (const Node& n : hints.layers[i].nodes)
      for (const std::string& name : n.inputs) {
        const auto c = hints.constants.find(name);
        if (c == hints.constants.end() || !c->second.folded) continue;
        for (const std::string& s : c->second.sources)
          if (!own.contains(s))
            verdicts[s].add(r.exact[i], r.why_not[i], linked.declared[i], linked.why_not[i]);
      }
}

// What went into the nodes behind it (the DequantizeLinear of weights): it is proved with them, when no
// region reads its result from the host and it is no result of the model.
void judge_absorbed(const ir::Graph& g, const Linker& linker, const std::vector<RegionHints>& regions,
                    Verdicts& verdicts) {
  std::set<std::string> crossing;
  for (const RegionHints& r : regions)
    for (const ProgramPort& p : r.inputs) crossing.insert(p.value.name);
  for (ir::ValueId v : g.outputs()) crossing.insert(g.value(v).name);
  for (size_t i = g.sources().size(); i-- > 0;) {
    const std::string& id = g.sources()[i].id;
    if (verdicts.contains(id) || !linker.has(id)) continue;
    const auto& results = linker.results_of(id);
    if (std::any_of(results.begin(), results.end(),
                    [&](const std::string& r) { return crossing.contains(r); }))
      continue;
    const std::vector<std::string> users = linker.users_of(id);
    Verdict v;
    for (const std::string& u : users) {
      const auto of_user = verdicts.find(u);
      if (of_user == verdicts.end()) {
        v.seen = false;
        break;
      }
      v.add(of_user->second.exact, of_user->second.why_not, of_user->second.declared,
            of_user->second.why_not_declared);
    }
    if (v.seen) verdicts.emplace(id, v);
  }
}

std::vector<NodeProof> node_proofs(const ir::Graph& g, const Linker& linker, const Verdicts& verdicts) {
  std::vector<NodeProof> out;
  const std::string host = "it is in no region: the C of the host is not proved";
  for (const ir::Source& s : g.sources()) {
    NodeProof n{s.id, s.name, s.op_type, false, "", false, "", {}};
    const auto v = verdicts.find(s.id);
    if (v != verdicts.end()) {
      n.exact = v->second.exact;
      n.declared = v->second.declared;
      n.why_not = v->second.why_not;
      n.why_not_declared = v->second.why_not_declared;
    } else if (linker.changes_nothing(s.id)) {
      n.exact = n.declared = true;
    } else {
      n.why_not = n.why_not_declared = host;
    }
    out.push_back(std::move(n));
  }
  return out;
}

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
  Verdicts verdicts;
  Linker linker(q.model->graph, field);
  std::set<std::string> binaries;
  for (const RegionHints& region : hints->regions) {
    // Each once: a list of hints must not decide how long a proof takes.
    if (!region.file.empty() && !binaries.insert(region.file).second)
      return make_diag<DiagCode::MRV1100>(fmt::format("it has '{}' twice", printable(region.file)));
    RegionResult r;
    if (region.body || region.file.empty()) {
      r.exact.assign(region.layers.size(), false);
      r.why_not.assign(region.layers.size(),
                       region.body ? "it is in a body of control flow" : "its region is no binary of ours");
    } else {
      MRVLC_ASSIGN(const std::string bytes, q.binary(region.file));
      r = prove_region(region, bytes, q.model->graph, field, q.target(region.file));
      r.proof.sha256 = sha256_hex(bytes);
      proof.regions.push_back(r.proof);
    }
    const Linked linked = linker.link(region);
    judge_layers(region, r, linked, verdicts);
    judge_constants(region, r, linked, verdicts);
  }
  judge_absorbed(q.model->graph, linker, hints->regions, verdicts);
  proof.nodes = node_proofs(q.model->graph, linker, verdicts);
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
