// Options of packages: declarations in target.json, and whether a value is one that they allow.
#include "package_options.h"

#include <fmt/ranges.h>

#include <charconv>

#include "mrvlc/support/characters.h"

namespace mrvlc::target {
namespace {

using Type = PackageOption::Type;

constexpr size_t kMostOptions = 64, kMostValues = 64, kMostText = 4096, kMostKey = 64;

bool is_key(std::string_view key) {
  return !key.empty() && key.size() <= kMostKey && key.front() != '-' &&
         std::ranges::all_of(key, [](char c) { return is_word(c) || c == '-'; });
}

bool is_text(std::string_view text) {
  return text.size() <= kMostText && printable(text, kMostText) == text;
}

// A value of target.json as text; nullopt: it is of another type.
std::optional<std::string> value_of(const Json& value, Type type) {
  if (type == Type::Flag && value.is_boolean()) return value.get<bool>() ? "true" : "false";
  if (type == Type::Integer && value.is_number_integer()) return value.dump();
  if (type == Type::Text && value.is_string()) return value.get<std::string>();
  return std::nullopt;
}

std::optional<Type> type_of(const Json& option) {
  const auto type = option.find("type");
  if (type == option.end()) return std::nullopt;
  if (*type == "text") return Type::Text;
  if (*type == "integer") return Type::Integer;
  if (*type == "flag") return Type::Flag;
  return std::nullopt;
}

// Empty, or what is wrong with the list of values.
std::string read_values(const Json& list, PackageOption& out) {
  if (out.type == Type::Flag) return "is a flag, which has no `values`";
  if (!list.is_array() || list.empty() || list.size() > kMostValues)
    return fmt::format("has `values` that are no list of 1 to {}", kMostValues);
  std::vector<std::string> read;  // accepted() looks at those that the option has
  for (const Json& item : list) {
    const auto value = value_of(item, out.type);
    if (!value || !accepted(out, *value)) return "has `values` that are not of its `type`";
    read.push_back(*value);
  }
  out.values = std::move(read);
  return {};
}

std::string read_option(const Json& option, PackageOption& out) {
  constexpr std::string_view kKeys[] = {"type", "default", "values", "help"};
  if (!option.is_object()) return "is no object";
  for (const auto& [key, value] : option.items())
    if (std::ranges::find(kKeys, key) == std::end(kKeys))
      return fmt::format("has the unknown key '{}'{}", printable(key), did_you_mean(key, kKeys));
  const auto type = type_of(option);
  if (!type) return "has no `type` text, integer or flag";
  out.type = *type;
  const auto help = option.find("help");
  if (help == option.end() || !help->is_string() || !is_text(help->get_ref<const std::string&>()))
    return "has no `help`, a line of text";
  out.help = help->get<std::string>();
  if (const auto values = option.find("values"); values != option.end()) {
    if (std::string fault = read_values(*values, out); !fault.empty()) return fault;
  }
  const auto standard = option.find("default");
  const auto value = standard == option.end() ? std::nullopt : value_of(*standard, out.type);
  if (!value || !accepted(out, *value)) return "has no `default` that it takes: " + allowed(out);
  out.standard = *value;
  return {};
}

}  // namespace

std::optional<std::string> accepted(const PackageOption& option, std::string_view value) {
  if (option.type == Type::Flag && value != "true" && value != "false") return std::nullopt;
  if (option.type == Type::Text && !is_text(value)) return std::nullopt;
  std::string out(value);
  if (option.type == Type::Integer) {
    int64_t number = 0;
    const auto [end, error] = std::from_chars(value.data(), value.data() + value.size(), number);
    if (error != std::errc() || end != value.data() + value.size()) return std::nullopt;
    out = std::to_string(number);
  }
  const bool any = option.values.empty() || std::ranges::find(option.values, out) != option.values.end();
  return any ? std::optional(std::move(out)) : std::nullopt;
}

std::string allowed(const PackageOption& option) {
  if (!option.values.empty()) return fmt::format("one of {}", fmt::join(option.values, ", "));
  if (option.type == Type::Flag) return "true or false";
  return option.type == Type::Integer ? "a whole number" : "a line of text";
}

std::string read_options(const Json& options, std::vector<PackageOption>& out) {
  if (!options.is_object() || options.size() > kMostOptions)
    return fmt::format("is no object of at most {} options", kMostOptions);
  for (const auto& [key, option] : options.items()) {
    if (!is_key(key))
      return fmt::format("has '{}', which is no name of letters, digits, '_' and '-'", printable(key));
    PackageOption& read = out.emplace_back();
    read.key = key;
    if (std::string fault = read_option(option, read); !fault.empty())
      return fmt::format("has '{}', which {}", key, fault);
  }
  return {};
}

}  // namespace mrvlc::target
