#include "cases.h"

#include <fmt/format.h>
#include <onnx/onnx.pb.h>

#include <algorithm>
#include <cstdlib>
#include <fstream>

#include "compare.h"
#include "mrvlc/support/diag/ops.h"

namespace mrvlc::test {
namespace fs = std::filesystem;

namespace {

// Operators whose expected outputs are one draw of a random generator that ONNX does not define.
constexpr std::string_view kRandom[] = {"Bernoulli",        "Multinomial",   "RandomNormal",
                                        "RandomNormalLike", "RandomUniform", "RandomUniformLike"};

// `like` has the shape [1] in the data and [3,4] in the model.
constexpr std::string_view kUnfit[] = {
    "node/test_castlike_FLOAT_to_BFLOAT16", "node/test_castlike_BFLOAT16_to_FLOAT",
    "node/test_castlike_FLOAT_to_BFLOAT16_expanded", "node/test_castlike_BFLOAT16_to_FLOAT_expanded"};

fs::path data_folder() {
  const char* given = std::getenv("MRVLC_ONNX_TESTDATA");
  return given != nullptr ? given : "/usr/share/libonnx-testdata/data";
}

template <class List>
bool contains(const List& list, std::string_view text) {
  return std::find(std::begin(list), std::end(list), text) != std::end(list);
}

template <class Message>
bool read_message(const fs::path& path, Message& message) {
  std::ifstream file(path, std::ios::binary);
  return file && message.ParseFromIstream(&file);
}

fs::path data_file(const Case& c, std::string_view kind, size_t i) {
  return c.folder / "test_data_set_0" / fmt::format("{}_{}.pb", kind, i);
}

// The data of ONNX 1.12 hold bfloat16 as its bits in uint16.
Tensor as_declared(Tensor tensor, ElementType declared) {
  if (declared != ElementType::BF16 || tensor.elem() != ElementType::U16) return tensor;
  auto bytes = tensor.bytes();
  return Tensor({declared, tensor.shape()},
                std::string(reinterpret_cast<const char*>(bytes.data()), bytes.size()));
}

Result<Tensor> read_tensor(const Case& c, std::string_view kind, size_t file, ir::ValueId value) {
  MRVLC_ASSIGN(Tensor tensor, onnx::read_tensor_pb(data_file(c, kind, file)));
  return as_declared(std::move(tensor), c.model->graph.value(value).type.elem);
}

bool asks_for_constants(const Case& c) {
  const Diag* error = first_error(c);
  return error != nullptr && error->code == DiagCode::MRV0207;
}

// Imports with the inputs from `first` on as constants; false when a file cannot be read.
bool import_bound(Case& c, size_t first) {
  c.diagnostics = {};
  c.inputs.clear();
  c.bound = true;
  ::onnx::ModelProto proto;
  if (!read_message(c.folder / "model.onnx", proto)) return false;
  auto& graph = *proto.mutable_graph();
  for (int i = 0; i < graph.input_size(); ++i) {
    const auto file = static_cast<size_t>(i);
    if (file < first) {
      c.inputs.push_back(file);
      continue;
    }
    auto& constant = *graph.add_initializer();
    if (!read_message(data_file(c, "input", file), constant)) return false;
    constant.set_name(graph.input(i).name());
  }
  c.model = onnx::import_bytes(proto.SerializeAsString(), c.folder, {}, c.diagnostics);
  return true;
}

}  // namespace

std::vector<fs::path> cases_in(std::string_view suite) {
  std::vector<fs::path> cases;
  std::error_code ec;
  for (const auto& entry : fs::directory_iterator(data_folder() / suite, ec)) {
    if (fs::exists(entry.path() / "model.onnx")) cases.push_back(entry.path());
  }
  std::sort(cases.begin(), cases.end());
  return cases;
}

Case load_case(const fs::path& folder) {
  Case c;
  c.folder = folder;
  c.shown = folder.lexically_relative(data_folder()).string();
  c.model = onnx::import_file(folder / "model.onnx", {}, c.diagnostics);
  for (size_t i = 0; c.model && i < c.model->graph.inputs().size(); ++i) c.inputs.push_back(i);
  for (size_t first : {size_t{1}, size_t{0}}) {
    if (asks_for_constants(c) && !import_bound(c, first)) break;
  }
  return c;
}

const Diag* first_error(const Case& c) {
  const auto& list = c.diagnostics.list();
  auto it =
      std::find_if(list.begin(), list.end(), [](const Diag& d) { return d.severity() == Severity::Error; });
  return it == list.end() ? nullptr : &*it;
}

bool is_excluded(const Case& c) {
  const auto& sources = c.model->graph.sources();
  return contains(kUnfit, c.shown) ||
         std::any_of(sources.begin(), sources.end(),
                     [](const ir::Source& source) { return contains(kRandom, source.op_type); });
}

Result<std::vector<Tensor>> read_inputs(const Case& c) {
  const ir::Graph& graph = c.model->graph;
  std::vector<Tensor> inputs;
  for (size_t i = 0; i < graph.inputs().size(); ++i) {
    MRVLC_ASSIGN(Tensor tensor, read_tensor(c, "input", c.inputs[i], graph.inputs()[i]));
    inputs.push_back(std::move(tensor));
  }
  return inputs;
}

Result<std::string> check_outputs(const Case& c, const std::vector<Tensor>& actual) {
  for (size_t i = 0; i < actual.size(); ++i) {
    MRVLC_ASSIGN(Tensor expected, read_tensor(c, "output", i, c.model->graph.outputs()[i]));
    if (std::string text = difference(actual[i], expected); !text.empty())
      return fmt::format("output {}: {}", i, text);
  }
  return std::string();
}

}  // namespace mrvlc::test
