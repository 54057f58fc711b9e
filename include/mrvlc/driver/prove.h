// `mrvlc prove`: whether the binaries of OUT compute the model (docs/prove.md).
#pragma once
#include <filesystem>
#include <string>
#include <vector>

#include "mrvlc/support/diag.h"
#include "mrvlc/support/result.h"

namespace mrvlc::driver {

struct ProveOptions {
  std::filesystem::path out;          // folder made by compile
  std::filesystem::path model;        // empty: looked for in OUT, beside it and in the current folder
  std::filesystem::path certificate;  // written; empty: OUT/certificate.json
  std::filesystem::path check;        // a certificate to be checked instead of written; empty: none
  std::string seed;                   // empty: of the hashes of model, OUT and this version
  std::vector<std::filesystem::path> target_dirs;
  bool json = false;  // the certificate instead of text
};
// The summary. What contradicts the model is MRV1103, what has no proof MRV1104, both in `diagnostics`.
Result<std::string> prove(const ProveOptions& options, Diagnostics& diagnostics);

}  // namespace mrvlc::driver
