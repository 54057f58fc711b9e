// `mrvlc calibrate`: the values of a model on the user's data, into a file for `compile --calibration`.
#include "accuracy/run_cost.h"
#include "mrvlc/calibration/file.h"
#include "mrvlc/calibration/sensitivity.h"
#include "mrvlc/driver/data_set.h"
#include "mrvlc/driver/driver.h"
#include "mrvlc/driver/interrupt.h"
#include "mrvlc/driver/value_file.h"
#include "mrvlc/interp/interp.h"
#include "mrvlc/support/diag/general.h"
#include "mrvlc/support/diag/onnx.h"
#include "mrvlc/support/file_writer.h"

namespace mrvlc::driver {
namespace fs = std::filesystem;
namespace {

class Calibrator {
 public:
  Calibrator(const CalibrateOptions& options, Diagnostics& diagnostics)
      : options_(options), compile_(options.compile), diagnostics_(diagnostics) {}

  bool run() {
    const Status status = calibrate();
    if (!status.ok()) diagnostics_.add(status.error());
    return status.ok() && !diagnostics_.has_errors();
  }

 private:
  Status calibrate() {
    MRVLC_TRY(check_apart());
    MRVLC_ASSIGN(const auto declared, onnx::declared_inputs(compile_.model));
    MRVLC_ASSIGN(std::vector<DataSet> sets, read_samples(options_.data, declared));
    const auto model = import(declared, sets);
    if (!model) return {};  // said
    MRVLC_TRY(interp::check_memory(model->graph));
    calibration::Observer observer(model->graph);
    for (DataSet& set : sets) {
      if (options_.progress) options_.progress(static_cast<size_t>(&set - sets.data()) + 1, sets.size());
      MRVLC_TRY(observe(model->graph, set, observer));
    }
    calibration::Calibration found = observer.result(model->sha256);
    MRVLC_TRY(add_sensitivities(model->graph, sets, found));
    return write(calibration::to_json(found));
  }

  // Nothing that is read is replaced.
  Status check_apart() const {
    std::error_code ec;
    const auto refused = [&](std::string_view why) -> Status {
      return make_diag<DiagCode::MRV0002>(options_.out.string(), why);
    };
    if (fs::equivalent(options_.out, compile_.model, ec)) return refused("it is the model");
    if (fs::is_directory(options_.out, ec)) return refused("it is a folder");
    const fs::path whole = fs::weakly_canonical(options_.out, ec);
    const fs::path data = fs::canonical(options_.data, ec);
    if (ec) return {};  // said when it is read
    for (fs::path up = whole.parent_path(); up.has_relative_path(); up = up.parent_path())
      if (up == data) return refused("it lies in the folder of --data, which is read");
    return {};
  }

  std::optional<onnx::Model> import(const std::vector<onnx::DeclaredValue>& declared,
                                    const std::vector<DataSet>& sets) {
    onnx::ImportOptions import = import_options(compile_);
    for (const std::string& name : take_shapes(declared, sets, import))
      diagnostics_.add(make_diag<DiagCode::MRV0145>(printable(name), to_string(import.input_shapes[name])));
    return onnx::import_file(compile_.model, import, diagnostics_);
  }

  static Status observe(const ir::Graph& graph, DataSet& set, calibration::Observer& observer) {
    for (size_t i = 0; i < set.inputs.size() && i < graph.inputs().size(); ++i)
      set.inputs[i] = as_declared(std::move(set.inputs[i]), graph.value(graph.inputs()[i]).type);
    Status status = observer.add(set.inputs);
    if (status.ok()) return {};
    Diag diag = status.error();
    diag.message = fmt::format("--data: {}: {}", printable(set.name), diag.message);
    return diag;
  }

  Status add_sensitivities(const ir::Graph& graph, std::vector<DataSet>& sets,
                           calibration::Calibration& found) const {
    if (options_.sensitivity == CalibrateOptions::Sensitivity::Never) return {};
    const bool always = options_.sensitivity == CalibrateOptions::Sensitivity::Always;
    if (!run_cost(graph, std::vector<bool>{})) return {};  // it depends on data
    std::vector<std::vector<Tensor>> samples;
    for (DataSet& set : sets) samples.push_back(std::move(set.inputs));
    calibration::SensitivityOptions limits;
    limits.jobs = compile_.jobs;
    const auto of_node = [&](const ir::Node& n) { return node_cost(graph, n, true); };
    return calibration::add_sensitivities(graph, samples, always ? INT64_MAX : kSensitivityBudget, of_node,
                                          limits, found);
  }

  Status write(const std::string& text) const {
    InterruptGuard guard;  // a signal must not leave half a file behind
    MRVLC_ASSIGN(FileWriter file, FileWriter::create(options_.out));
    MRVLC_TRY(file.append(text));
    if (interrupted() != 0) return make_diag<DiagCode::MRV0002>(options_.out.string(), "interrupted");
    MRVLC_TRY(file.commit());
    guard.done();
    return {};
  }

  const CalibrateOptions& options_;
  CompileOptions compile_;
  Diagnostics& diagnostics_;
};

}  // namespace

bool calibrate(const CalibrateOptions& options, Diagnostics& diagnostics) {
  return Calibrator(options, diagnostics).run();
}

}  // namespace mrvlc::driver
