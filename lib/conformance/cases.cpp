// Folders of ONNX's backend tests as cases; data that contradict their model, outputs not as expected.
#include "cases.h"

#include <fmt/format.h>

#include <algorithm>

#include "mrvlc/driver/compare.h"
#include "mrvlc/driver/drawn.h"
#include "mrvlc/driver/value_file.h"
#include "mrvlc/support/diag/sim.h"
#include "mrvlc/support/file.h"

namespace mrvlc::conformance {
namespace fs = std::filesystem;

namespace {

std::vector<fs::path> sorted_folders(const fs::path& parent) {
  std::vector<fs::path> found;
  std::error_code ec;
  for (const auto& entry : fs::directory_iterator(parent, ec)) {
    if (entry.is_directory()) found.push_back(entry.path());
  }
  std::sort(found.begin(), found.end());
  return found;
}

bool contradicts(const onnx::DeclaredValue& declared, const Shape& actual) {
  if (!declared.has_shape) return false;
  if (declared.shape.size() != actual.size()) return true;
  for (size_t d = 0; d < actual.size(); ++d) {
    if (declared.shape[d] >= 0 && declared.shape[d] != actual[d]) return true;
  }
  return false;
}

// What is wrong when the data are not what the model declares.
std::string contradiction(const std::vector<driver::DataSet>& sets,
                          const std::vector<onnx::DeclaredValue>& declared) {
  for (size_t i = 0; i < declared.size() && !sets.empty(); ++i) {
    if (declared[i].wrapper != Wrapper::None || i >= sets.front().inputs.size()) continue;
    const Shape& shape = sets.front().inputs[i].shape();
    if (contradicts(declared[i], shape))
      return fmt::format("the data of input '{}' have the shape {}, the model declares {}", declared[i].name,
                         to_string(shape), to_string(declared[i].shape));
  }
  return {};
}

}  // namespace

std::vector<CaseFolder> cases_in(const fs::path& root) {
  std::vector<CaseFolder> cases;
  for (const fs::path& suite : sorted_folders(root)) {
    for (const fs::path& folder : sorted_folders(suite)) {
      if (!fs::exists(folder / "model.onnx")) continue;
      const std::string name = suite.filename().string();
      cases.push_back({name, name + "/" + folder.filename().string(), folder});
    }
  }
  return cases;
}

Outcome failure(const Diag& diag) {
  const bool internal = diag.exit_class() == ExitClass::Internal;
  std::string message = diag.message;
  if (!diag.op_type.empty()) message = fmt::format("{}: {}", diag.op_type, message);
  return {internal ? Verdict::Crashed : Verdict::Refused, std::string(diag_info(diag.code).name),
          printable(message)};
}

namespace {

// Cases whose data are known to contradict their model, found by what the model lacks.
struct Mistake {
  std::string_view case_name, lacks, why;
};
constexpr Mistake kMistakes[] = {
    {"test_adam_multiple", "epsilon",
     "the data of ONNX 1.12 were made with an epsilon of 0.01 that the model does not have; later releases "
     "have it"},
};

std::string known_mistake(const fs::path& folder) {
  for (const Mistake& mistake : kMistakes) {
    if (folder.filename() != mistake.case_name) continue;
    auto bytes = read_file(folder / "model.onnx");
    if (bytes.ok() && bytes->find(mistake.lacks) == std::string::npos) return std::string(mistake.why);
  }
  return {};
}

}  // namespace

const Diag& import_error(const Diagnostics& diagnostics) {
  const auto& list = diagnostics.list();
  return *std::find_if(list.begin(), list.end(),
                       [](const Diag& d) { return d.severity() == Severity::Error; });
}

Case load_case(const fs::path& folder) {
  Case c;
  c.folder = folder;
  for (const fs::path& data : sorted_folders(folder)) {
    if (data.filename().string().starts_with("test_data_set_")) c.data_sets.push_back(data);
  }
  auto inputs = onnx::declared_inputs(folder / "model.onnx");
  auto outputs = onnx::declared_outputs(folder / "model.onnx");
  if (!inputs.ok() || !outputs.ok()) {
    c.refusal = failure(inputs.ok() ? outputs.error() : inputs.error());
    return c;
  }
  if (!c.data_sets.empty()) {
    auto sets = driver::read_data(folder, *inputs, *outputs);
    if (!sets.ok()) {
      c.refusal = failure(sets.error());
      return c;
    }
    c.sets = std::move(*sets);
  }
  std::string wrong = contradiction(c.sets, *inputs);
  if (wrong.empty()) wrong = known_mistake(folder);
  if (!wrong.empty()) {
    c.refusal = {Verdict::Unfit, {}, printable(wrong)};
    return c;
  }
  driver::take_shapes(*inputs, c.sets, c.import);
  Diagnostics diagnostics;
  c.model = onnx::import_file(folder / "model.onnx", c.import, diagnostics);
  if (!c.model) c.refusal = failure(import_error(diagnostics));
  return c;
}

Result<std::vector<Tensor>> read_inputs(const Case& c, size_t set) {
  const ir::Graph& graph = c.model->graph;
  const std::vector<Tensor>& given = c.sets[set].inputs;
  if (given.size() != graph.inputs().size())
    return make_diag<DiagCode::MRV0707>(given.size(), graph.inputs().size());
  std::vector<Tensor> inputs;
  for (size_t i = 0; i < given.size(); ++i)
    inputs.push_back(driver::as_declared(given[i], graph.value(graph.inputs()[i]).type));
  return inputs;
}

Outcome check_outputs(const Case& c, size_t set, const std::vector<Tensor>& inputs,
                      const std::vector<Tensor>& actual, const Difference& judge) {
  const ir::Graph& graph = c.model->graph;
  std::vector<Tensor> expected;
  for (size_t i = 0; i < actual.size(); ++i) {
    auto tensor = c.sets[set].outputs.find(i);
    if (tensor == c.sets[set].outputs.end())
      return {Verdict::Wrong, {}, fmt::format("no output {} is expected", i)};
    expected.push_back(driver::as_declared(tensor->second, graph.value(graph.outputs()[i]).type));
  }
  if (driver::is_drawn(graph, inputs, expected)) {
    std::string wrong = driver::drawn_difference(graph, inputs, actual, expected);
    return {wrong.empty() ? Verdict::Passed : Verdict::Wrong, {}, printable(wrong)};
  }
  for (size_t i = 0; i < actual.size(); ++i) {
    const std::string text = judge ? judge(c.folder, c.data_sets[set], i, actual[i], expected[i])
                                   : driver::compare(actual[i], expected[i], {}).text;
    if (!text.empty()) return {Verdict::Wrong, {}, printable(fmt::format("output {}: {}", i, text))};
  }
  return {Verdict::Passed, {}, {}};
}

}  // namespace mrvlc::conformance
