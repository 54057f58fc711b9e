// Recorded cases of operators of com.microsoft, each a model that holds its inputs and what ONNX Runtime made
// of them (scripts/contrib_cases.py), through the importer and the reference.
#include <algorithm>
#include <cmath>
#include <filesystem>
#include <fstream>
#include <sstream>

#include "model_util.h"
#include "mrvlc/interp/interp.h"
#include "paths.h"

namespace mrvlc::test {
namespace {

struct RecordedCase {
  pb::ModelProto model;
  std::map<std::string, pb::TensorProto> given, expected;
  onnx::ImportOptions options;
  double tolerance = 0, steps = 0;
};

// Takes what belongs to the case out of the model.
RecordedCase read_case(const std::filesystem::path& file) {
  RecordedCase c;
  std::ifstream in(file, std::ios::binary);
  std::ostringstream bytes;
  bytes << in.rdbuf();
  REQUIRE(c.model.ParseFromString(bytes.str()));
  auto& tensors = *c.model.mutable_graph()->mutable_initializer();
  for (int k = tensors.size() - 1; k >= 0; --k) {
    const std::string name = tensors[k].name(), kind = name.substr(0, name.find(':') + 1);
    if (kind != "given:" && kind != "expected:") continue;
    auto& into = kind == "given:" ? c.given : c.expected;
    into[name.substr(kind.size())] = tensors[k];
    tensors.DeleteSubrange(k, 1);
  }
  for (const auto& property : c.model.metadata_props()) {
    const std::string key = property.key().substr(property.key().find(':') + 1);
    if (key == "tolerance") {
      c.tolerance = std::stod(property.value());
    } else if (key == "steps") {
      c.steps = std::stod(property.value());
    } else {
      c.options.input_shapes[key] = *onnx::parse_given_shape(property.value());
    }
  }
  return c;
}

Tensor tensor_of(pb::TensorProto proto) {
  Shape shape(proto.dims().begin(), proto.dims().end());
  Tensor tensor(TensorType{*element_type_from_onnx(proto.data_type()), shape});
  // The reader of files is the importer's: a constant of a model.
  pb::ModelProto model = empty_model();
  proto.set_name("c");
  *model.mutable_graph()->add_initializer() = proto;
  add_node(model, "Identity", {"c"}, {"y"});
  model.mutable_graph()->add_output()->set_name("y");
  Outcome outcome = import(model);
  check_imported(outcome);
  return (*interp::run(outcome.model->graph, {}))[0];
}

void check_close(const RecordedCase& c, const Tensor& got, const Tensor& right) {
  REQUIRE(got.elem() == right.elem());
  REQUIRE(got.shape() == right.shape());
  const auto a = got.to_doubles(), b = right.to_doubles();
  size_t far = 0;
  for (size_t i = 0; i < a.size(); ++i)
    far += !(std::abs(a[i] - b[i]) <= c.steps + c.tolerance * std::max(1.0, std::abs(b[i])));
  CHECK(far == 0);
}

void run_case(const std::filesystem::path& file) {
  INFO(file.stem().string());
  RecordedCase c = read_case(file);
  Outcome outcome = import(c.model, c.options);
  check_imported(outcome);
  const ir::Graph& graph = outcome.model->graph;
  std::vector<Tensor> inputs;
  for (ir::ValueId in : graph.inputs()) inputs.push_back(tensor_of(c.given.at(graph.value(in).name)));
  auto results = interp::run(graph, inputs);
  INFO((results.ok() ? std::string() : results.error().message));
  REQUIRE(results.ok());
  for (size_t k = 0; k < graph.outputs().size(); ++k) {
    const std::string& name = graph.value(graph.outputs()[k]).name;
    INFO(name);
    if (c.expected.count(name) != 0) check_close(c, (*results)[k], tensor_of(c.expected.at(name)));
  }
}

}  // namespace

TEST_CASE("operators of com.microsoft compute what ONNX Runtime does", "[onnx]") {
  std::vector<std::filesystem::path> files;
  for (const auto& entry : std::filesystem::directory_iterator(MRVLC_SOURCE_DIR "/test/onnx/contrib"))
    files.push_back(entry.path());
  std::sort(files.begin(), files.end());
  CHECK(files.size() > 150);
  for (const auto& file : files) run_case(file);
}

}  // namespace mrvlc::test
