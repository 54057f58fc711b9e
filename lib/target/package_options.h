// Reads "options" of a target.json.
#pragma once
#include "mrvlc/target/package_option.h"
#include "package_fields.h"

namespace mrvlc::target {

// `options`: the value of that key. What is wrong with it, to be read after the key; "": nothing.
std::string read_options(const Json& options, std::vector<PackageOption>& out);

}  // namespace mrvlc::target
