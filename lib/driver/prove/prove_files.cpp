// Asks lib/prove about files, and says what came out.
#include "prove/prove_files.h"

#include <fmt/format.h>

#include <algorithm>

#include "mrvlc/support/diag/tools.h"
#include "mrvlc/support/file.h"
#include "mrvlc/support/hash.h"
#include "mrvlc/support/printable.h"

namespace mrvlc::driver {

Result<onnx::Model> model_to_prove(const std::filesystem::path& file, const std::string& hints,
                                   const std::filesystem::path& external_data, Diagnostics& diagnostics) {
  onnx::ImportOptions options = prove::import_options(hints);
  options.external_data_dir = external_data;
  Diagnostics said;
  std::optional<onnx::Model> model = onnx::import_file(file, options, said);
  for (const Diag& d : said.list())
    if (d.severity() == Severity::Error) diagnostics.add(d);
  if (!model) return make_diag<DiagCode::MRV1100>("the model cannot be read with its shapes");
  return *std::move(model);
}

Result<Proved> prove_files(const Provable& of, std::string seed) {
  FileHashes files = {{"proof.json", sha256_hex(of.hints)}};
  files.insert(files.end(), of.files.begin(), of.files.end());
  if (seed.empty()) seed = seed_of(of.model.sha256, files);
  prove::Question q;
  q.hints = of.hints;
  q.binary = [&](const std::string& file) -> Result<std::string> {
    if (file.find('/') != std::string::npos) return make_diag<DiagCode::MRV1100>("it names a file elsewhere");
    return read_file(of.path(file));
  };
  q.model = &of.model;
  q.seed = seed;
  q.target = [&](const std::string& file) {
    const auto found = of.targets.find(file);
    return found == of.targets.end() ? prove::Target() : found->second;
  };
  MRVLC_ASSIGN(prove::Proof proof, prove::prove(q));
  Json certificate = certificate_json(proof, of.model.sha256, files, seed);
  return Proved{std::move(proof), std::move(certificate)};
}

std::vector<Diag> refusals(const prove::Proof& proof) {
  std::vector<Diag> out;
  for (const prove::RegionProof& r : proof.regions)
    if (!r.refusal.empty())
      out.push_back(make_diag<DiagCode::MRV1103>(fmt::format("{}: {}", r.file, r.refusal)));
  return out;
}

std::optional<Gap> gap_of(const prove::Proof& proof) {
  if (proof.contradiction() || proof.proved() == proof.nodes.size()) return std::nullopt;
  const auto first = std::find_if(proof.nodes.begin(), proof.nodes.end(),
                                  [](const auto& n) { return !n.exact || !n.declared; });
  return Gap{proof.nodes.size() - proof.proved(), proof.nodes.size(),
             fmt::format("'{}' ({}): {}", printable(first->name), first->op,
                         first->exact ? first->why_not_declared : first->why_not)};
}

}  // namespace mrvlc::driver
