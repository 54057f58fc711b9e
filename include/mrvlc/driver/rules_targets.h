// `mrvlc rules` and `mrvlc targets`: what is built in, and static checks of the user's own.
#pragma once
#include <filesystem>
#include <optional>

#include "mrvlc/driver/options.h"
#include "mrvlc/support/diag.h"
#include "mrvlc/support/result.h"

namespace mrvlc::driver {

// Which rules a command is about: those of the options' rule files, and the built-in ones.
Result<std::string> rules_list(const CompileOptions& options);
Result<std::string> rules_show(const CompileOptions& options, const std::string& name);
// Errors, warnings and notes on the file, read together with those of the options. Where it can only be used
// with
// --no-default-rules, a warning says so.
Diagnostics rules_check(const CompileOptions& options, const std::filesystem::path& file);
// The file with its lines and blanks in order; the text says the same.
Result<std::string> rules_format(const std::filesystem::path& file);
// How far each rule of the options' files comes on the model: its matches, or the nodes where it came
// furthest, what stood there, and which pass made it.
std::optional<std::string> rules_try(const CompileOptions& options, Diagnostics& diagnostics);
// How often each rule matches on the models, and what the back end takes of that.
std::optional<std::string> rules_coverage(const CompileOptions& options,
                                          const std::vector<std::filesystem::path>& models,
                                          Diagnostics& diagnostics);

// Targets by name: those of the folders, of the data folders, and what is built in.
// As text, or as JSON.
std::string targets_list(const std::vector<std::filesystem::path>& search, bool json = false);
Result<std::string> targets_show(const std::string& name, const std::vector<std::filesystem::path>& search,
                                 bool json = false);
// The C compiler of a check; empty: $CC or cc, and $CFLAGS.
struct PackageCompiler {
  std::string cc, cflags;
};
// Of a library also its rules, whose warnings are added, and its C, by the C compiler.
Result<std::string> targets_check(const std::filesystem::path& dir,
                                  const std::vector<std::filesystem::path>& search,
                                  const PackageCompiler& compiler, Diagnostics& warnings);

struct NewTarget {
  enum class Kind : uint8_t { Variant, Call, Plugin } kind = Kind::Variant;
  std::string name, base;  // base: of a variant
  std::filesystem::path in;
};
// Writes the folder `name` in `in`. MRV0002: it is there already.
Result<std::string> targets_new(const NewTarget& asked, const std::vector<std::filesystem::path>& search);

}  // namespace mrvlc::driver
