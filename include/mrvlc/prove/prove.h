// Decides whether the binaries of a compile compute its model (docs/prove.md). It shares nothing with the
// compiler but the readers of ONNX and JSON.
#pragma once
#include <filesystem>
#include <functional>
#include <map>
#include <string>
#include <vector>

#include "mrvlc/onnx/importer.h"
#include "mrvlc/support/result.h"

namespace mrvlc::prove {

// Numbers of the target that docs/isa.md names; 0: not known.
struct Target {
  uint64_t ocm_bytes = 0, accumulator_pixels = 0;
};

struct Question {
  std::string hints;  // proof.json
  // By name: the binaries of OUT.
  std::function<Result<std::string>(const std::string& file)> binary;
  const onnx::Model* model = nullptr;
  std::string seed;  // any text
  // Of the machine that a binary is for.
  std::function<Target(const std::string& file)> target;
};

// An ONNX node.
struct NodeProof {
  std::string id, name, op;
  bool exact = false;     // claim A
  std::string why_not;    // of claim A
  bool declared = false;  // claim B
  std::string why_not_declared;
};

struct RegionProof {
  uint32_t id = 0;
  std::string file, sha256;
  uint32_t instructions = 0;
  uint64_t elements = 0;  // of outputs, compared
  uint64_t inner = 0;     // of values between layers, compared
  // Values that nobody says how they are computed: what reads them is proved for what the binary stores.
  std::vector<std::string> taken;
  std::string refusal;  // what contradicts the model or docs/isa.md; empty: nothing
};

struct Proof {
  uint64_t prime = 0;
  std::vector<RegionProof> regions;
  std::vector<NodeProof> nodes;  // in the order of the model
  bool contradiction() const;
  size_t exact() const;
  size_t declared() const;
  size_t proved() const;  // both
};

// How the model is to be read: with the shapes of inputs that the compile had.
onnx::ImportOptions import_options(const std::string& hints);

// An error: the hints cannot be read, or a binary.
Result<Proof> prove(const Question& question);

}  // namespace mrvlc::prove
