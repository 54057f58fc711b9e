// certificate.json: what was proved, of which bytes.
#pragma once
#include "inputs/json.h"
#include "mrvlc/prove/prove.h"

namespace mrvlc::driver {

using FileHashes = std::vector<std::pair<std::string, std::string>>;

struct Certificate {
  std::string seed;
  Json json;
};

Result<Certificate> read_certificate(const std::filesystem::path& path);
std::string seed_of(const std::string& model, const FileHashes& files);
Json certificate_json(const prove::Proof& proof, const std::string& model, const FileHashes& files,
                      const std::string& seed);
// What a certificate says and this one does not; empty: nothing.
std::string differs(const Certificate& given, const Json& now);
std::string summary(const prove::Proof& proof);

}  // namespace mrvlc::driver
