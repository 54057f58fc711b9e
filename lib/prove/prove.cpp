// Regions one by one, and what that says of each ONNX node.
#include "mrvlc/prove/prove.h"

#include <fmt/format.h>

#include <algorithm>

#include "mrvlc/support/diag/tools.h"
#include "mrvlc/support/hash.h"
#include "region.h"

namespace mrvlc::prove {
namespace {

struct Verdict {
  bool seen = false, exact = true;
  std::string why_not;
  void add(bool is_exact, const std::string& reason) {
    seen = true;
    if (is_exact) return;
    exact = false;
    if (why_not.empty()) why_not = reason;
  }
};

void judge_layers(const RegionHints& hints, const RegionResult& r, std::map<std::string, Verdict>& verdicts) {
  for (size_t i = 0; i < hints.layers.size(); ++i)
    for (const Node& n : hints.layers[i].nodes)
      for (const std::string& s : n.sources) verdicts[s].add(r.exact[i], r.why_not[i]);
  for (const auto& [name, c] : hints.constants) {
    if (!c.folded) continue;
    const bool taken = r.taken.contains(name);
    for (const std::string& s : c.sources) {
      // A node that is in a layer, too, has that layer's verdict.
      Verdict& v = verdicts[s];
      if (!v.seen || taken) v.add(!taken, "how it was folded into a constant is not derived from the model");
    }
  }
}

std::vector<NodeProof> node_proofs(const ir::Graph& g, const std::map<std::string, Verdict>& verdicts) {
  std::vector<NodeProof> out;
  for (const ir::Source& s : g.sources()) {
    NodeProof n{s.id, s.name, s.op_type, false, "", false, "", {}};
    const auto v = verdicts.find(s.id);
    n.exact = v != verdicts.end() && v->second.exact;
    if (!n.exact)
      n.why_not =
          v == verdicts.end() ? "it is in no region: the C of the host is not proved" : v->second.why_not;
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

Result<Proof> prove(const Question& q) {
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
  std::map<std::string, Verdict> verdicts;
  for (const RegionHints& region : hints->regions) {
    RegionResult r;
    if (region.body || region.file.empty()) {
      r.exact.assign(region.layers.size(), false);
      r.why_not.assign(region.layers.size(),
                       region.body ? "it is in a body of control flow" : "its region is no binary of ours");
    } else {
      MRVLC_ASSIGN(const std::string bytes, q.binary(region.file));
      r = prove_region(region, bytes, q.model->graph, field, q.target);
      r.proof.sha256 = sha256_hex(bytes);
      proof.regions.push_back(r.proof);
    }
    judge_layers(region, r, verdicts);
  }
  proof.nodes = node_proofs(q.model->graph, verdicts);
  return proof;
}

}  // namespace mrvlc::prove
