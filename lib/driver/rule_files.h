// What the commands about rules read.
#pragma once
#include "mrvlc/driver/options.h"
#include "mrvlc/rules/rule_set.h"
#include "mrvlc/support/result.h"
#include "mrvlc/target/machine.h"

namespace mrvlc::driver {

inline constexpr size_t kMaxRuleFile = size_t{16} << 20;

Result<std::vector<rules::RuleFile>> read_rule_files(const std::vector<std::filesystem::path>& files);
// The options' first target.
Result<target::Machine> machine_of(const CompileOptions& options);

}  // namespace mrvlc::driver
