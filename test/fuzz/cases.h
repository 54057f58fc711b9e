// What is done with a damaged model.
#pragma once
#include "batch.h"
#include "mutate.h"

namespace mrvlc::fuzz {

// Importer, verifier, and the passes of both pipelines in turn.
Outcome import_and_pass(const Mutant& mutant, uint64_t n, std::string& what);
// The whole compiler. What is accepted must have been written, and nothing else; with `cc`, its C must
// compile without warnings. What the accelerator runs of it is said as tags: the rules that took its layers.
struct CompileCase {
  std::string target;  // empty: the host and the accelerator in turn
  std::string cc;
};
Outcome compile_all(const Mutant& mutant, uint64_t n, const std::filesystem::path& folder,
                    const CompileCase& how, std::string& what);

}  // namespace mrvlc::fuzz
