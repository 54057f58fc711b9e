// Why a file that was named cannot be read, in words that say what to do.
#pragma once
#include <sys/types.h>

#include <filesystem>
#include <string>
#include <system_error>

namespace mrvlc {

// Of open(2), which failed with `error`: the system's words, and where the name is misspelt what is there.
std::string open_fault(const std::filesystem::path& path, int error);
// Of what has no bytes to read: a folder, a device.
std::string kind_fault(const std::filesystem::path& path, mode_t mode);
// Of a folder that could not be gone through, with `error`; "--data" if that is what names it.
std::string folder_fault(const std::filesystem::path& path, std::error_code error, std::string_view option);

}  // namespace mrvlc
