// The program with its files, the model that it was made from, the compiler, what is linked (SPDX 2.3).
#include "output/sbom.h"

#include <fmt/chrono.h>

#include <algorithm>
#include <charconv>
#include <cstdlib>

#include "mrvlc/support/diag/general.h"
#include "mrvlc/support/hash.h"
#include "mrvlc/support/mapped_file.h"

namespace mrvlc::driver {
namespace {

constexpr const char* kOurs = "Apache-2.0";
constexpr const char* kUnknown = "NOASSERTION";
constexpr uint64_t kMostBytes = uint64_t{1} << 42;
constexpr std::string_view kMoment = "SOURCE_DATE_EPOCH";

// Seconds since 1970, by reproducible-builds.org's rule; without them 1970, as OUT holds no time.
std::optional<int64_t> moment() {
  const char* text = std::getenv(kMoment.data());
  const std::string_view said = text == nullptr ? "" : text;
  int64_t seconds = 0;
  if (said.empty()) return seconds;
  const auto [end, error] = std::from_chars(said.data(), said.data() + said.size(), seconds);
  constexpr int64_t kYear10000 = 253402300800;
  const bool good =
      error == std::errc() && end == said.data() + said.size() && seconds >= 0 && seconds < kYear10000;
  return good ? std::optional(seconds) : std::nullopt;
}

Diag bad_moment(const char* who) {
  return make_diag<DiagCode::MRV0004>(
      fmt::format("{}: ${} is no number of seconds since 1970", who, kMoment));
}

Json package(const std::string& id, const std::string& name, const std::string& purpose,
             const std::string& license) {
  return {{"SPDXID", "SPDXRef-" + id},        {"name", name},
          {"primaryPackagePurpose", purpose}, {"downloadLocation", kUnknown},
          {"filesAnalyzed", false},           {"licenseConcluded", license},
          {"licenseDeclared", license},       {"copyrightText", kUnknown}};
}

Json relation(const std::string& one, const char* type, const std::string& other) {
  return {{"spdxElementId", "SPDXRef-" + one},
          {"relationshipType", type},
          {"relatedSpdxElement", "SPDXRef-" + other}};
}

// C that mrvlc wrote, and its headers; weights, binaries and reports are made of the model alone, and files
// of a package are under terms of their own.
bool is_ours(const SbomOf& of, const std::string& file) {
  const bool c =
      (file.ends_with(".c") || file.ends_with(".h")) && file.find("_weights.") == std::string::npos;
  return c && std::ranges::find(of.of_packages, file) == of.of_packages.end();
}

Result<Json> file_entry(const SbomOf& of, const std::string& name, const std::string& sha256,
                        std::vector<std::string>& sums) {
  const size_t number = sums.size();
  MRVLC_ASSIGN(const auto bytes, MappedFile::open(of.folder / name, kMostBytes));
  sums.push_back(sha1_hex(bytes->bytes()));
  return Json{{"SPDXID", fmt::format("SPDXRef-file-{}", number)},
              {"fileName", "./" + idmap::json_text(name)},
              {"checksums",
               {{{"algorithm", "SHA1"}, {"checksumValue", sums.back()}},
                {{"algorithm", "SHA256"}, {"checksumValue", sha256}}}},
              {"licenseConcluded", is_ours(of, name) ? kOurs : kUnknown},
              {"copyrightText", kUnknown}};
}

// SPDX 2.3, 7.9.
std::string verification_code(std::vector<std::string> sums) {
  std::ranges::sort(sums);
  std::string all;
  for (const std::string& sum : sums) all += sum;
  return sha1_hex(std::as_bytes(std::span(all)));
}

struct Document {
  Json packages = Json::array(), files = Json::array(), relationships = Json::array();
  std::vector<std::string> sums = {};  // SHA-1, of the files
};

void add_packages(const SbomOf& of, Document& document) {
  Json program = package("program", of.name, "SOURCE", kUnknown);
  program["filesAnalyzed"] = true;
  program["packageVerificationCode"] = {{"packageVerificationCodeValue", verification_code(document.sums)}};
  program["comment"] = "C of mrvlc, under its licence, with what the model says: weights and binaries.";
  Json model = package("model", of.name, "DATA", kUnknown);
  model["checksums"] = {{{"algorithm", "SHA256"}, {"checksumValue", of.model_sha256}}};
  Json tool = package("mrvlc", "mrvlc", "APPLICATION", kOurs);
  tool["versionInfo"] = MRVLC_VERSION;
  document.packages = {std::move(program), std::move(model), std::move(tool)};
  document.relationships.push_back(relation("DOCUMENT", "DESCRIBES", "program"));
  document.relationships.push_back(relation("program", "GENERATED_FROM", "model"));
  document.relationships.push_back(relation("mrvlc", "BUILD_TOOL_OF", "program"));
}

// What a program links besides OUT: by what packages of libraries say.
void add_linked(const SbomOf& of, Document& document) {
  const std::vector<std::string>& libraries = of.libraries;
  for (size_t i = 0; i < libraries.size(); ++i) {
    const std::string id = fmt::format("library-{}", i);
    document.packages.push_back(package(id, idmap::json_text(libraries[i]), "LIBRARY", kUnknown));
    document.relationships.push_back(relation("program", "DEPENDS_ON", id));
  }
}

Json whole(const SbomOf& of, Document document) {
  Json body = {{"packages", std::move(document.packages)},
               {"files", std::move(document.files)},
               {"relationships", std::move(document.relationships)}};
  Json out = {{"spdxVersion", "SPDX-2.3"},
              {"dataLicense", "CC0-1.0"},
              {"SPDXID", "SPDXRef-DOCUMENT"},
              {"name", of.name},
              {"documentNamespace",
               fmt::format("https://spdx.org/spdxdocs/mrvlc-{}-{}", of.name, sha256_hex(body.dump()))},
              {"creationInfo",
               {{"created", fmt::format("{:%Y-%m-%dT%H:%M:%SZ}", fmt::gmtime(moment().value_or(0)))},
                {"creators", {"Tool: mrvlc-" MRVLC_VERSION}}}}};
  out.update(body);
  return out;
}

}  // namespace

Status check_sbom(const CompileOptions& options) {
  if (!emits(options, "sbom") || moment()) return {};
  return bad_moment("--emit sbom");
}

Result<std::string> sbom(const SbomOf& of) {
  if (!moment()) return bad_moment("the SBOM");
  Document document;
  for (const auto& [name, sha256] : of.files) {
    MRVLC_ASSIGN(Json file, file_entry(of, name, sha256, document.sums));
    document.files.push_back(std::move(file));
  }
  add_packages(of, document);
  for (size_t i = 0; i < document.files.size(); ++i)
    document.relationships.push_back(relation("program", "CONTAINS", fmt::format("file-{}", i)));
  add_linked(of, document);
  return whole(of, std::move(document)).dump(1) + "\n";
}

Status write_sbom(OutputDir& dir, const CompiledModel& m, const CompileOptions& options) {
  if (!emits(options, "sbom")) return {};
  SbomOf of{m.name, m.model.sha256, dir.staged("."), dir.files()};
  for (const auto& [file, bytes] : m.libraries.files) of.of_packages.push_back(file);
  of.libraries = m.libraries.linked.libraries;
  MRVLC_ASSIGN(const std::string text, sbom(of));
  return dir.write(kSbomFile, text);
}

}  // namespace mrvlc::driver
