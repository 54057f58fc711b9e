// `mrvlc verify`: compiles, runs and compares with given outputs, or with the reference interpreter on seeded
// inputs.
#include <algorithm>
#include <map>

#include "compiled_model.h"
#include "mrvlc/interp/interp.h"
#include "mrvlc/onnx/importer.h"
#include "mrvlc/onnx/test_data.h"
#include "mrvlc/ops/control_flow.h"
#include "mrvlc/support/diag/general.h"
#include "mrvlc/support/diag/onnx.h"
#include "mrvlc/support/diag/sim.h"
#include "mrvlc/support/file.h"
#include "mrvlc/support/temporary_dir.h"
#include "mrvlc/tensor/npy.h"
#include "output_folder.h"
#include "process.h"

namespace mrvlc::driver {
namespace fs = std::filesystem;
namespace {

struct DataSet {
  std::string name;
  std::vector<Tensor> inputs, outputs;
};

// Files "input_3.pb", "input_3.npy", "in_3_ANY.npy" of a kind ("in" or "out"), by their number.
std::map<int, fs::path> numbered_files(const fs::path& folder, const std::string& kind) {
  std::map<int, fs::path> found;
  std::error_code ec;
  for (const auto& entry : fs::directory_iterator(folder, ec)) {
    std::string file = entry.path().filename().string(), ext = entry.path().extension().string();
    if (ext != ".pb" && ext != ".npy") continue;
    for (const std::string& prefix : {kind + "put_", kind + "_"}) {
      if (!file.starts_with(prefix) || file.size() <= prefix.size() ||
          !std::isdigit(static_cast<unsigned char>(file[prefix.size()])))
        continue;
      found[std::atoi(file.c_str() + prefix.size())] = entry.path();
    }
  }
  return found;
}

Result<std::vector<Tensor>> read_tensors(const std::map<int, fs::path>& files) {
  std::vector<Tensor> out;
  for (const auto& [number, path] : files) {
    MRVLC_ASSIGN(Tensor t, path.extension() == ".pb" ? onnx::read_tensor_pb(path) : read_npy(path));
    out.push_back(std::move(t));
  }
  return out;
}

// The folder itself, or its test_data_set_K folders.
Result<std::vector<DataSet>> read_data(const fs::path& folder) {
  std::vector<fs::path> folders;
  std::error_code ec;
  for (const auto& entry : fs::directory_iterator(folder, ec)) {
    if (entry.is_directory() && entry.path().filename().string().starts_with("test_data_set_"))
      folders.push_back(entry.path());
  }
  if (ec) return make_diag<DiagCode::MRV0001>(folder.string(), ec.message());
  std::sort(folders.begin(), folders.end());
  if (folders.empty()) folders.push_back(folder);
  std::vector<DataSet> sets;
  for (const fs::path& f : folders) {
    DataSet set{f.filename().string(), {}, {}};
    MRVLC_ASSIGN(set.inputs, read_tensors(numbered_files(f, "in")));
    MRVLC_ASSIGN(set.outputs, read_tensors(numbered_files(f, "out")));
    if (set.outputs.empty())
      return make_diag<DiagCode::MRV0003>(f.string(), "it holds no output_K.pb or output_K.npy");
    sets.push_back(std::move(set));
  }
  return sets;
}

class Verifier {
 public:
  Verifier(const VerifyOptions& options, Diagnostics& diagnostics)
      : options_(options), compile_(options.compile), diagnostics_(diagnostics) {}

  std::vector<Comparison> run() {
    InterruptGuard guard;  // first: after an interrupt, too, the folder is removed
    auto temporary = TemporaryDir::create();
    if (!temporary.ok()) return fail(temporary.error());
    if (Status status = check_declared(); !status.ok()) return fail(status.error());
    auto given = given_data();
    if (!given.ok()) return fail(given.error());
    take_shapes(*given);
    CompileOptions c = compile_;
    c.out = temporary->path() / "out";
    if (!compile(c, diagnostics_, [](const std::string&) {})) return {};
    auto folder = open_output(c.out);
    if (!folder.ok()) return fail(folder.error());
    if (Status status = check_ports(*folder); !status.ok()) return fail(status.error());
    auto sets = options_.data.empty() ? reference() : std::move(given);
    if (!sets.ok()) return fail(sets.error());
    for (const DataSet& set : *sets) {
      Status status = run_set(set, *folder, temporary->path());
      if (!status.ok()) return fail(status.error());
    }
    return std::move(comparisons_);
  }

 private:
  std::vector<Comparison> fail(const Diag& diag) {
    diagnostics_.add(diag);
    return {};
  }

  // Asked before the data are read as what they are not.
  Status check_declared() const {
    for (auto list : {onnx::declared_inputs, onnx::declared_outputs}) {
      auto declared = list(compile_.model);
      if (!declared.ok()) return {};  // said when it is compiled
      for (const onnx::DeclaredValue& value : *declared) {
        if (value.wrapper != Wrapper::None)
          return make_diag<DiagCode::MRV0710>(printable(value.name), "a sequence or an optional");
      }
    }
    return {};
  }

  Result<std::vector<DataSet>> given_data() {
    std::vector<DataSet> all;
    for (const fs::path& data : options_.data) {
      MRVLC_ASSIGN(std::vector<DataSet> sets, read_data(data));
      std::move(sets.begin(), sets.end(), std::back_inserter(all));
    }
    return all;
  }

  // What the model leaves open, and no option says, has the shape of the data; a dimension in which data sets
  // differ is known at run time only.
  void take_shapes(const std::vector<DataSet>& sets) {
    auto declared = onnx::declared_inputs(compile_.model);
    if (!declared.ok() || sets.empty()) return;  // said when it is compiled
    for (size_t i = 0; i < declared->size(); ++i) {
      const onnx::DeclaredValue& input = (*declared)[i];
      const bool open =
          !input.has_shape || std::find(input.shape.begin(), input.shape.end(), -1) != input.shape.end();
      if (!open || input.wrapper != Wrapper::None || compile_.input_shapes.contains(input.name)) continue;
      std::optional<TensorType> type;
      for (const DataSet& set : sets) {
        if (i >= set.inputs.size()) return;
        type = type ? ops::join_types(*type, set.inputs[i].type()) : set.inputs[i].type();
        if (!type) return;
      }
      onnx::GivenShape shape(type->shape);
      shape.open = type->open;
      diagnostics_.add(make_diag<DiagCode::MRV0145>(printable(input.name), to_string(shape)));
      compile_.input_shapes.emplace(input.name, std::move(shape));
    }
  }

  // The model as imported, before any pass, in the reference interpreter.
  Result<std::vector<DataSet>> reference() {
    onnx::ImportOptions import;
    import.input_shapes = compile_.input_shapes;
    import.bounds = compile_.bounds;
    import.max_sequence = compile_.max_sequence;
    import.batch = compile_.batch;
    import.external_data_dir = compile_.external_data_dir;
    Diagnostics repeated;  // compile has reported them
    auto model = onnx::import_file(compile_.model, import, repeated);
    if (!model) return repeated.list().front();
    DataSet set{"seeded inputs", interp::seeded_inputs(model->graph, options_.seed), {}};
    MRVLC_ASSIGN(set.outputs, interp::run(model->graph, set.inputs));
    return std::vector<DataSet>{std::move(set)};
  }

  Status run_set(const DataSet& set, const OutputFolder& folder, const fs::path& temporary) {
    if (set.inputs.size() != folder.inputs.size()) {
      return make_diag<DiagCode::MRV0004>(fmt::format("--data: {} holds {} inputs, the model takes {}",
                                                      set.name, set.inputs.size(), folder.inputs.size()));
    }
    RunOptions r;
    r.out = folder.path;
    r.output_dir = temporary / "results";
    r.target_dirs = compile_.target_dirs;
    r.jobs = compile_.jobs;
    for (size_t i = 0; i < set.inputs.size(); ++i) {
      fs::path file = temporary / fmt::format("input_{}.npy", i);
      MRVLC_TRY(write_file_atomic(file, to_npy(set.inputs[i])));
      r.inputs.emplace_back(folder.inputs[i].name, file);
    }
    auto ran = driver::run(r);
    if (!ran.ok()) return ran.error();
    for (size_t i = 0; i < std::min(set.outputs.size(), folder.outputs.size()); ++i) {
      MRVLC_ASSIGN(Tensor actual, read_npy(r.output_dir / (folder.outputs[i].file + ".npy")));
      const ElementType elem = folder.outputs[i].type.elem;
      compare(set, folder.outputs[i].name, from_npy(actual, elem), from_npy(set.outputs[i], elem));
    }
    return {};
  }

  void compare(const DataSet& set, const std::string& output, const Tensor& actual, const Tensor& expected) {
    Comparison c{set.name, output, relative_error(actual, expected), tolerance(), {}};
    if (!(actual.type() == expected.type()))
      c.note = to_string(actual.type()) + " instead of " + to_string(expected.type());
    if (c.error > c.tolerance) {
      diagnostics_.add(make_diag<DiagCode::MRV0009>(
          fmt::format("{}: output '{}' differs by {:.3g} (max |a-b|/(1+|b|)), more than {:.3g}{}{}", set.name,
                      printable(output), c.error, c.tolerance, c.note.empty() ? "" : ", ", c.note)));
    }
    comparisons_.push_back(std::move(c));
  }

  double tolerance() const {
    if (options_.tolerance) return *options_.tolerance;
    const auto& targets = compile_.targets;
    bool host = std::all_of(targets.begin(), targets.end(), [](const std::string& t) { return t == "host"; });
    return host ? 1e-4 : 2e-2;
  }

  const VerifyOptions& options_;
  CompileOptions compile_;
  Diagnostics& diagnostics_;
  std::vector<Comparison> comparisons_;
};

}  // namespace

std::vector<Comparison> verify(const VerifyOptions& options, Diagnostics& diagnostics) {
  return Verifier(options, diagnostics).run();
}

}  // namespace mrvlc::driver
