// Why a file that was named cannot be read, in words that say what to do.
#pragma once
#include <sys/types.h>

#include <filesystem>
#include <string>

namespace mrvlc {

// Of open(2), which failed with `error`: the system's words, and where the name is misspelt what is there.
std::string open_fault(const std::filesystem::path& path, int error);
// Of what has no bytes to read: a folder, a device.
std::string kind_fault(mode_t mode);

}  // namespace mrvlc
