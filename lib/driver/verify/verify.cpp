// `mrvlc verify`: compiles, runs and compares with given outputs, or with the reference interpreter on seeded
// inputs.
#include <algorithm>
#include <cmath>

#include "mesh/compile_mesh.h"
#include "model/accuracy_choice.h"
#include "mrvlc/driver/compare.h"
#include "mrvlc/driver/data_set.h"
#include "mrvlc/driver/interrupt.h"
#include "mrvlc/driver/value_file.h"
#include "mrvlc/interp/input_sets.h"
#include "mrvlc/interp/interp.h"
#include "mrvlc/support/diag/mesh.h"
#include "mrvlc/support/diag/onnx.h"
#include "mrvlc/support/diag/sim.h"
#include "run/program.h"
#include "values/made_inputs.h"
#include "verify/layer_errors.h"
#include "verify/onnx_runtime.h"
#include "verify/output_judge.h"

namespace mrvlc::driver {
namespace fs = std::filesystem;
namespace {

class Verifier {
 public:
  Verifier(const VerifyOptions& options, Diagnostics& diagnostics)
      : options_(options),
        compile_(options.compile),
        diagnostics_(diagnostics),
        judge_(options, compile_, diagnostics) {
    // What it says is what verify finds out; what is done about it is part of the compile.
    if (!chooses(compile_) && compile_.probe == CompileOptions::Probe::WithinBudget)
      compile_.probe = CompileOptions::Probe::Unsaid;
  }

  std::vector<Comparison> run() {
    if (Status status = verify(); !status.ok()) diagnostics_.add(status.error());
    return judge_.take();
  }
  std::optional<LayerErrors> layers() { return std::move(layers_); }

 private:
  Status verify() {
    InterruptGuard guard;  // first: after an interrupt, too, the folder is removed
    MRVLC_ASSIGN(const TemporaryDir temporary, TemporaryDir::create());
    temporary_ = temporary.path();
    MRVLC_ASSIGN(std::vector<DataSet> sets, given_data());
    compile_.out = options_.made.empty() ? temporary.path() / "out" : options_.made;
    if (options_.made.empty() && !compile(compile_, diagnostics_, [](const std::string&) {})) return {};
    MRVLC_ASSIGN(OutputFolder folder, open_output(compile_.out));
    if (options_.data.empty()) {
      MRVLC_ASSIGN(const ir::Graph* model, judge_.graph());
      const EndOnInterrupt long_work([this] { remove_temporary(); });
      MRVLC_ASSIGN(sets, made_inputs(*model, options_, diagnostics_));
    }
    if (options_.against_ort) MRVLC_TRY(ask_onnx_runtime(sets));
    for (DataSet& set : sets) MRVLC_TRY(fit(set, folder));
    MRVLC_ASSIGN(const Program program, build(std::move(folder)));
    for (const DataSet& set : sets) {
      if (options_.progress)
        options_.progress(set.name, static_cast<size_t>(&set - sets.data()) + 1, sets.size());
      MRVLC_TRY(run_set(set, program));
    }
    return options_.layers ? run_layers(sets) : Status();
  }

  // What is expected is what ONNX Runtime makes of the inputs.
  Status ask_onnx_runtime(std::vector<DataSet>& sets) {
    MRVLC_ASSIGN(const ir::Graph* model, judge_.graph());
    MRVLC_ASSIGN(const OnnxRuntime runtime, OnnxRuntime::find(temporary_, options_.run.timeout));
    for (DataSet& set : sets) {
      auto outputs = runtime.run(compile_.model, *model, set.inputs);
      if (!outputs.ok()) {
        Diag diag = outputs.error();
        diag.message = fmt::format("{}: {}", set.name, diag.message);
        return diag;
      }
      set.outputs.clear();
      for (size_t i = 0; i < outputs->size(); ++i) set.outputs[i] = std::move((*outputs)[i]);
    }
    return {};
  }

  // What outputs come to is said; here, where it comes from. Of made inputs the ordinary ones.
  Status run_layers(std::vector<DataSet>& sets) {
    if (options_.data.empty() && options_.sets.empty())
      std::erase_if(sets, [](const DataSet& s) {
        return !s.name.starts_with(interp::name(interp::InputKind::Uniform)) &&
               !s.name.starts_with(interp::name(interp::InputKind::Normal));
      });
    const LayerTerms terms{limits_of(options_, compile_), options_.tolerance.has_value(), run_options()};
    auto errors = layer_errors(compile_, *options_.layers, sets, terms, temporary_, diagnostics_);
    if (!errors.ok()) return errors.error();
    layers_ = std::move(*errors);
    return {};
  }

  void remove_temporary() const {
    std::error_code ignored;
    fs::remove_all(temporary_, ignored);
  }

  Result<std::vector<DataSet>> given_data() {
    std::vector<DataSet> all;
    auto inputs = onnx::declared_inputs(compile_.model), outputs = onnx::declared_outputs(compile_.model);
    if (!inputs.ok() || !outputs.ok()) return all;  // said when it is compiled
    for (const fs::path& data : options_.data) {
      Result<std::vector<DataSet>> read = read_data(data, *inputs, *outputs);
      if (!read.ok() && (options_.layers || options_.against_ort))
        read = read_samples(data, *inputs);  // outputs are not needed
      MRVLC_ASSIGN(std::vector<DataSet> sets, std::move(read));
      std::move(sets.begin(), sets.end(), std::back_inserter(all));
    }
    onnx::ImportOptions import = compile_.import;
    for (const std::string& name : take_shapes(*inputs, all, import))
      diagnostics_.add(make_diag<DiagCode::MRV0145>(printable(name), to_string(import.input_shapes[name])));
    compile_.import.input_shapes = std::move(import.input_shapes);
    compile_.import.input_types = std::move(import.input_types);
    return all;
  }

  // The data as values of the model's types; what there is too much or too little of them.
  Status fit(DataSet& set, const OutputFolder& folder) {
    if (set.inputs.size() != folder.inputs.size())
      return make_diag<DiagCode::MRV0004>(fmt::format("--data: {} holds {} inputs, the model takes {}",
                                                      set.name, set.inputs.size(), folder.inputs.size()));
    for (size_t i = 0; i < set.inputs.size(); ++i) {
      set.inputs[i] = as_declared(std::move(set.inputs[i]), folder.inputs[i].type);
      MRVLC_TRY(check_value(folder.inputs[i], set.inputs[i],
                            fmt::format("--data: input_{} of {}", i, set.name), false));
    }
    for (auto& [i, value] : set.outputs) {
      if (i >= folder.outputs.size())
        return make_diag<DiagCode::MRV0004>(fmt::format(
            "--data: {} holds output_{}, the model has {} outputs", set.name, i, folder.outputs.size()));
      value = as_declared(std::move(value), folder.outputs[i].type);
    }
    for (size_t i = 0; i < folder.outputs.size() && !(options_.layers && set.outputs.empty()); ++i) {
      if (!set.outputs.contains(i))
        diagnostics_.add(make_diag<DiagCode::MRV0711>(set.name, i, printable(folder.outputs[i].name)));
    }
    return {};
  }

  Result<Program> build(OutputFolder folder) const {
    return Program::build(run_options(), std::move(folder));
  }

  RunOptions run_options() const {
    RunOptions r = options_.run;
    r.target_dirs = compile_.target_dirs;
    r.jobs = compile_.jobs;
    return r;
  }

  Status run_set(const DataSet& set, const Program& program) {
    auto ran = program.run(set.inputs);
    if (!ran.ok()) {
      Diag diag = ran.error();
      diag.message = fmt::format("{}: {}", set.name, diag.message);
      return diag;
    }
    const EndOnInterrupt long_work([this] { remove_temporary(); });
    std::vector<std::string> names;
    for (const Port& port : program.folder().outputs) names.push_back(port.name);
    return judge_.judge(set, *ran, names);
  }

  const VerifyOptions& options_;
  CompileOptions compile_;
  Diagnostics& diagnostics_;
  fs::path temporary_;
  OutputJudge judge_;
  std::optional<LayerErrors> layers_;
};

}  // namespace

std::vector<Comparison> verify(const VerifyOptions& options, Diagnostics& diagnostics,
                               std::optional<LayerErrors>* layers) {
  if (for_mesh(options.compile)) {
    diagnostics.add(make_diag<DiagCode::MRV1308>("'mrvlc verify'"));
    return {};
  }
  Verifier verifier(options, diagnostics);
  auto comparisons = verifier.run();
  if (layers != nullptr) *layers = verifier.layers();
  return comparisons;
}

}  // namespace mrvlc::driver
