// What the commands about rules read.
#pragma once
#include <functional>

#include "inputs/libraries.h"
#include "mrvlc/backends/open.h"
#include "mrvlc/driver/options.h"
#include "mrvlc/rules/rule_set.h"
#include "mrvlc/support/result.h"

namespace mrvlc::driver {

inline constexpr size_t kMaxRuleFile = size_t{16} << 20;
inline constexpr size_t kMaxIncludedFiles = 256;

// With the files that they include. What cannot be read of these is left out: the parser says where it is
// asked for. note() is told of each.
using NoteFile = std::function<void(const std::filesystem::path& file, const std::string& text)>;
Result<std::vector<rules::RuleFile>> read_rule_files(const std::vector<std::filesystem::path>& files,
                                                     const NoteFile& note = {});
// The rules of the options' first target, when that is a library.
Result<std::optional<Libraries>> library_of(const CompileOptions& options);
// The options' first target.
Result<backends::Opened> backend_of(const CompileOptions& options);
// The rules that come with it, unless options do without.
partition::BuiltIn builtin_rules(const CompileOptions& options, const partition::Accelerator& accelerator);

}  // namespace mrvlc::driver
