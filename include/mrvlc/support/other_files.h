// Files in an output folder that nobody of ours wrote: they stay when the folder is written again.
#pragma once
#include <filesystem>
#include <string>
#include <utility>
#include <vector>

#include "mrvlc/support/file.h"

namespace mrvlc {

// Names below a folder, with '/', and SHA-256, as OutputDir::files gives them.
using WrittenFiles = std::vector<std::pair<std::string, std::string>>;

// What `destination` holds beside `own`, the files of its last compile, is linked into the folder that `next`
// will put in its place: both have it until OutputDir::commit. A file of `own` that was changed since and is
// not written again counts as somebody else's. MRV0002: `next` has a file of such a name.
Status keep_other_files(const std::filesystem::path& destination, const WrittenFiles& own,
                        const OutputDir& next);

// Removes the files of `own` that are as they were written, and folders that are empty then, the destination
// among them.
void remove_own_files(const std::filesystem::path& destination, const WrittenFiles& own);

}  // namespace mrvlc
