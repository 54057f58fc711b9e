// Libraries and accelerators of --target opened with their --target-opt, and joined to one back end.
#include "stages/targets_of.h"

#include <fmt/ranges.h>

#include <algorithm>
#include <map>
#include <set>

#include "accuracy/quantized_model.h"
#include "folder/output_folder.h"
#include "inputs/read_files.h"
#include "inputs/target_options.h"
#include "mrvlc/backend/several.h"
#include "mrvlc/support/diag/general.h"
#include "mrvlc/support/diag/target.h"
#include "mrvlc/support/hash.h"
#include "mrvlc/target/library.h"
#include "output/sbom.h"

namespace mrvlc::driver {

std::span<const std::string_view> pipeline_for(const backend::Backend& backend) {
  return backend.pass_limits().integers ? passes::default_pipeline() : passes::float_pipeline();
}

namespace {

// The weights of a program of two files are in NAME.c.
Status check_single(const CompileOptions& options) {
  if (!emits(options, "single") || !options.given.contains("--weights") ||
      options.host.weights == chost::WeightsAs::Source)
    return {};
  return make_diag<DiagCode::MRV0004>(
      fmt::format("--emit single has the weights in NAME.c: not with --weights {}",
                  chost::kWeightsAs[static_cast<size_t>(options.host.weights)]));
}

}  // namespace

Status check_request(const CompileOptions& options, const std::string& name) {
  if (std::string fault = name_fault(name); !fault.empty())
    return make_diag<DiagCode::MRV0004>(fmt::format("--name: '{}' {}", printable(name), fault));
  MRVLC_TRY(check_replaceable(options.out));  // before the work, and again when it is done
  MRVLC_TRY(check_apart(options, named_files(options)));
  MRVLC_TRY(check_side_files(options));
  MRVLC_TRY(check_precision(options));
  MRVLC_TRY(check_single(options));
  MRVLC_TRY(check_sbom(options));
  return check_target_options(options);
}

Status check_dump_ir(const CompileOptions& options, std::span<const std::string_view> pipeline) {
  if (options.dump_ir.empty() || std::ranges::find(pipeline, options.dump_ir) != pipeline.end()) return {};
  const std::set<std::string_view> names(pipeline.begin(), pipeline.end());
  return make_diag<DiagCode::MRV0004>(fmt::format("--dump-ir: there is no pass '{}'; passes are {}",
                                                  printable(options.dump_ir), fmt::join(names, ", ")));
}

void limit_passes(passes::PassContext& context, const backend::PassLimits& limits) {
  context.half_weights = limits.half_weights;
  context.longest_row = limits.longest_row;
  context.largest_batch = limits.largest_batch;
  context.tiles = limits.tiles;
  context.tile_bytes = limits.tile_bytes;
}

namespace {

void add_searched(const target::Searched& of, target::Searched& to) {
  to.absent.insert(to.absent.end(), of.absent.begin(), of.absent.end());
  to.variables.insert(to.variables.end(), of.variables.begin(), of.variables.end());
}

}  // namespace

Result<Targets> find_targets(const CompileOptions& options, std::string_view model,
                             Diagnostics& diagnostics) {
  Targets out;
  for (auto it = options.targets.begin(); it != options.targets.end(); ++it) {
    if (std::find(options.targets.begin(), it, *it) != it)
      return make_diag<DiagCode::MRV0354>(printable(*it));
    if (*it == "host") continue;
    MRVLC_ASSIGN(target::TargetText text, target::find_target(*it, options.target_dirs));
    add_searched(text.searched, out.searched);
    if (target::is_library(text.json)) {
      for (const std::string& given : options.target_options)
        if (given.starts_with(*it + "."))
          return make_diag<DiagCode::MRV0004>(
              fmt::format("--target-opt: '{}' is a library and takes no options", printable(*it)));
      MRVLC_TRY(add_library(*it, text, model, out.libraries, diagnostics));
      continue;
    }
    if (out.accelerators.size() == backend::kMostAccelerators)
      return make_diag<DiagCode::MRV0004>(
          fmt::format("--target: at most {} accelerators", backend::kMostAccelerators));
    backends::Settings settings = options.accelerator;
    MRVLC_TRY(apply_target_options(*it, text, options.target_options, settings));
    MRVLC_ASSIGN(backends::Opened backend, backends::open(*it, text, settings));
    if (backend->sees_integers()) add_integer_passes(out.libraries);
    out.accelerators.push_back({std::move(text), std::move(backend), settings, out.libraries.rules.size()});
  }
  return out;
}

namespace {

// In OUT they would be one.
Status check_files_apart(const std::vector<OpenedAccelerator>& accelerators) {
  std::map<std::string, std::pair<std::string, std::string>> seen;  // by name: whose, and its bytes
  for (const OpenedAccelerator& a : accelerators)
    for (const auto& [file, bytes] : a.backend->device_files()) {
      const std::string& name = a.backend->machine().name;
      const auto [it, fresh] = seen.try_emplace(file, name, bytes);
      if (!fresh && it->second.second != bytes)
        return make_diag<DiagCode::MRV0353>(printable(name), printable(file),
                                            fmt::format("target '{}' has, too", printable(it->second.first)));
    }
  return {};
}

}  // namespace

Status take_accelerators(const std::vector<OpenedAccelerator>& accelerators, CompileOptions& options,
                         OpenedModel& m) {
  std::vector<std::shared_ptr<const backend::Backend>> parts;
  MRVLC_TRY(check_files_apart(accelerators));
  for (const OpenedAccelerator& a : accelerators) {
    parts.push_back(a.backend);
    m.accelerators.push_back(
        {a.backend->machine().name, a.text.files.empty() ? "" : a.text.json, a.backend->device_files()});
  }
  m.has_accelerator = !parts.empty();
  if (parts.empty()) {
    MRVLC_ASSIGN(backends::Opened backend, backends::open_default(options.accelerator));
    parts.push_back(std::move(backend));
  } else {
    const backends::Settings& first = accelerators.front().settings;
    options.accelerator.effort = first.effort;
    options.accelerator.column = first.column;
    options.accelerator.pin_weights = first.pin_weights;
    options.accelerator.silicon_id = first.silicon_id;
  }
  m.backend = backend::as_one(std::move(parts));
  options.accelerator.tiles = m.backend->tiles();
  return {};
}

void note_package(const OpenedAccelerator& accelerator, std::vector<ReadFile>& read) {
  const auto& files = accelerator.text.files;
  for (const auto& file : files)
    read.push_back({ReadFile::Kind::Target, file.path, file.name + "/target.json", sha256_hex(file.text)});
  if (files.empty()) return;
  const std::filesystem::path folder = files.front().path.parent_path();
  for (const auto& [file, bytes] : accelerator.backend->device_files())
    read.push_back({ReadFile::Kind::Target, folder / file, accelerator.backend->machine().name + "/" + file,
                    sha256_hex(bytes)});
}

}  // namespace mrvlc::driver
