// A model imported with the shapes of its samples; results are written whole, and never onto what is read.
#include "accuracy/model_and_samples.h"

#include "mrvlc/driver/interrupt.h"
#include "mrvlc/driver/value_file.h"
#include "mrvlc/support/diag/general.h"
#include "mrvlc/support/diag/onnx.h"
#include "mrvlc/support/file_writer.h"

namespace mrvlc::driver {
namespace fs = std::filesystem;

Result<std::optional<ModelAndSamples>> read_model_and_samples(const CompileOptions& options,
                                                              const fs::path& data, Diagnostics& diagnostics,
                                                              const fs::path& more) {
  MRVLC_ASSIGN(const auto declared, onnx::declared_inputs(options.model));
  MRVLC_ASSIGN(std::vector<DataSet> sets, read_samples(data, declared));
  const auto first = static_cast<long>(sets.size());
  if (!more.empty()) {
    MRVLC_ASSIGN(std::vector<DataSet> others, read_samples(more, declared));
    std::ranges::move(others, std::back_inserter(sets));
  }
  onnx::ImportOptions import = options.import;
  for (const std::string& name : take_shapes(declared, sets, import))
    diagnostics.add(make_diag<DiagCode::MRV0145>(printable(name), to_string(import.input_shapes[name])));
  auto model = onnx::import_file(options.model, import, diagnostics);
  if (!model) return std::optional<ModelAndSamples>();
  const ir::Graph& graph = model->graph;
  for (DataSet& set : sets)
    for (size_t i = 0; i < set.inputs.size() && i < graph.inputs().size(); ++i)
      set.inputs[i] = as_declared(std::move(set.inputs[i]), graph.value(graph.inputs()[i]).type);
  std::vector<DataSet> behind(std::make_move_iterator(sets.begin() + first),
                              std::make_move_iterator(sets.end()));
  sets.erase(sets.begin() + first, sets.end());
  return std::optional(
      ModelAndSamples{*std::move(model), std::move(sets), std::move(behind), std::move(import)});
}

Status check_apart(const fs::path& out, const fs::path& model, const fs::path& data) {
  std::error_code ec;
  const auto refused = [&](std::string_view why) -> Status {
    return make_diag<DiagCode::MRV0002>(out.string(), why);
  };
  if (fs::equivalent(out, model, ec)) return refused("it is the model");
  if (fs::is_directory(out, ec)) return refused("it is a folder");
  const fs::path whole = fs::weakly_canonical(out, ec);
  const fs::path read = fs::canonical(data, ec);
  if (ec) return {};  // said when it is read
  for (fs::path up = whole.parent_path(); up.has_relative_path(); up = up.parent_path())
    if (up == read) return refused("it lies in the folder of --data, which is read");
  return {};
}

Diag at_sample(Diag diag, const DataSet& set) {
  diag.message = fmt::format("--data: {}: {}", printable(set.name), diag.message);
  return diag;
}

Status write_whole(const fs::path& path, std::string_view text) {
  InterruptGuard guard;  // a signal must not leave half a file behind
  MRVLC_ASSIGN(FileWriter file, FileWriter::create(path));
  MRVLC_TRY(file.append(text));
  if (interrupted() != 0) return make_diag<DiagCode::MRV0002>(path.string(), "interrupted");
  MRVLC_TRY(file.commit());
  guard.done();
  return {};
}

}  // namespace mrvlc::driver
