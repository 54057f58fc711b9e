// `mrvlc prove`: finds the model, asks lib/prove, writes the certificate and the summary.
#include "mrvlc/driver/prove.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>

#include "folder/output_folder.h"
#include "mrvlc/driver/prove.h"
#include "mrvlc/onnx/importer.h"
#include "mrvlc/prove/prove.h"
#include "mrvlc/support/diag/tools.h"
#include "mrvlc/support/file.h"
#include "mrvlc/support/hash.h"
#include "mrvlc/support/json_document.h"
#include "mrvlc/support/printable.h"
#include "prove/certificate.h"

namespace mrvlc::driver {
namespace {

namespace fs = std::filesystem;

constexpr const char* kCertificate = "certificate.json";

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

struct Opened {
  OutputFolder out;
  std::string hints;
  onnx::Model model;
  std::vector<std::pair<std::string, std::string>> files;  // of OUT that decide, with SHA-256
};

Result<Opened> open(const ProveOptions& options, Diagnostics& diagnostics) {
  Opened o;
  MRVLC_ASSIGN(o.out, open_output(options.out));
  MRVLC_ASSIGN(o.hints, read_file(options.out / "proof.json"));
  const Json hints = Json::parse(o.hints, nullptr, false);
  if (!hints.is_object() || !hints.contains("model") || !hints.at("model").is_string())
    return make_diag<DiagCode::MRV1100>("it is not one of this version");
  const auto sha = hints.at("model").get<std::string>();
  fs::path path = options.model;
  if (path.empty()) {
    const auto found = find_model(o.out, sha);
    if (!found) return make_diag<DiagCode::MRV1101>(options.out.string());
    path = *found;
  }
  Diagnostics said;
  std::optional<onnx::Model> model = onnx::import_file(path, prove::import_options(o.hints), said);
  for (const Diag& d : said.list())
    if (d.severity() == Severity::Error) diagnostics.add(d);
  if (!model) return make_diag<DiagCode::MRV1100>("the model cannot be read with its shapes");
  if (model->sha256 != sha)
    return make_diag<DiagCode::MRV1102>(path.string(), options.out.string(), model->sha256, sha);
  o.model = std::move(*model);
  o.files.emplace_back("proof.json", sha256_hex(o.hints));
  for (const auto& [file, written] : o.out.files)
    if (file.ends_with(".mrvl")) {
      MRVLC_ASSIGN(const std::string bytes, read_file(options.out / file));
      o.files.emplace_back(file, sha256_hex(bytes));
    }
  return o;
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

void report(const prove::Proof& proof, Diagnostics& diagnostics) {
  for (const prove::RegionProof& r : proof.regions)
    if (!r.refusal.empty())
      diagnostics.add(make_diag<DiagCode::MRV1103>(fmt::format("{}: {}", r.file, r.refusal)));
  if (proof.contradiction() || proof.proved() == proof.nodes.size()) return;
  const auto first = std::find_if(proof.nodes.begin(), proof.nodes.end(),
                                  [](const auto& n) { return !n.exact || !n.declared; });
  diagnostics.add(
      make_diag<DiagCode::MRV1104>(proof.nodes.size() - proof.proved(), proof.nodes.size(),
                                   fmt::format("'{}' ({}): {}", printable(first->name), first->op,
                                               first->exact ? first->why_not_declared : first->why_not)));
}

}  // namespace

Result<std::string> prove(const ProveOptions& options, Diagnostics& diagnostics) {
  MRVLC_ASSIGN(const Opened o, open(options, diagnostics));
  std::optional<Certificate> given;
  if (!options.check.empty()) {
    MRVLC_ASSIGN(given, read_certificate(options.check));
  }
  const std::string seed = !options.seed.empty() ? options.seed
                           : given               ? given->seed
                                                 : seed_of(o.model.sha256, o.files);
  prove::Question q;
  q.hints = o.hints;
  q.binary = [&](const std::string& file) -> Result<std::string> {
    if (file.find('/') != std::string::npos) return make_diag<DiagCode::MRV1100>("it names a file elsewhere");
    return read_file(options.out / file);
  };
  q.model = &o.model;
  q.seed = seed;
  const std::map<std::string, prove::Target> targets = targets_of_files(o.out, options);
  q.target = [&](const std::string& file) {
    const auto found = targets.find(file);
    return found == targets.end() ? prove::Target() : found->second;
  };
  MRVLC_ASSIGN(const prove::Proof proof, prove::prove(q));
  const Json certificate = certificate_json(proof, o.model.sha256, o.files, seed);
  report(proof, diagnostics);
  if (given) {
    const std::string why = differs(*given, certificate);
    if (!why.empty()) diagnostics.add(make_diag<DiagCode::MRV1105>(why));
  } else {
    const fs::path to = options.certificate.empty() ? options.out / kCertificate : options.certificate;
    if (!options.certificate.empty()) MRVLC_TRY(o.out.check_apart(to));
    MRVLC_TRY(write_file_atomic(to, json_document(certificate)));
  }
  return options.json ? json_document(certificate) : summary(proof);
}

}  // namespace mrvlc::driver
