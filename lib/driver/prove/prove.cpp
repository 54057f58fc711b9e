// `mrvlc prove`: finds the model, asks lib/prove, writes the certificate and the summary.
#include "mrvlc/driver/prove.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>

#include "mrvlc/support/diag/tools.h"
#include "mrvlc/support/file.h"
#include "mrvlc/support/hash.h"
#include "mrvlc/support/json_document.h"
#include "mrvlc/support/printable.h"
#include "output/proof_json.h"
#include "prove/prove_folder.h"

namespace mrvlc::driver {
namespace {

namespace fs = std::filesystem;

// Files that may be the model: called after it first, then others of the same folder.
std::vector<fs::path> candidates(const fs::path& folder, const std::string& name) {
  constexpr size_t kMost = 200;
  std::error_code ec;
  std::vector<fs::path> files, out;
  for (fs::directory_iterator i(folder, ec), end; !ec && i != end && files.size() < kMost; i.increment(ec))
    if (i->path().extension() == ".onnx" && i->is_regular_file(ec)) files.push_back(i->path());
  std::sort(files.begin(), files.end());
  for (const bool named : {true, false})
    for (const fs::path& f : files)
      if ((f.stem() == name) == named) out.push_back(f);
  return out;
}

std::optional<fs::path> find_model(const OutputFolder& out, const std::string& sha) {
  const fs::path quantized = out.path / (out.name + ".quantized.onnx");
  std::error_code ec;
  if (fs::exists(quantized, ec)) return quantized;
  for (const fs::path& folder :
       {out.path, fs::absolute(out.path, ec).lexically_normal().parent_path(), fs::path(".")})
    for (const fs::path& f : candidates(folder, out.name)) {
      const auto bytes = read_file(f);
      if (bytes.ok() && sha256_hex(*bytes) == sha) return f;
    }
  return std::nullopt;
}

// proof.json's: of the model that it is about.
Result<std::string> model_sha(const std::string& hints) {
  const Json j = Json::parse(hints, nullptr, false);
  if (!j.is_object() || !j.contains("model") || !j.at("model").is_string())
    return make_diag<DiagCode::MRV1100>("it is not one of this version");
  return j.at("model").get<std::string>();
}

// By name.
std::map<std::string, prove::Target> targets_of(const OutputFolder& out, const ProveOptions& options) {
  std::map<std::string, prove::Target> targets;
  for (const std::string& name : out.targets) {
    const auto backend = out.backend(name, options.target_dirs, OutputFolder::Libraries::OfPackages);
    if (backend.ok())
      targets[name] = {(*backend)->machine().ocm_bytes, (*backend)->machine().accumulator_pixels};
  }
  return targets;
}

// By the binary's file. Regions name their target where there are several.
std::map<std::string, prove::Target> targets_of_files(const OutputFolder& out, const ProveOptions& options) {
  const std::map<std::string, prove::Target> targets = targets_of(out, options);
  std::map<std::string, prove::Target> of_files;
  const auto report = out.json("report.json");
  if (!report.ok() || !report->is_object() || !report->contains("regions") || targets.empty())
    return of_files;
  const auto text = [](const Json& region, const char* key, const std::string& other) {
    const bool there = region.is_object() && region.contains(key) && region.at(key).is_string();
    return there ? region.at(key).get<std::string>() : other;
  };
  for (const Json& region : report->at("regions")) {
    const auto found = targets.find(text(region, "target", out.targets.front()));
    if (found != targets.end()) of_files[text(region, "file", "")] = found->second;
  }
  return of_files;
}

}  // namespace

Result<FolderWithModel> open_with_model(const ProveOptions& options, Diagnostics& diagnostics) {
  FolderWithModel o;
  MRVLC_ASSIGN(o.out, open_output(options.out));
  MRVLC_ASSIGN(o.of.hints, read_file(options.out / kProofFile));
  MRVLC_ASSIGN(const std::string sha, model_sha(o.of.hints));
  o.model = options.model;
  if (o.model.empty()) {
    const auto found = find_model(o.out, sha);
    if (!found) return make_diag<DiagCode::MRV1101>(options.out.string());
    o.model = *found;
  }
  MRVLC_ASSIGN(o.of.model, model_to_prove(o.model, o.of.hints, "", diagnostics));
  if (o.of.model.sha256 != sha)
    return make_diag<DiagCode::MRV1102>(o.model.string(), options.out.string(), o.of.model.sha256, sha);
  for (const auto& [file, written] : o.out.files)
    if (file.ends_with(".mrvl")) {
      MRVLC_ASSIGN(const std::string bytes, read_file(options.out / file));
      o.of.files.emplace_back(file, sha256_hex(bytes));
    }
  o.of.path = [folder = options.out](const std::string& file) { return folder / file; };
  o.of.targets = targets_of_files(o.out, options);
  return o;
}

Result<std::string> prove(const ProveOptions& options, Diagnostics& diagnostics) {
  MRVLC_ASSIGN(const FolderWithModel o, open_with_model(options, diagnostics));
  std::optional<Certificate> given;
  if (!options.check.empty()) {
    MRVLC_ASSIGN(given, read_certificate(options.check));
  }
  const std::string seed = !options.seed.empty() ? options.seed : given ? given->seed : "";
  MRVLC_ASSIGN(const Proved proved, prove_files(o.of, seed));
  for (Diag& d : refusals(proved.proof)) diagnostics.add(std::move(d));
  if (const auto gap = gap_of(proved.proof))
    diagnostics.add(make_diag<DiagCode::MRV1104>(gap->nodes, gap->of, gap->first));
  if (given) {
    const std::string why = differs(*given, proved.certificate);
    if (!why.empty()) diagnostics.add(make_diag<DiagCode::MRV1105>(why));
  } else {
    const fs::path to = options.certificate.empty() ? options.out / kCertificate : options.certificate;
    if (!options.certificate.empty()) MRVLC_TRY(o.out.check_apart(to));
    MRVLC_TRY(write_file_atomic(to, json_document(proved.certificate)));
  }
  return options.json ? json_document(proved.certificate) : summary(proved.proof);
}

}  // namespace mrvlc::driver
