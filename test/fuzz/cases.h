// What is done with a damaged model.
#pragma once
#include "batch.h"
#include "mutate.h"

namespace mrvlc::fuzz {

// Importer, verifier, and the passes of both pipelines in turn.
Outcome import_and_pass(const Mutant& mutant, uint64_t n, std::string& what);
// The whole compiler, for the host and for the accelerator in turn. What is accepted must have been written,
// and nothing else; with `cc`, its C must compile without warnings.
Outcome compile_all(const Mutant& mutant, uint64_t n, const std::filesystem::path& folder,
                    const std::string& cc, std::string& what);

}  // namespace mrvlc::fuzz
