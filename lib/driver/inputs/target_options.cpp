// Keys and values of --target-opt: those that every machine has, and those that packages declare.
#include "inputs/target_options.h"

#include <fmt/ranges.h>

#include <algorithm>
#include <charconv>

#include "mrvlc/support/diag/general.h"
#include "mrvlc/support/nearest.h"
#include "mrvlc/target/plugin.h"

namespace mrvlc::driver {
namespace {

using backends::Settings;

struct MachineOption {
  std::string_view key, values;
  bool (*set)(Settings&, std::string_view value);
};

template <uint32_t Settings::*Field>
bool set_count(Settings& options, std::string_view value) {
  const auto [end, error] = std::from_chars(value.data(), value.data() + value.size(), options.*Field);
  return error == std::errc() && end == value.data() + value.size() && options.*Field > 0;
}

template <bool Settings::*Field>
bool set_flag(Settings& options, std::string_view value) {
  options.*Field = value == "true";
  return value == "true" || value == "false";
}

bool set_effort(Settings& options, std::string_view value) {
  return set_count<&Settings::effort>(options, value) && options.effort <= 2;
}

bool set_column(Settings& options, std::string_view value) {
  const auto known = std::ranges::find(target::kColumns, value);
  if (known == std::end(target::kColumns)) return false;
  options.column = static_cast<target::Column>(known - std::begin(target::kColumns));
  return true;
}

constexpr MachineOption kMachineOptions[] = {
    {"tiles", "a number of tiles", set_count<&Settings::tiles>},
    {"effort", "1 or 2", set_effort},
    {"machine", "default, conservative or both", set_column},
    {"wb-pin", "true or false", set_flag<&Settings::pin_weights>},
    {"silicon-id", "true or false", set_flag<&Settings::silicon_id>},
};

Diag refused(std::string_view given, std::string_view why) {
  return make_diag<DiagCode::MRV0004>(fmt::format("--target-opt: '{}' {}", printable(given), why));
}

struct GivenOption {
  std::string_view target, key, value;
};

// TARGET may have dots, KEY has none.
std::optional<GivenOption> split(std::string_view given) {
  const size_t equals = given.find('='), dot = given.substr(0, equals).rfind('.');
  if (equals == std::string_view::npos || dot == std::string_view::npos) return std::nullopt;
  return GivenOption{given.substr(0, dot), given.substr(dot + 1, equals - dot - 1), given.substr(equals + 1)};
}

Status set_for_machine(std::string_view given, const GivenOption& o, Settings& settings) {
  const auto option = std::ranges::find(kMachineOptions, o.key, &MachineOption::key);
  if (option == std::end(kMachineOptions)) {
    std::vector<std::string_view> keys;
    for (const MachineOption& known : kMachineOptions) keys.push_back(known.key);
    return refused(given, fmt::format("is no option of a target; these are {}", fmt::join(keys, ", ")));
  }
  if (option->set(settings, o.value)) return {};
  return refused(given, fmt::format("takes {}", option->values));
}

Status set_for_plugin(std::string_view given, const GivenOption& o, const target::PluginPackage& package,
                      Settings& settings) {
  const auto option = std::ranges::find(package.options, o.key, &target::PackageOption::key);
  if (option == package.options.end()) {
    std::vector<std::string_view> keys;
    for (const target::PackageOption& known : package.options) keys.push_back(known.key);
    const std::string those = keys.empty() ? "which is a plug-in and has none"
                                           : fmt::format("whose options are {}{}", fmt::join(keys, ", "),
                                                         did_you_mean(o.key, keys));
    return refused(given, fmt::format("is no option of '{}', {}", printable(o.target), those));
  }
  const auto value = target::accepted(*option, o.value);
  if (!value) return refused(given, "takes " + target::allowed(*option));
  std::erase_if(settings.options, [&](const auto& before) { return before.first == o.key; });
  settings.options.emplace_back(o.key, *value);
  return {};
}

}  // namespace

Status check_target_options(const CompileOptions& options) {
  for (const std::string& given : options.target_options) {
    const auto o = split(given);
    if (!o) return refused(given, "is no TARGET.KEY=VALUE");
    if (o->target == "host" || std::ranges::find(options.targets, o->target) == options.targets.end())
      return refused(given, fmt::format("names no target with options; --target is {}",
                                        fmt::join(options.targets, ",")));
  }
  return {};
}

Status apply_target_options(const std::string& target, const target::TargetText& text,
                            std::span<const std::string> given, Settings& settings) {
  const bool plugin = target::is_plugin(text.json);
  target::PluginPackage package;
  if (plugin) {
    MRVLC_ASSIGN(package, target::parse_plugin(text.json, target));
  }
  for (const std::string& one : given) {
    const auto o = split(one);
    if (!o || o->target != target) continue;
    MRVLC_TRY(plugin ? set_for_plugin(one, *o, package, settings) : set_for_machine(one, *o, settings));
  }
  return {};
}

}  // namespace mrvlc::driver
