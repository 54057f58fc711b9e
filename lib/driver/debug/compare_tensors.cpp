// `mrvlc compare`: tensors that another runtime has written, against the reference interpreter.
#include <algorithm>
#include <map>

#include "debug/tensor_judge.h"
#include "debug/value_files.h"
#include "mrvlc/driver/compare.h"
#include "mrvlc/driver/data_set.h"
#include "mrvlc/driver/debug.h"
#include "mrvlc/driver/value_file.h"
#include "mrvlc/idmap/idmap.h"
#include "mrvlc/interp/interp.h"
#include "mrvlc/support/diag/general.h"
#include "mrvlc/support/diag/tools.h"
#include "mrvlc/support/file_names.h"
#include "mrvlc/support/json_document.h"
#include "mrvlc/support/nearest.h"

namespace mrvlc::driver {
namespace fs = std::filesystem;
using Json = nlohmann::ordered_json;
namespace {

struct Line {
  std::string tensor, node, op_type;
  Difference difference;
};

// The file in the folder, if there is one.
std::optional<fs::path> file_of(const fs::path& folder, const std::string& stem) {
  for (const char* end : {".npy", ".json"}) {
    std::error_code ec;
    fs::path file = folder / (stem + end);
    if (fs::is_regular_file(file, ec)) return file;
  }
  return std::nullopt;
}

// As the model has it. Numbers of 16 bits may come as floats: programs and runtimes compute them as such.
Tensor taken(Tensor value, const TensorType& type) {
  const bool is_narrow = type.elem == ElementType::F16 || type.elem == ElementType::BF16;
  if (!is_narrow || value.type().wrapper != Wrapper::None || value.elem() != ElementType::F32)
    return as_declared(std::move(value), type);
  Tensor rounded(TensorType{type.elem, value.shape()});
  for (int64_t i = 0; i < value.elements(); ++i) rounded.set_double(i, value.as_double(i));
  return rounded;
}

class Comparer {
 public:
  Comparer(const CompareOptions& options, Diagnostics& diagnostics)
      : o_(options), diagnostics_(diagnostics) {}

  Result<std::string> run() {
    std::error_code ec;
    if (!fs::is_directory(o_.with, ec))
      return make_diag<DiagCode::MRV0001>(o_.with.string(),
                                          "--with takes a folder with a file NAME.npy for each tensor");
    MRVLC_ASSIGN(const DataSet set, read_inputs());
    onnx::ImportOptions import = o_.compile.import;
    take_shapes(declared_, {set}, import);
    auto model = onnx::import_file(o_.compile.model, import, diagnostics_);
    if (!model) return std::string();
    MRVLC_TRY(compare(model->graph, set));
    report_first();
    return o_.json ? json() : text();
  }

 private:
  Result<DataSet> read_inputs() {
    MRVLC_ASSIGN(declared_, onnx::declared_inputs(o_.compile.model));
    std::map<std::string, fs::path> given;
    for (const std::string& text : o_.inputs) {
      const size_t eq = text.find('=');
      if (eq == text.npos || eq == 0)
        return make_diag<DiagCode::MRV0004>("--input takes NAME=FILE, not '" + printable(text) + "'");
      given[text.substr(0, eq)] = text.substr(eq + 1);
    }
    MRVLC_TRY(check_names(given));
    DataSet set;
    std::vector<std::string> names;
    for (const onnx::DeclaredValue& d : declared_) names.push_back(d.name);
    const std::vector<std::string> files = file_names(names);  // as value_files() has them
    for (size_t i = 0; i < declared_.size(); ++i) {
      const onnx::DeclaredValue& d = declared_[i];
      std::optional<fs::path> file = file_of(o_.with, files[i]);
      if (const auto at = given.find(d.name); at != given.end()) file = at->second;
      if (!file)
        return make_diag<DiagCode::MRV1014>(printable(d.name), printable(files[i]), printable(d.name));
      MRVLC_ASSIGN(Tensor value, read_value(*file, d.wrapper));
      set.inputs.push_back(std::move(value));
    }
    return set;
  }

  Status check_names(const std::map<std::string, fs::path>& given) const {
    std::vector<std::string_view> names;
    for (const onnx::DeclaredValue& d : declared_) names.push_back(d.name);
    for (const auto& [name, file] : given)
      if (std::ranges::find(names, name) == names.end())
        return make_diag<DiagCode::MRV0004>("--input: the model has no input '" + printable(name) + "'" +
                                            did_you_mean(name, names));
    return {};
  }

  // Every result that has a file becomes an output of the graph, so that the interpreter keeps it.
  Status compare(ir::Graph& graph, const DataSet& set) {
    std::vector<Tensor> inputs;
    for (size_t i = 0; i < set.inputs.size(); ++i)
      inputs.push_back(as_declared(set.inputs[i], graph.value(graph.inputs()[i]).type));
    const size_t before = graph.outputs().size();
    std::vector<std::pair<ir::ValueId, fs::path>> compared;
    const std::map<std::string, std::string> files = value_files(graph);  // no two alike
    for (ir::NodeId id : graph.topological_order())
      for (ir::ValueId v : graph.node(id).outputs) {
        if (!v.valid()) continue;
        ++results_;
        if (auto file = file_of(o_.with, files.at(graph.value(v).name))) compared.emplace_back(v, *file);
      }
    if (compared.empty()) return make_diag<DiagCode::MRV1015>(o_.with.string());
    for (const auto& [v, file] : compared) graph.add_output(v);
    MRVLC_ASSIGN(const std::vector<Tensor> reference, interp::run(graph, inputs));
    for (size_t i = 0; i < inputs.size(); ++i) theirs_[graph.inputs()[i]] = std::move(inputs[i]);
    for (size_t i = 0; i < compared.size(); ++i) {
      const auto& [v, file] = compared[i];
      MRVLC_ASSIGN(Tensor value, read_value(file, graph.value(v).type.wrapper));
      theirs_[v] = taken(std::move(value), graph.value(v).type);
      add(graph, v, reference[before + i]);
    }
    return {};
  }

  void add(const ir::Graph& graph, ir::ValueId v, const Tensor& reference) {
    const ir::Value& value = graph.value(v);
    const ir::Node& n = graph.node(value.producer);
    lines_.push_back({value.name, n.name, std::string(n.op->name), judge(graph, n, v, reference)});
  }

  Difference judge(const ir::Graph& graph, const ir::Node& node, ir::ValueId v,
                   const Tensor& reference) const {
    const Tensor& theirs = theirs_.at(v);
    if (o_.tolerance) {
      Limits limits;
      limits.wide = limits.narrow = *o_.tolerance;
      return driver::compare(theirs, reference, limits);
    }
    Difference whole = judge_from_inputs(theirs, reference);
    if (!whole.same()) return whole;
    const auto operand = [&](ir::ValueId id) {
      const auto at = theirs_.find(id);
      return at == theirs_.end() ? nullptr : &at->second;
    };
    std::optional<Difference> alone = judge_alone(graph, node, v, theirs, operand);
    if (!alone || alone->same()) return whole;
    alone->text += ", of the operands in the folder";
    return *std::move(alone);
  }

  void report_first() {
    const auto first = std::ranges::find_if(lines_, [](const Line& l) { return !l.difference.same(); });
    if (first == lines_.end()) return;
    diagnostics_.add(at_node(make_diag<DiagCode::MRV1013>(printable(first->tensor), first->difference.text,
                                                          first - lines_.begin()),
                             first->node, first->op_type));
  }

  std::string text() const {
    std::string out;
    for (const Line& l : lines_)
      out += fmt::format("{:<40} {:<20} {:>10.3g} {}\n", printable(l.tensor), l.op_type, l.difference.error,
                         l.difference.same() ? "ok" : "DIFFERS");
    return out + fmt::format("{} of {} tensors compared\n", lines_.size(), results_);
  }

  std::string json() const {
    Json tensors = Json::array();
    for (const Line& l : lines_)
      tensors.push_back({{"tensor", idmap::json_text(l.tensor)},
                         {"node", idmap::json_text(l.node)},
                         {"op_type", l.op_type},
                         {"error", std::isfinite(l.difference.error) ? Json(l.difference.error) : Json()},
                         {"limit", l.difference.limit},
                         {"elements", l.difference.elements},
                         {"same", l.difference.same()},
                         {"difference", l.difference.text}});
    return json_document(
        Json({{"schema", "mrvlc-compare-1"}, {"results", results_}, {"tensors", std::move(tensors)}}));
  }

  const CompareOptions& o_;
  Diagnostics& diagnostics_;
  std::vector<onnx::DeclaredValue> declared_;
  std::vector<Line> lines_;
  std::map<ir::ValueId, Tensor> theirs_;
  size_t results_ = 0;
};

}  // namespace

std::optional<std::string> compare_tensors(const CompareOptions& options, Diagnostics& diagnostics) {
  auto text = Comparer(options, diagnostics).run();
  if (!text.ok()) diagnostics.add(text.error());
  if (!text.ok() || text->empty()) return std::nullopt;
  return *std::move(text);
}

}  // namespace mrvlc::driver
