// `mrvlc rules` and `mrvlc targets`: what is built in, and static checks of the user's own.
#pragma once
#include <filesystem>

#include "mrvlc/support/diag.h"
#include "mrvlc/support/result.h"

namespace mrvlc::driver {

std::string rules_list();
Result<std::string> rules_show(const std::string& name);
// Every error of the file; empty when it is well-formed.
Diagnostics rules_check(const std::filesystem::path& file);

std::string targets_list();
Result<std::string> targets_show(const std::string& name, const std::vector<std::filesystem::path>& search);
Result<std::string> targets_check(const std::filesystem::path& dir);

}  // namespace mrvlc::driver
