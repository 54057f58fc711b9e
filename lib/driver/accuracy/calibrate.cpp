// `mrvlc calibrate`: the values of a model on the user's data, into a file for `compile --calibration`.
#include "accuracy/model_and_samples.h"
#include "accuracy/run_cost.h"
#include "mrvlc/calibration/file.h"
#include "mrvlc/calibration/keep.h"
#include "mrvlc/calibration/sensitivity.h"
#include "mrvlc/driver/driver.h"
#include "mrvlc/interp/interp.h"

namespace mrvlc::driver {
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
    MRVLC_TRY(check_apart(options_.out, compile_.model, options_.data));
    MRVLC_ASSIGN(auto read, read_model_and_samples(compile_, options_.data, diagnostics_));
    if (!read) return {};  // said
    const ir::Graph& graph = read->model.graph;
    MRVLC_TRY(interp::check_memory(graph));
    calibration::Observer observer(graph);
    for (DataSet& set : read->sets) {
      if (options_.progress)
        options_.progress(static_cast<size_t>(&set - read->sets.data()) + 1, read->sets.size());
      Status status = observer.add(set.inputs);
      if (!status.ok()) return at_sample(status.error(), set);
    }
    calibration::Calibration found = observer.result(read->model.sha256);
    std::vector<std::vector<Tensor>> samples;
    for (DataSet& set : read->sets) samples.push_back(std::move(set.inputs));
    const auto of_node = [&](const ir::Node& n) { return node_cost(graph, n, true); };
    MRVLC_TRY(add_sensitivities(graph, samples, of_node, found));
    MRVLC_TRY(keep_samples(graph, samples, of_node, found));
    return write_whole(options_.out, calibration::to_json(found));
  }

  using NodeCost = std::function<int64_t(const ir::Node&)>;

  Status add_sensitivities(const ir::Graph& graph, const std::vector<std::vector<Tensor>>& samples,
                           const NodeCost& of_node, calibration::Calibration& found) const {
    if (options_.sensitivity == CalibrateOptions::Sensitivity::Never) return {};
    const bool always = options_.sensitivity == CalibrateOptions::Sensitivity::Always;
    if (!run_cost(graph, std::vector<bool>{})) return {};  // it depends on data
    return calibration::add_sensitivities(graph, samples, always ? INT64_MAX : kSensitivityBudget, of_node,
                                          limits(), found);
  }

  Status keep_samples(const ir::Graph& graph, const std::vector<std::vector<Tensor>>& samples,
                      const NodeCost& of_node, calibration::Calibration& found) const {
    calibration::KeepOptions keep;
    keep.most = options_.keep_samples;
    keep.budget = run_cost(graph, std::vector<bool>{}) ? kSensitivityBudget / 2 : 0;
    keep.of_node = of_node;
    keep.limits = limits();
    MRVLC_ASSIGN(found.kept, calibration::keep_samples(graph, samples, keep));
    return {};
  }

  calibration::SensitivityOptions limits() const {
    calibration::SensitivityOptions out;
    out.jobs = compile_.jobs;
    return out;
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
