// Folders that hold target packages.
#pragma once
#include <filesystem>
#include <string_view>
#include <vector>

namespace mrvlc::target {

using Folders = std::vector<std::filesystem::path>;

// A name is one path component, so that it cannot leave the search folders.
bool plain_name(std::string_view name);

// The user's, then the system's: targets installed for mrvlc, whether or not there are any.
Folders data_folders();

}  // namespace mrvlc::target
