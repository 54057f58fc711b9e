// ONNX's own conformance cases, where they are installed: each model is refused with a code, or the reference
// interpreter computes the expected outputs.
#include <fmt/format.h>
#include <onnx/onnx.pb.h>

#include <algorithm>
#include <catch2/catch.hpp>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iostream>

#include "compare.h"
#include "mrvlc/interp/interp.h"
#include "mrvlc/onnx/importer.h"

namespace mrvlc::test {
namespace fs = std::filesystem;

namespace {

// MRVLC_ONNX_TESTDATA names another release's folder of node, simple and so on.
fs::path data_folder() {
  const char* given = std::getenv("MRVLC_ONNX_TESTDATA");
  return given != nullptr ? given : "/usr/share/libonnx-testdata/data";
}

template <class Message>
bool read_message(const fs::path& path, Message& message) {
  std::ifstream file(path, std::ios::binary);
  return file && message.ParseFromIstream(&file);
}

// Operators whose expected outputs are one draw of a random generator that ONNX does not define.
constexpr std::string_view kRandom[] = {"Bernoulli",        "Multinomial",   "RandomNormal",
                                        "RandomNormalLike", "RandomUniform", "RandomUniformLike"};

// Cases whose data contradict their models: `like` has the shape [1] in one and [3,4] in the other.
constexpr std::string_view kUnfit[] = {"node/test_castlike_FLOAT_to_BFLOAT16_expanded",
                                       "node/test_castlike_BFLOAT16_to_FLOAT_expanded"};

struct Tally {
  int passed = 0, bound = 0, wrong = 0, excluded = 0;
  std::map<std::string, int> refused;  // by code

  void add(const Tally& other);
};

void Tally::add(const Tally& other) {
  passed += other.passed;
  bound += other.bound;
  wrong += other.wrong;
  excluded += other.excluded;
  for (const auto& [code, count] : other.refused) refused[code] += count;
}

template <class List>
bool contains(const List& list, std::string_view text) {
  return std::find(std::begin(list), std::end(list), text) != std::end(list);
}

struct Case {
  std::string shown;
  fs::path folder;
  std::optional<onnx::Model> model;
  Diagnostics diagnostics;
  std::vector<size_t> inputs;  // files of the graph's inputs
};

std::vector<fs::path> cases_in(const fs::path& folder) {
  std::vector<fs::path> cases;
  std::error_code ec;
  for (const auto& entry : fs::directory_iterator(folder, ec)) {
    if (fs::exists(entry.path() / "model.onnx")) cases.push_back(entry.path());
  }
  std::sort(cases.begin(), cases.end());
  return cases;
}

// The files of this release hold bfloat16 as its bits in uint16.
Tensor as_declared(Tensor tensor, ElementType declared) {
  if (declared != ElementType::BF16 || tensor.elem() != ElementType::U16) return tensor;
  auto bytes = tensor.bytes();
  return Tensor({declared, tensor.shape()},
                std::string(reinterpret_cast<const char*>(bytes.data()), bytes.size()));
}

Result<Tensor> read_tensor(const Case& c, std::string_view kind, size_t file, ir::ValueId value) {
  MRVLC_ASSIGN(Tensor tensor,
               onnx::read_tensor_pb(c.folder / "test_data_set_0" / fmt::format("{}_{}.pb", kind, file)));
  return as_declared(std::move(tensor), c.model->graph.value(value).type.elem);
}

// Says what is wrong; empty when nothing is.
Result<std::string> check_outputs(const Case& c) {
  const ir::Graph& graph = c.model->graph;
  std::vector<Tensor> inputs;
  for (size_t i = 0; i < graph.inputs().size(); ++i) {
    MRVLC_ASSIGN(Tensor tensor, read_tensor(c, "input", c.inputs[i], graph.inputs()[i]));
    inputs.push_back(std::move(tensor));
  }
  MRVLC_ASSIGN(auto actual, interp::run(graph, inputs));
  for (size_t i = 0; i < actual.size(); ++i) {
    MRVLC_ASSIGN(Tensor expected, read_tensor(c, "output", i, graph.outputs()[i]));
    if (std::string text = difference(actual[i], expected); !text.empty())
      return fmt::format("output {}: {}", i, text);
  }
  return std::string();
}

const Diag* first_error(const Diagnostics& diagnostics) {
  const auto& list = diagnostics.list();
  auto it =
      std::find_if(list.begin(), list.end(), [](const Diag& d) { return d.severity() == Severity::Error; });
  return it == list.end() ? nullptr : &*it;
}

bool asks_for_constants(const Case& c) {
  const Diag* error = first_error(c.diagnostics);
  return error != nullptr && error->code == DiagCode::MRV0207;
}

void import_case(Case& c) {
  c.model = onnx::import_file(c.folder / "model.onnx", {}, c.diagnostics);
  if (!c.model) return;
  for (size_t i = 0; i < c.model->graph.inputs().size(); ++i) c.inputs.push_back(i);
}

// Imports with the inputs from `first` on as constants of the test data. Many cases give shapes, axes and the
// like at run time, where a compiler asks for constants; so their arithmetic is tested all the same.
void import_bound(Case& c, int first) {
  c.model.reset();
  c.diagnostics = {};
  c.inputs.clear();
  ::onnx::ModelProto proto;
  REQUIRE(read_message(c.folder / "model.onnx", proto));
  auto& graph = *proto.mutable_graph();
  for (int i = 0; i < graph.input_size(); ++i) {
    if (i < first) {
      c.inputs.push_back(static_cast<size_t>(i));
      continue;
    }
    auto& constant = *graph.add_initializer();
    REQUIRE(read_message(c.folder / "test_data_set_0" / fmt::format("input_{}.pb", i), constant));
    constant.set_name(graph.input(i).name());
  }
  c.model = onnx::import_bytes(proto.SerializeAsString(), c.folder, {}, c.diagnostics);
}

void count_refusal(const Case& c, Tally& tally) {
  const Diag* error = first_error(c.diagnostics);
  REQUIRE(error != nullptr);
  CHECK(error->exit_class() != ExitClass::Internal);
  ++tally.refused[std::string(diag_info(error->code).name)];
  if (std::getenv("MRVLC_TEST_VERBOSE") != nullptr) std::cout << format_diag(c.shown, *error) << "\n";
}

bool draws_numbers(const ir::Graph& graph) {
  return std::any_of(graph.sources().begin(), graph.sources().end(),
                     [](const ir::Source& source) { return contains(kRandom, source.op_type); });
}

void check_case(const fs::path& folder, Tally& tally) {
  Case c;
  c.folder = folder;
  c.shown = folder.lexically_relative(data_folder()).string();
  INFO(c.shown);
  import_case(c);
  const bool bound = asks_for_constants(c);
  for (int first : {1, 0}) {
    if (asks_for_constants(c)) import_bound(c, first);
  }
  if (!c.model) return count_refusal(c, tally);
  if (draws_numbers(c.model->graph) || contains(kUnfit, c.shown)) {
    ++tally.excluded;
    return;
  }
  auto outcome = check_outputs(c);
  std::string wrong = outcome.ok() ? *outcome : format_diag(c.shown, outcome.error());
  ++(!wrong.empty() ? tally.wrong : bound ? tally.bound : tally.passed);
  INFO(wrong);
  CHECK(wrong.empty());
}

void print_summary(std::string_view suite, const Tally& tally) {
  int refused = 0;
  std::string codes;
  for (const auto& [code, count] : tally.refused) {
    refused += count;
    codes += fmt::format(" {} {}", code, count);
  }
  std::cout << fmt::format(
      "{}: {} passed, {} passed with inputs as constants, {} wrong, {} excluded, {} refused{}{}\n", suite,
      tally.passed, tally.bound, tally.wrong, tally.excluded, refused, codes.empty() ? "" : ":", codes);
}

}  // namespace

TEST_CASE("ONNX's conformance cases", "[conformance]") {
  Tally tally;
  for (const char* suite : {"node", "simple", "pytorch-converted", "pytorch-operator"}) {
    Tally part;
    for (const fs::path& path : cases_in(data_folder() / suite)) check_case(path, part);
    print_summary(suite, part);
    tally.add(part);
  }
  print_summary("all", tally);
  // A table that refuses everything would be wrong nowhere.
  if (fs::exists(data_folder() / "node")) CHECK(tally.passed + tally.bound > 750);
}

}  // namespace mrvlc::test
