// The certificate written, read back and compared; the summary.
#include "prove/certificate.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>

#include "folder/output_folder.h"
#include "mrvlc/idmap/idmap.h"
#include "mrvlc/support/diag/general.h"
#include "mrvlc/support/diag/tools.h"
#include "mrvlc/support/file.h"
#include "mrvlc/support/hash.h"
#include "mrvlc/support/printable.h"

namespace mrvlc::driver {
namespace {

Json region_json(const prove::RegionProof& r) {
  Json j = {{"id", r.id},
            {"file", r.file},
            {"instructions", r.instructions},
            {"elements", r.elements},
            {"inner", r.inner},
            {"taken", Json::array()},
            {"refused", Json()}};
  for (const std::string& t : r.taken) j["taken"].push_back(idmap::json_text(t));
  if (!r.refusal.empty()) j["refused"] = r.refusal;
  return j;
}

Json node_json(const prove::NodeProof& n) {
  Json j = {{"id", n.id},
            {"name", idmap::json_text(n.name)},
            {"op_type", n.op},
            {"exact", n.exact},
            {"declared", n.declared}};
  if (!n.exact) j["reason"] = idmap::json_text(n.why_not);
  if (!n.declared) j["reason_declared"] = idmap::json_text(n.why_not_declared);
  return j;
}

}  // namespace

std::string seed_of(const std::string& model, const FileHashes& files) {
  std::string text = model + "\n" MRVLC_VERSION "\n";
  for (const auto& [file, sha] : files) text += sha + "  " + file + "\n";
  return sha256_hex(text);
}

Json certificate_json(const prove::Proof& proof, const std::string& model, const FileHashes& files,
                      const std::string& seed) {
  Json listed = Json::array(), regions = Json::array(), nodes = Json::array();
  for (const auto& [file, sha] : files) listed.push_back({{"file", file}, {"sha256", sha}});
  uint64_t elements = 1;
  for (const prove::RegionProof& r : proof.regions) {
    regions.push_back(region_json(r));
    elements += r.elements;
  }
  for (const prove::NodeProof& n : proof.nodes) nodes.push_back(node_json(n));
  const bool refused = proof.contradiction(), all = proof.proved() == proof.nodes.size();
  return {{"schema", kCertificateSchema},
          {"tool", {{"name", "mrvlc"}, {"version", MRVLC_VERSION}}},
          {"model", model},
          {"files", std::move(listed)},
          {"seed", idmap::json_text(seed)},
          {"prime", std::to_string(proof.prime)},
          {"verdict", refused ? "refused"
                      : all   ? "proved"
                              : "partly"},
          {"nodes_proved", proof.proved()},
          {"nodes_exact", proof.exact()},
          {"nodes_declared", proof.declared()},
          {"regions", std::move(regions)},
          {"nodes", std::move(nodes)}};
}

Result<Certificate> read_certificate(const std::filesystem::path& path) {
  MRVLC_ASSIGN(const std::string text, read_file(path));
  Certificate c;
  c.json = Json::parse(text, nullptr, false);
  const auto is = [&](const char* key) {
    return c.json.is_object() && c.json.contains(key) && c.json.at(key).is_string();
  };
  if (!is("schema") || c.json.at("schema") != kCertificateSchema || !is("seed"))
    return make_diag<DiagCode::MRV0003>(path.string(), "it is no certificate of this version");
  c.seed = c.json.at("seed").get<std::string>();
  return c;
}

std::string differs(const Certificate& given, const Json& now) {
  for (const auto& [key, value] : now.items()) {
    if (given.json.contains(key) && given.json.at(key) == value) continue;
    return fmt::format("its member '{}' is not what the proof gives now", key);
  }
  return given.json.size() == now.size() ? "" : "it has members that a proof does not give";
}

std::string summary(const prove::Proof& proof) {
  const size_t all = proof.nodes.size(), exact = proof.exact();
  std::string text;
  for (const prove::RegionProof& r : proof.regions)
    text += fmt::format(
        "{}: {}\n", r.file,
        r.refusal.empty()
            ? fmt::format("{} instructions, {} elements of outputs and {} between layers compared",
                          r.instructions, r.elements, r.inner)
            : "refused: " + r.refusal);
  text += fmt::format("proved: {} of {} nodes, for all inputs without NaN\n", proof.proved(), all);
  text += fmt::format(
      "  A, the binary computes its layers bit for bit: {}\n  B, the layers are the model but for rounding: "
      "{}\n",
      exact, proof.declared());
  std::map<std::string, std::vector<const prove::NodeProof*>> reasons;
  for (const prove::NodeProof& n : proof.nodes) {
    if (!n.exact) reasons[(n.declared ? "A: " : "A and B: ") + n.why_not].push_back(&n);
    if (n.exact && !n.declared) reasons["B: " + n.why_not_declared].push_back(&n);
  }
  for (const prove::RegionProof& r : proof.regions)
    for (const std::string& t : r.taken)
      text += fmt::format("taken as the binary stores it, and nodes behind it are proved for that: '{}'\n",
                          printable(t));
  for (const auto& [why, nodes] : reasons) {
    text += fmt::format("not proved, {}: {} nodes:", printable(why), nodes.size());
    constexpr size_t kShown = 8;
    for (size_t i = 0; i < std::min(kShown, nodes.size()); ++i)
      text += fmt::format(" {} ({})", printable(nodes[i]->name.empty() ? nodes[i]->id : nodes[i]->name),
                          nodes[i]->op);
    text += nodes.size() > kShown ? " ...\n" : "\n";
  }
  return text;
}

}  // namespace mrvlc::driver
