// Each file of an option read once, hashed for the manifest, and parsed; the built-in host model without one.
#include "inputs/side_inputs.h"

#include "inputs/rule_files.h"
#include "mrvlc/support/diag/accuracy.h"
#include "mrvlc/support/file.h"
#include "mrvlc/support/hash.h"
#include "mrvlc/support/mapped_file.h"
#include "placement/constraints.h"

namespace mrvlc::driver {
namespace {

constexpr size_t kMaxHostModelBytes = 1u << 20;
constexpr uint64_t kMaxBoundBytes = uint64_t{4} << 30;

ReadFile noted(ReadFile::Kind kind, const std::filesystem::path& file, const std::string& text) {
  return {kind, file, file.filename().string(), sha256_hex(text)};
}

Result<std::string> read_noted(ReadFile::Kind kind, const std::filesystem::path& file, size_t most,
                               std::vector<ReadFile>& read) {
  MRVLC_ASSIGN(std::string text, read_file(file, most));
  read.push_back(noted(kind, file, text));
  return text;
}

Result<partition::HostModel> read_host_model(const CompileOptions& options, std::vector<ReadFile>& read) {
  if (options.host_model.empty())
    return partition::parse_host_model(partition::default_host_model(), "built in");
  MRVLC_ASSIGN(const std::string text,
               read_noted(ReadFile::Kind::HostModel, options.host_model, kMaxHostModelBytes, read));
  return partition::parse_host_model(text, options.host_model.string());
}

// How the compile's options have the host compute: estimates go by it.
void note_kernels(const chost::Options& host, partition::HostModel& model) {
  const bool half = host.host_weights == chost::WeightType::F16;
  model.tiles = host.winograd != chost::WinogradUse::Never && !half && host.optimize != chost::Optimize::Size;
  if (half) model.weight_share = 0.5;
}

// The options hold what was read of them.
Status note_bound_inputs(const CompileOptions& options, std::vector<ReadFile>& read) {
  for (const auto& [input, bound] : options.import.bound_inputs) {
    if (!bound.tensor) continue;
    const std::filesystem::path file = bound.text;
    MRVLC_ASSIGN(const auto bytes, MappedFile::open(file, kMaxBoundBytes));
    MRVLC_ASSIGN(std::string sha256, bytes->sha256());
    read.push_back({ReadFile::Kind::Bound, file, file.filename().string(), std::move(sha256)});
  }
  return {};
}

}  // namespace

Result<SideInputs> read_side_inputs(const CompileOptions& options, std::vector<ReadFile>& read) {
  SideInputs out;
  MRVLC_ASSIGN(out.rule_files, read_rule_files(options.rules, [&](const std::filesystem::path& file,
                                                                  const std::string& text) {
                 read.push_back(noted(ReadFile::Kind::Rules, file, text));
               }));
  MRVLC_ASSIGN(out.host_model, read_host_model(options, read));
  note_kernels(options.host, out.host_model);
  if (!options.tuning.empty()) {
    MRVLC_ASSIGN(const std::string text,
                 read_noted(ReadFile::Kind::Tuning, options.tuning, kMaxTuningBytes, read));
    MRVLC_ASSIGN(out.tuning, parse_tuning(text, options.tuning.string()));
  }
  if (!options.calibration.empty()) {
    MRVLC_ASSIGN(const std::string text, read_noted(ReadFile::Kind::Calibration, options.calibration,
                                                    calibration::kMaxFileBytes, read));
    MRVLC_ASSIGN(out.calibration, calibration::parse(text, options.calibration.string()));
  }
  if (!options.placement.empty()) {
    MRVLC_ASSIGN(out.placement,
                 read_noted(ReadFile::Kind::Placement, options.placement, kMaxPlacementBytes, read));
  }
  MRVLC_TRY(note_bound_inputs(options, read));
  return out;
}

Status check_calibration(const CompileOptions& options, const calibration::Calibration& calibration,
                         const std::string& model_sha256) {
  if (calibration.model_sha256 == model_sha256) return {};
  return make_diag<DiagCode::MRV0906>(options.calibration.string(), calibration.model_sha256, model_sha256);
}

}  // namespace mrvlc::driver
