// JSON of target files, before its fields are looked at.
#pragma once
#include <nlohmann/json.hpp>

#include "mrvlc/support/result.h"
#include "mrvlc/target/find.h"

namespace mrvlc::target {

using Json = nlohmann::ordered_json;

inline constexpr size_t kMaxTargetBytes = 1 << 20;

// MRV0350: no JSON object; MRV0351: a key that is given twice.
Result<Json> parse_target_json(std::string_view text, std::string_view shown_name);

// The base of a package, "" where it extends nothing. MRV0351.
Result<std::string> base_of(const Json& package, std::string_view shown_name);
// The package with what it inherits of `base`, a whole machine: fields in the order of the base.
Json extended(Json base, const Json& package);

// A name that may stand in an #include, a Makefile and a linker's option, and leads out of no folder.
bool is_safe_file(std::string_view name, bool folders);
// Whether --target can name it: MRV0351.
Status check_askable(std::string_view shown, std::string_view name);
// A name for a new package whose functions begin with it. MRV0351.
Status check_c_name(std::string_view name);

}  // namespace mrvlc::target
