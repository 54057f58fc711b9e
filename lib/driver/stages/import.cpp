// Targets, the model, and the other files that options name.
#include "accuracy/compile_data.h"
#include "accuracy/quantized_model.h"
#include "debug/value_files.h"
#include "folder/output_folder.h"
#include "inputs/state_pairs.h"
#include "model/totals.h"
#include "mrvlc/support/parallel.h"
#include "stages/ineffective_options.h"
#include "stages/stages.h"
#include "stages/targets_of.h"

namespace mrvlc::driver {
namespace {

Status open(const CompileOptions& options, OpenedModel& m, Said& said) {
  m.name = options.name.empty() ? c_identifier(options.model.stem().string()) : options.name;
  MRVLC_TRY(check_request(options, m.name));
  if (!options.gates.baseline.empty()) {
    MRVLC_ASSIGN(m.baseline, read_report(options.gates.baseline));
  }
  MRVLC_ASSIGN(Targets targets, find_targets(options, m.name, said.diagnostics));
  m.libraries = std::move(targets.libraries);
  m.opened = std::move(targets.accelerators);
  m.searched = std::move(targets.searched);
  return take_accelerators(m.opened, m.options, m);
}

// What they show of values, as a calibration file has it.
Status take_data(ImportedModel& m, std::vector<DataSet> samples) {
  if (samples.empty()) return {};
  MRVLC_ASSIGN(std::vector<ReadFile> files, files_of_data(m.options.data));
  m.read.insert(m.read.end(), files.begin(), files.end());
  MRVLC_ASSIGN(m.inputs.calibration, calibration_of(m.model, std::move(samples)));
  return {};
}

Status note_files(ImportedModel& m, std::vector<DataSet> samples) {
  for (const auto& file : m.model.files) {
    auto kind = file.location.empty() ? ReadFile::Kind::Model : ReadFile::Kind::ExternalData;
    m.read.push_back({kind, file.path, file.location, {}});
  }
  // Nothing reads the hash of the model before the reports, so the other core has time for it.
  m.hashes = std::async(launch_for(m.options.jobs), [files = m.model.files] {
               return onnx::file_hashes(files);
             }).share();
  MRVLC_ASSIGN(m.inputs, read_side_inputs(m.options, m.read));
  MRVLC_TRY(take_data(m, std::move(samples)));
  const QuantizedModel* quantized = m.options.quantized.get();
  if (quantized != nullptr) m.read.insert(m.read.end(), quantized->data.begin(), quantized->data.end());
  for (const OpenedAccelerator& a : m.opened) note_package(a, m.read);
  m.read.insert(m.read.end(), m.libraries.read.begin(), m.libraries.read.end());
  return check_apart(m.options, m.read);
}

Status take_states(ImportedModel& m) {
  MRVLC_ASSIGN(m.options.host.states, state_pairs(m.options.states, m.model.graph));
  return {};
}

// `samples`: those of --data, where floats stay floats.
std::optional<onnx::Model> read_model(const OpenedModel& opened, std::vector<DataSet>& samples, Said& said) {
  const CompileOptions& options = opened.options;
  if (options.quantized != nullptr) return import_quantized(*options.quantized, options, said.diagnostics);
  onnx::ImportOptions import = options.import;
  import.hash = false;
  if (opened.has_accelerator && compiles_with_data(options)) {
    auto read = read_compile_data(options, import, said.diagnostics);
    if (!read.ok()) return said.diagnostics.add(read.error()), std::nullopt;
    samples = *std::move(read);
  }
  return onnx::import_file(options.model, import, said.diagnostics);
}

}  // namespace

std::optional<OpenedModel> open_targets(Session& session, const CompileOptions& options, Said& said) {
  OpenedModel m;
  m.options = options;
  const bool done = session.phase("options", said, [&] { return open(options, m, said); });
  return done ? std::optional(std::move(m)) : std::nullopt;
}

std::optional<ImportedModel> import_model(Session& session, OpenedModel opened, Said& said) {
  ImportedModel m{std::move(opened), {}, {}, {}, {}};
  std::vector<DataSet> samples;
  auto model = session.timer.time("import", [&] { return read_model(m, samples, said); });
  if (!model) return std::nullopt;
  m.model = *std::move(model);
  m.hints = calibration::input_hints(m.model.graph);
  if (m.options.host.trace_values) m.options.host.value_files = value_files(m.model.graph);
  if (!session.phase("options", said, [&] { return take_states(m); })) return std::nullopt;
  if (m.options.quantized == nullptr) warn_ineffective_shapes(m.options, m.model, said.diagnostics);
  const bool noted = session.phase("options", said, [&] { return note_files(m, std::move(samples)); });
  session.read = m.read;
  return noted ? std::optional(std::move(m)) : std::nullopt;
}

}  // namespace mrvlc::driver
