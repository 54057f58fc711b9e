// A compiled model, its binary with one thing changed, and two judges: the simulator and the prover.
#pragma once
#include <random>

#include "mrvlc/isa/container.h"
#include "mrvlc/onnx/importer.h"
#include "mrvlc/prove/prove.h"
#include "mrvlc/target/machine.h"
#include "program.h"
#include "support/folders.h"

namespace mrvlc::test {

struct Subject {
  explicit Subject(const std::filesystem::path& model, uint32_t tiles = 4, bool pinned = false);

  onnx::Model model;
  prove::Hints hints;
  std::string hints_text;
  std::string bytes;  // of region 0, in plain code
  target::Machine machine;
  size_t first_instruction = 0,
         instructions = 0,            // of the file: where main begins, how many all sections have
      first_weight = 0, weights = 0;  // of the file: where weights begin, their bytes

  // Why the prover refuses these bytes; empty: it does not.
  std::string refusal(const std::string& changed) const;
  // Outputs of two inferences on `count` drawn inputs; nullopt: the simulator refuses the binary, or it has a
  // hazard.
  std::optional<std::vector<std::string>> results(const std::string& changed, int count) const;
};

// Identity and both CRCs anew.
std::string sealed(std::string bytes);

}  // namespace mrvlc::test
