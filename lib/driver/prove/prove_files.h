// A proof of what a compile wrote, or is about to write.
#pragma once
#include <filesystem>
#include <functional>
#include <map>
#include <optional>

#include "mrvlc/onnx/importer.h"
#include "prove/certificate.h"

namespace mrvlc::driver {

struct Provable {
  std::string hints;                                                   // proof.json
  onnx::Model model;                                                   // read anew, by model_to_prove()
  FileHashes files;                                                    // binaries that decide, with SHA-256
  std::function<std::filesystem::path(const std::string& file)> path;  // of a binary
  std::map<std::string, prove::Target> targets;                        // by binary
};

// With the shapes that the hints name. MRV1100, and what the importer says.
Result<onnx::Model> model_to_prove(const std::filesystem::path& file, const std::string& hints,
                                   const std::filesystem::path& external_data, Diagnostics& diagnostics);

struct Proved {
  prove::Proof proof;
  Json certificate;
};
// `seed` empty: it follows from the hashes of model, files and this version.
Result<Proved> prove_files(const Provable& of, std::string seed);

// MRV1103, one a region.
std::vector<Diag> refusals(const prove::Proof& proof);
// Nodes without a proof.
struct Gap {
  size_t nodes, of;
  std::string first;  // "'pool' (MaxPool): it is in no region"
};
// Nothing where all are proved, or a region is refused.
std::optional<Gap> gap_of(const prove::Proof& proof);

}  // namespace mrvlc::driver
