// The words of the command line, with what stands in files and in the environment.
#pragma once
#include <CLI/CLI.hpp>

#include "mrvlc/driver/options.h"

namespace mrvlc::app {

// -MD and its kin as CLI11 takes them; the words of FILE for @FILE, where there is such a file (as gcc has
// it: words between white space, '...' and "..." and \ quote, # at the beginning of a word is a comment).
// MRV0003: it is not closed.
// `read` gets the files.
Result<std::vector<std::string>> arguments(int argc, char** argv, std::vector<std::filesystem::path>& read);

// Behind `words` what they do not say themselves: options of $MRVLC_*, then of the project file
// (docs/command-line.md). `sources` gets that file, or says that there is none, and the variables of all
// options that were not typed. MRV0003, MRV0004: what is wrong with the file.
Status add_defaults(const CLI::App& app, std::vector<std::string>& words, driver::OptionSources& sources);

}  // namespace mrvlc::app
