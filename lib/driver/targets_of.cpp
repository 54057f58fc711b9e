#include "targets_of.h"

#include <fmt/ranges.h>

#include <algorithm>
#include <charconv>

#include "mrvlc/support/diag/general.h"
#include "mrvlc/support/diag/target.h"
#include "mrvlc/target/library.h"

namespace mrvlc::driver {

backends::Settings settings_of(const CompileOptions& options) {
  return {options.tiles, options.effort, options.pin_weights, options.silicon_id, options.dump_stages};
}

std::span<const std::string_view> pipeline_for(const backend::Backend& backend) {
  return backend.pass_limits().integers ? passes::default_pipeline() : passes::float_pipeline();
}

void limit_passes(passes::PassContext& context, const backend::PassLimits& limits) {
  context.half_weights = limits.half_weights;
  context.longest_row = limits.longest_row;
  context.largest_batch = limits.largest_batch;
}

namespace {

struct TargetOption {
  std::string_view key, values;
  bool (*set)(CompileOptions&, std::string_view value);
};

template <uint32_t CompileOptions::*Field>
bool set_count(CompileOptions& options, std::string_view value) {
  const auto [end, error] = std::from_chars(value.data(), value.data() + value.size(), options.*Field);
  return error == std::errc() && end == value.data() + value.size() && options.*Field > 0;
}

template <bool CompileOptions::*Field>
bool set_flag(CompileOptions& options, std::string_view value) {
  options.*Field = value == "true";
  return value == "true" || value == "false";
}

bool set_effort(CompileOptions& options, std::string_view value) {
  return set_count<&CompileOptions::effort>(options, value) && options.effort <= 2;
}

constexpr TargetOption kTargetOptions[] = {
    {"tiles", "a number of tiles", set_count<&CompileOptions::tiles>},
    {"effort", "1 or 2", set_effort},
    {"wb-pin", "true or false", set_flag<&CompileOptions::pin_weights>},
    {"silicon-id", "true or false", set_flag<&CompileOptions::silicon_id>},
};

Status apply_target_option(std::string_view given, CompileOptions& options) {
  const auto refuse = [&](std::string_view why) {
    return make_diag<DiagCode::MRV0004>(fmt::format("--target-opt: '{}' {}", printable(given), why));
  };
  const size_t equals = given.find('='), dot = given.substr(0, equals).rfind('.');
  if (equals == std::string_view::npos || dot == std::string_view::npos)
    return refuse("is no TARGET.KEY=VALUE");
  const std::string_view target = given.substr(0, dot), key = given.substr(dot + 1, equals - dot - 1);
  if (target == "host" || std::ranges::find(options.targets, target) == options.targets.end())
    return refuse(
        fmt::format("names no target with options; --target is {}", fmt::join(options.targets, ",")));
  const auto option = std::ranges::find(kTargetOptions, key, &TargetOption::key);
  if (option == std::end(kTargetOptions)) {
    std::vector<std::string_view> keys;
    for (const TargetOption& o : kTargetOptions) keys.push_back(o.key);
    return refuse(fmt::format("is no option of a target; these are {}", fmt::join(keys, ", ")));
  }
  if (option->set(options, given.substr(equals + 1))) return {};
  return refuse(fmt::format("takes {}", option->values));
}

}  // namespace

Status apply_target_options(CompileOptions& options) {
  for (const std::string& given : options.target_options) MRVLC_TRY(apply_target_option(given, options));
  return {};
}

Result<Targets> find_targets(const CompileOptions& options, std::string_view model,
                             Diagnostics& diagnostics) {
  Targets out;
  for (auto it = options.targets.begin(); it != options.targets.end(); ++it) {
    if (std::find(options.targets.begin(), it, *it) != it)
      return make_diag<DiagCode::MRV0354>(printable(*it));
    if (*it == "host") continue;
    MRVLC_ASSIGN(target::TargetText text, target::find_target(*it, options.target_dirs));
    if (target::is_library(text.json)) {
      for (const std::string& given : options.target_options)
        if (given.starts_with(*it + "."))
          return make_diag<DiagCode::MRV0004>(
              fmt::format("--target-opt: '{}' is a library and takes no options", printable(*it)));
      MRVLC_TRY(add_library(*it, text, model, out.libraries, diagnostics));
      continue;
    }
    if (out.has_accelerator)
      return make_diag<DiagCode::MRV0004>("--target: at most one accelerator in this version");
    out.has_accelerator = true;
    out.accelerator_at = out.libraries.rules.size();
    MRVLC_ASSIGN(out.backend, backends::open(*it, text, settings_of(options)));
    out.accelerator = std::move(text);
  }
  if (!out.has_accelerator) {
    MRVLC_ASSIGN(out.backend, backends::open_default(settings_of(options)));
  }
  return out;
}

}  // namespace mrvlc::driver
