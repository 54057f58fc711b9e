// Targets, the model, and the other files that options name.
#include "accuracy/quantized_model.h"
#include "diff/totals.h"
#include "folder/output_folder.h"
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

Status note_files(ImportedModel& m) {
  for (const auto& file : m.model.files) {
    auto kind = file.location.empty() ? ReadFile::Kind::Model : ReadFile::Kind::ExternalData;
    m.read.push_back({kind, file.path, file.location, {}});
  }
  // Nothing reads the hash of the model before the reports, so the other core has time for it.
  m.hashes = std::async(launch_for(m.options.jobs), [files = m.model.files] {
               return onnx::file_hashes(files);
             }).share();
  MRVLC_ASSIGN(m.inputs, read_side_inputs(m.options, m.read));
  const QuantizedModel* quantized = m.options.quantized.get();
  if (quantized != nullptr) m.read.insert(m.read.end(), quantized->data.begin(), quantized->data.end());
  for (const OpenedAccelerator& a : m.opened) note_package(a, m.read);
  m.read.insert(m.read.end(), m.libraries.read.begin(), m.libraries.read.end());
  return check_apart(m.options, m.read);
}

std::optional<onnx::Model> read_model(const CompileOptions& options, Said& said) {
  if (options.quantized != nullptr) return import_quantized(*options.quantized, options, said.diagnostics);
  onnx::ImportOptions import = options.import;
  import.hash = false;
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
  auto model = session.timer.time("import", [&] { return read_model(m.options, said); });
  if (!model) return std::nullopt;
  m.model = *std::move(model);
  if (m.options.quantized == nullptr) warn_ineffective_shapes(m.options, m.model, said.diagnostics);
  const bool noted = session.phase("options", said, [&] { return note_files(m); });
  session.read = m.read;
  return noted ? std::optional(std::move(m)) : std::nullopt;
}

}  // namespace mrvlc::driver
