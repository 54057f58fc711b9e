// Where something is written until it is complete.
#pragma once
#include <filesystem>

#include "mrvlc/support/file_names.h"

namespace mrvlc {

// Beside the destination; a long name is cut so that the suffixes still fit into a file name.
inline std::filesystem::path staging_name(const std::filesystem::path& destination) {
  std::string name = destination.filename().string();
  if (name.size() > kMaxFileStem) name = file_name(name);
  return destination.parent_path() / ("." + name + ".mrvlc-partial");
}

}  // namespace mrvlc
