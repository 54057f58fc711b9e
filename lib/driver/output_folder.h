// Reading back a folder that compile wrote.
#pragma once
#include <filesystem>

#include "compiled_model.h"

namespace mrvlc::driver {

struct Port {
  std::string name;
  TensorType type;
};

struct OutputFolder {
  std::filesystem::path path;
  std::string name;  // of the model: NAME.c, NAME.region0.mrvl
  Json manifest;
  std::vector<Port> inputs, outputs;

  Result<Json> json(const std::string& file) const;
  Result<std::string> bytes(const std::string& file) const;
};

// Refuses folders without a readable manifest; files whose SHA-256 is not the manifest's are an error when read.
Result<OutputFolder> open_output(const std::filesystem::path& path);

}  // namespace mrvlc::driver
