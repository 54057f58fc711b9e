// `mrvlc verify`: compiles, runs and compares with given outputs, or with the reference interpreter on seeded
// inputs.
#include <algorithm>
#include <cmath>

#include "accuracy/choice.h"
#include "mrvlc/driver/compare.h"
#include "mrvlc/driver/data_set.h"
#include "mrvlc/driver/drawn.h"
#include "mrvlc/driver/interrupt.h"
#include "mrvlc/driver/value_file.h"
#include "mrvlc/interp/input_sets.h"
#include "mrvlc/interp/interp.h"
#include "mrvlc/support/diag/onnx.h"
#include "mrvlc/support/diag/sim.h"
#include "run/program.h"
#include "values/made_inputs.h"
#include "verify/fp16_ideal.h"
#include "verify/layer_errors.h"

namespace mrvlc::driver {
namespace fs = std::filesystem;
namespace {

class Verifier {
 public:
  Verifier(const VerifyOptions& options, Diagnostics& diagnostics)
      : options_(options), compile_(options.compile), diagnostics_(diagnostics) {
    // What it says is what verify finds out; what is done about it is part of the compile.
    if (!chooses(compile_) && compile_.probe == CompileOptions::Probe::WithinBudget)
      compile_.probe = CompileOptions::Probe::Unsaid;
  }

  std::vector<Comparison> run() {
    if (Status status = verify(); !status.ok()) diagnostics_.add(status.error());
    return std::move(comparisons_);
  }
  std::optional<LayerErrors> layers() { return std::move(layers_); }

 private:
  Status verify() {
    InterruptGuard guard;  // first: after an interrupt, too, the folder is removed
    MRVLC_ASSIGN(const TemporaryDir temporary, TemporaryDir::create());
    temporary_ = temporary.path();
    MRVLC_ASSIGN(std::vector<DataSet> sets, given_data());
    compile_.out = temporary.path() / "out";
    if (!compile(compile_, diagnostics_, [](const std::string&) {})) return {};
    MRVLC_ASSIGN(OutputFolder folder, open_output(compile_.out));
    if (options_.data.empty()) {
      MRVLC_ASSIGN(const ir::Graph* model, graph());
      const EndOnInterrupt long_work([this] { remove_temporary(); });
      MRVLC_ASSIGN(sets, made_inputs(*model, options_, diagnostics_));
    }
    for (DataSet& set : sets) MRVLC_TRY(fit(set, folder));
    MRVLC_ASSIGN(const Program program, build(std::move(folder)));
    for (const DataSet& set : sets) {
      if (options_.progress)
        options_.progress(set.name, static_cast<size_t>(&set - sets.data()) + 1, sets.size());
      MRVLC_TRY(run_set(set, program));
    }
    return options_.layers ? run_layers(sets) : Status();
  }

  // What outputs come to is said; here, where it comes from. Of made inputs the ordinary ones.
  Status run_layers(std::vector<DataSet>& sets) {
    if (options_.data.empty() && options_.sets.empty())
      std::erase_if(sets, [](const DataSet& s) {
        return !s.name.starts_with(interp::name(interp::InputKind::Uniform)) &&
               !s.name.starts_with(interp::name(interp::InputKind::Normal));
      });
    auto errors = layer_errors(compile_, *options_.layers, sets, limits().wide, temporary_, diagnostics_);
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
      if (!read.ok() && options_.layers) read = read_samples(data, *inputs);  // layers need no outputs
      MRVLC_ASSIGN(std::vector<DataSet> sets, std::move(read));
      std::move(sets.begin(), sets.end(), std::back_inserter(all));
    }
    onnx::ImportOptions import = import_options(compile_);
    for (const std::string& name : take_shapes(*inputs, all, import))
      diagnostics_.add(make_diag<DiagCode::MRV0145>(printable(name), to_string(import.input_shapes[name])));
    compile_.input_shapes = std::move(import.input_shapes);
    compile_.input_types = std::move(import.input_types);
    return all;
  }

  // The model as imported, before any pass.
  Result<const ir::Graph*> graph() {
    if (!model_) {
      Diagnostics repeated;  // compile has reported them
      model_ = onnx::import_file(compile_.model, import_options(compile_), repeated);
      if (!model_) return repeated.list().front();
    }
    return &model_->graph;
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
    RunOptions r;
    r.target_dirs = compile_.target_dirs;
    r.jobs = compile_.jobs;
    return Program::build(r, std::move(folder));
  }

  Status run_set(const DataSet& set, const Program& program) {
    auto ran = program.run(set.inputs);
    if (!ran.ok()) {
      Diag diag = ran.error();
      diag.message = fmt::format("{}: {}", set.name, diag.message);
      return diag;
    }
    const EndOnInterrupt long_work([this] { remove_temporary(); });
    const std::vector<Tensor>& actual = *ran;
    std::vector<Difference> differences;
    for (const auto& [i, expected] : set.outputs)
      differences.push_back(driver::compare(actual[i], expected, limits()));
    const bool same =
        std::all_of(differences.begin(), differences.end(), [](const auto& d) { return d.same(); });
    if (!same) MRVLC_TRY(judge_draws(set, actual, differences));
    const std::vector<Fp16Error> fp16 = same || is_host() ? std::vector<Fp16Error>{} : ideal(set);
    size_t next = 0;
    for (const auto& [i, expected] : set.outputs) {
      const Fp16Error allowed = fp16.empty() ? Fp16Error{} : fp16[i];
      const bool beyond = !differences[next].same() && options_.data.empty() &&
                          is_beyond(actual[i], expected, differences[next], allowed);
      report(set, i, program.folder().outputs[i].name, std::move(differences[next++]), allowed, beyond);
    }
    return {};
  }

  // Given outputs of a model that draws random numbers are one draw of many.
  Status judge_draws(const DataSet& set, const std::vector<Tensor>& actual,
                     std::vector<Difference>& differences) {
    MRVLC_ASSIGN(const ir::Graph* model, graph());
    std::vector<Tensor> expected;
    for (const auto& [i, value] : set.outputs) expected.push_back(value);
    if (options_.data.empty() || expected.size() != actual.size() || !is_drawn(*model, set.inputs, expected))
      return {};
    const std::string text = drawn_difference(*model, set.inputs, actual, expected);
    if (text.empty()) differences.assign(differences.size(), Difference{});
    return {};
  }

  // Empty when the interpreter does not get there.
  std::vector<Fp16Error> ideal(const DataSet& set) {
    auto model = graph();
    if (!model.ok() || set.outputs.size() != (*model)->outputs().size()) return {};
    std::vector<Tensor> expected;
    for (const auto& [i, value] : set.outputs) expected.push_back(value);
    auto errors = fp16_errors(**model, set.inputs, expected);
    return errors.ok() ? std::move(*errors) : std::vector<Fp16Error>{};
  }

  // Is it as near as could be asked of fp16: within four times the error of its roundings alone? Who names a
  // tolerance gets that one; what overflows meets none.
  bool is_beyond(const Tensor& actual, const Tensor& expected, const Difference& d,
                 const Fp16Error& ideal) const {
    if (!is_float(expected.elem()) || expected.type().wrapper != Wrapper::None)
      return !options_.tolerance && d.elements > 0 &&
             static_cast<double>(d.elements) <= kIdealFactor * static_cast<double>(ideal.elements);
    Limits allowed = limits();
    allowed.wide = std::max(allowed.wide, kIdealFactor * ideal.error);
    allowed.narrow = std::max(allowed.narrow, kIdealFactor * ideal.error);
    if (!(actual.type() == expected.type())) return false;
    if (std::isinf(ideal.error)) return true;
    return !options_.tolerance && driver::compare(actual, expected, allowed).same();
  }

  void report(const DataSet& set, size_t i, const std::string& output, Difference difference,
              const Fp16Error& ideal, bool beyond) {
    Comparison c{set.name,          output, difference.error, difference.limit,
                 difference.same(), beyond, difference.text};
    const std::string overflow = ideal.overflow.empty() ? "" : "; " + ideal.overflow + ", fp16 ends at 65504";
    if (beyond) {
      diagnostics_.add(
          at_output(i, make_diag<DiagCode::MRV0714>(set.name, printable(output), c.note, overflow)));
    } else if (!c.same) {
      diagnostics_.add(at_output(i, make_diag<DiagCode::MRV0009>(fmt::format(
                                        "{}: output '{}' differs by {:.3g}, more than {:.3g}: {}{}", set.name,
                                        printable(output), c.error, c.tolerance, c.note, overflow))));
    }
    comparisons_.push_back(std::move(c));
  }

  // Names the node that makes the output.
  Diag at_output(size_t i, Diag diag) {
    auto model = graph();
    if (!model.ok()) return diag;
    const ir::NodeId made_by = (*model)->value((*model)->outputs()[i]).producer;
    if (!made_by.valid()) return diag;
    const ir::Node& node = (*model)->node(made_by);
    return at_node(std::move(diag), node.name, node.op->name);
  }

  bool is_host() const {
    const auto& targets = compile_.targets;
    return std::all_of(targets.begin(), targets.end(), [](const std::string& t) { return t == "host"; });
  }

  Limits limits() const {
    const bool host = is_host() && compile_.host_weights == chost::WeightType::F32;
    Limits out;
    out.wide = options_.tolerance.value_or(host ? 1e-4 : 2e-2);
    out.narrow = options_.tolerance.value_or(host ? out.narrow : 2e-2);
    out.integers = options_.integer_tolerance;
    return out;
  }

  const VerifyOptions& options_;
  CompileOptions compile_;
  Diagnostics& diagnostics_;
  fs::path temporary_;
  std::optional<onnx::Model> model_;
  std::vector<Comparison> comparisons_;
  std::optional<LayerErrors> layers_;
};

}  // namespace

std::vector<Comparison> verify(const VerifyOptions& options, Diagnostics& diagnostics,
                               std::optional<LayerErrors>* layers) {
  Verifier verifier(options, diagnostics);
  auto comparisons = verifier.run();
  if (layers != nullptr) *layers = verifier.layers();
  return comparisons;
}

}  // namespace mrvlc::driver
