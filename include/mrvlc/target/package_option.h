// Settings that a package declares under "options" in target.json, for --target-opt NAME.KEY=VALUE.
#pragma once
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace mrvlc::target {

struct PackageOption {
  enum class Type : uint8_t { Text, Integer, Flag };
  std::string key, help;
  Type type = Type::Text;
  std::string standard;             // the default, as text
  std::vector<std::string> values;  // those allowed; empty: all of the type
};

// The value as the package gets it, "7" or "true"; nullopt: it is not allowed.
std::optional<std::string> accepted(const PackageOption& option, std::string_view value);
// What it takes, to be read after "takes": "one of pynq, de10".
std::string allowed(const PackageOption& option);

}  // namespace mrvlc::target
