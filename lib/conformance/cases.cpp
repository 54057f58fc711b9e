#include "cases.h"

#include <fmt/format.h>

#include <algorithm>

#include "drawn.h"
#include "mrvlc/conformance/compare.h"
#include "mrvlc/onnx/test_data.h"
#include "mrvlc/ops/control_flow.h"
#include "mrvlc/support/diag/ops.h"
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

fs::path data_file(const fs::path& data_set, std::string_view kind, size_t i) {
  return data_set / fmt::format("{}_{}.pb", kind, i);
}

// The data of ONNX 1.12 hold bfloat16 as its bits in uint16.
Tensor as_declared(Tensor tensor, const TensorType& declared) {
  // Files do not say what an empty sequence or optional is of.
  if (tensor.type().wrapper != Wrapper::None && tensor.items().empty()) {
    TensorType type{declared.elem, {}};
    type.wrapper = tensor.type().wrapper;
    return Tensor::wrapped(type, {});
  }
  if (declared.elem != ElementType::BF16 || tensor.elem() != ElementType::U16) return tensor;
  auto bytes = tensor.bytes();
  return Tensor({declared.elem, tensor.shape()},
                std::string(reinterpret_cast<const char*>(bytes.data()), bytes.size()));
}

Result<Tensor> read_value(const fs::path& file, const TensorType& declared) {
  MRVLC_ASSIGN(Tensor tensor, onnx::read_value_pb(file, declared.wrapper));
  return as_declared(std::move(tensor), declared);
}

bool contradicts(const onnx::DeclaredValue& declared, const Shape& actual) {
  if (!declared.has_shape) return false;
  if (declared.shape.size() != actual.size()) return true;
  for (size_t d = 0; d < actual.size(); ++d) {
    if (declared.shape[d] >= 0 && declared.shape[d] != actual[d]) return true;
  }
  return false;
}

bool is_open(const onnx::DeclaredValue& declared) {
  return !declared.has_shape ||
         std::any_of(declared.shape.begin(), declared.shape.end(), [](int64_t d) { return d < 0; });
}

const Diag& first_error(const Diagnostics& diagnostics) {
  const auto& list = diagnostics.list();
  return *std::find_if(list.begin(), list.end(),
                       [](const Diag& d) { return d.severity() == Severity::Error; });
}

// A dimension in which data sets differ is known at run time only, as in `mrvlc verify`.
onnx::GivenShape shape_of(const Case& c, size_t input, const TensorType& first) {
  TensorType type = first;
  for (const fs::path& data_set : c.data_sets) {
    auto tensor = onnx::read_value_pb(data_file(data_set, "input", input), Wrapper::None);
    auto joined = tensor.ok() ? ops::join_types(type, tensor->type()) : std::nullopt;
    if (joined) type = *std::move(joined);  // else it is said when it is run
  }
  onnx::GivenShape shape(type.shape);
  shape.open = type.open;
  return shape;
}

// The shapes of the data for what the model leaves open; what is wrong, when they are not what it declares.
std::string choose_shapes(const Case& c, const std::vector<onnx::DeclaredValue>& declared,
                          onnx::ImportOptions& options) {
  for (size_t i = 0; i < declared.size() && !c.data_sets.empty(); ++i) {
    if (declared[i].wrapper != Wrapper::None) {
      auto value = onnx::read_value_pb(data_file(c.data_sets.front(), "input", i), declared[i].wrapper);
      if (value.ok()) options.input_types[declared[i].name] = value->type();
      continue;
    }
    auto tensor = onnx::read_value_pb(data_file(c.data_sets.front(), "input", i), Wrapper::None);
    if (!tensor.ok()) continue;  // said when it is run
    if (contradicts(declared[i], tensor->shape()))
      return fmt::format("the data of input '{}' have the shape {}, the model declares {}", declared[i].name,
                         to_string(tensor->shape()), to_string(declared[i].shape));
    if (is_open(declared[i])) options.input_shapes[declared[i].name] = shape_of(c, i, tensor->type());
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

Case load_case(const fs::path& folder) {
  Case c;
  c.folder = folder;
  for (const fs::path& data : sorted_folders(folder)) {
    if (data.filename().string().starts_with("test_data_set_")) c.data_sets.push_back(data);
  }
  auto declared = onnx::declared_inputs(folder / "model.onnx");
  if (!declared.ok()) {
    c.refusal = failure(declared.error());
    return c;
  }
  onnx::ImportOptions options;
  std::string wrong = choose_shapes(c, *declared, options);
  if (wrong.empty()) wrong = known_mistake(folder);
  if (!wrong.empty()) {
    c.refusal = {Verdict::Unfit, {}, printable(wrong)};
    return c;
  }
  Diagnostics diagnostics;
  c.model = onnx::import_file(folder / "model.onnx", options, diagnostics);
  if (!c.model) c.refusal = failure(first_error(diagnostics));
  return c;
}

Result<std::vector<Tensor>> read_inputs(const Case& c, const fs::path& data_set) {
  const ir::Graph& graph = c.model->graph;
  std::vector<Tensor> inputs;
  for (size_t i = 0; i < graph.inputs().size(); ++i) {
    MRVLC_ASSIGN(Tensor tensor,
                 read_value(data_file(data_set, "input", i), graph.value(graph.inputs()[i]).type));
    inputs.push_back(std::move(tensor));
  }
  return inputs;
}

Outcome check_outputs(const Case& c, const fs::path& data_set, const std::vector<Tensor>& inputs,
                      const std::vector<Tensor>& actual, const Difference& judge) {
  const ir::Graph& graph = c.model->graph;
  std::vector<Tensor> expected;
  for (size_t i = 0; i < actual.size(); ++i) {
    auto tensor = read_value(data_file(data_set, "output", i), graph.value(graph.outputs()[i]).type);
    if (!tensor.ok()) return failure(tensor.error());
    expected.push_back(std::move(*tensor));
  }
  if (is_drawn(graph, inputs, expected)) {
    std::string wrong = drawn_difference(graph, inputs, actual, expected);
    return {wrong.empty() ? Verdict::Passed : Verdict::Wrong, {}, printable(wrong)};
  }
  for (size_t i = 0; i < actual.size(); ++i) {
    const std::string text =
        judge ? judge(c.folder, data_set, i, actual[i], expected[i]) : difference(actual[i], expected[i]);
    if (!text.empty()) return {Verdict::Wrong, {}, printable(fmt::format("output {}: {}", i, text))};
  }
  return {Verdict::Passed, {}, {}};
}

}  // namespace mrvlc::conformance
