// File names for values of a model: NAME.npy of `mrvlc run` and of the generated example program.
#pragma once
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace mrvlc {

// Longest stem made here, in bytes: with an extension it stays below the 255 of common file systems.
inline constexpr size_t kMaxFileStem = 200;

// Characters outside [A-Za-z0-9_.-] become '_'; a name longer than kMaxFileStem is cut and ends in "-" and 16
// hex digits of its SHA-256. Never empty.
std::string file_name(std::string_view name);

// file_name() of each, made distinct: names that need no change keep it; of others that coincide with one
// before, the later one gets "-" and 8 hex digits of its own SHA-256. Depends on the list alone. Equal names
// get equal file names.
std::vector<std::string> file_names(std::span<const std::string> names);

// Whether file systems exist on which both are one file: those that do not tell upper from lower case.
bool same_file(std::string_view a, std::string_view b);
// The same for those that are alike.
std::string without_case(std::string_view name);

}  // namespace mrvlc
