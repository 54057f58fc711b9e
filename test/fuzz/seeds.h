// Where mutants start: small models made here, those of models/, and ONNX's own where they are installed.
#pragma once
#include <filesystem>

#include "mutate.h"

namespace mrvlc::fuzz {

std::vector<Seed> made_seeds();
std::vector<Seed> accelerator_seeds();  // every kind of its layers
// Every *.onnx below the folder of at most so many bytes, by path.
std::vector<Seed> stored_seeds(const std::filesystem::path& folder, size_t max_bytes);
// All there are: also Debian's test data, and $MRVLC_ONNX_TESTDATA.
std::vector<Seed> all_seeds();

}  // namespace mrvlc::fuzz
