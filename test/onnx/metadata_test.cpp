// metadata_props as the importer keeps them: once in memory, with those around where a node has none, and
// written again. Field numbers are those of onnx.proto of IR version 10.
#include "mrvlc/ir/metadata.h"

#include "model_util.h"
#include "mrvlc/onnx/exporter.h"

namespace mrvlc::test {
namespace {

constexpr const char* kTrace = "pkg.torch.onnx.stack_trace";

std::string length_field(int number, const std::string& bytes) {
  std::string out;
  const auto varint = [&](size_t n) {
    for (; n > 127; n >>= 7) out += static_cast<char>((n & 127) | 128);
    out += static_cast<char>(n);
  };
  varint(static_cast<size_t>(number) << 3 | 2);
  varint(bytes.size());
  return out + bytes;
}

template <class Message>
void add_property(Message& message, int field, const std::string& key, const std::string& value) {
  message.mutable_unknown_fields()->append(
      length_field(field, length_field(1, key) + length_field(2, value)));
}

std::string trace(int line) {
  return "File \"net.py\", line " + std::to_string(line) + ", in forward\n    return x\n";
}

// x -> Neg -> Neg -> y, both with this text.
pb::ModelProto two_nodes(const std::string& text) {
  pb::ModelProto model = relu_model();
  model.mutable_graph()->clear_node();
  add_property(add_node(model, "Neg", {"x"}, {"t"}), 9, kTrace, text);
  add_property(add_node(model, "Neg", {"t"}, {"y"}), 9, kTrace, text);
  return model;
}

}  // namespace

TEST_CASE("metadata of nodes, model and graph; equal texts are held once", "[onnx]") {
  pb::ModelProto model = two_nodes(trace(12));
  auto& entry = *model.add_metadata_props();
  entry.set_key("author");
  entry.set_value("me");
  add_property(*model.mutable_graph(), 16, "k", "v");
  const Outcome outcome = import(model);
  check_imported(outcome);
  const ir::Graph& graph = outcome.model->graph;
  REQUIRE(graph.sources().size() == 2);
  const auto &a = graph.sources()[0].metadata, &b = graph.sources()[1].metadata;
  REQUIRE((a && b && a->properties.size() == 1));
  CHECK(a->properties[0].first == kTrace);
  CHECK(a->properties[0].second == trace(12));
  CHECK(&a->properties[0].second.str() == &b->properties[0].second.str());
  CHECK(&a->origin.file.str() == &b->origin.file.str());
  CHECK(ir::to_string(a->origin) == "net.py:12");
  REQUIRE(graph.metadata);
  REQUIRE(graph.metadata->parts.size() == 2);
  CHECK(graph.metadata->parts[0].of == "model");
  CHECK(graph.metadata->parts[1].properties[0].second == "v");

  auto bytes = onnx::to_onnx(graph, "1.0");
  REQUIRE(bytes.ok());
  const Outcome again = import_text(*bytes);
  check_imported(again);
  CHECK(ir::to_string(ir::origin_of(again.model->graph.sources()[1])) == "net.py:12");
  CHECK(again.model->graph.metadata->parts.size() == 2);
}

TEST_CASE("a node without metadata has none, and other unknown fields are no metadata", "[onnx]") {
  pb::ModelProto model = relu_model();
  model.mutable_graph()->mutable_node(0)->mutable_unknown_fields()->append(length_field(8, "overload"));
  const Outcome outcome = import(model);
  check_imported(outcome);
  CHECK(outcome.model->graph.sources()[0].metadata == nullptr);
  CHECK(outcome.model->graph.metadata == nullptr);
}

TEST_CASE("malformed metadata is none", "[onnx]") {
  pb::ModelProto model = relu_model();
  model.mutable_graph()->mutable_node(0)->mutable_unknown_fields()->append(length_field(9, "\x0a\x7f!"));
  const Outcome outcome = import(model);
  check_imported(outcome);
  CHECK(outcome.model->graph.sources()[0].metadata == nullptr);
}

TEST_CASE("of a key that is given twice the first counts", "[onnx]") {
  pb::ModelProto model = two_nodes(trace(1));
  add_property(*model.mutable_graph()->mutable_node(0), 9, kTrace, trace(2));
  const Outcome outcome = import(model);
  check_imported(outcome);
  CHECK(ir::origin_of(outcome.model->graph.sources()[0]).line == 1);
  CHECK(outcome.model->graph.sources()[0].metadata->properties.size() == 1);
}

TEST_CASE("a long text is shortened; where it points to is read of the whole", "[onnx]") {
  const std::string text = std::string(1 << 20, ' ') + "\n" + trace(7) + std::string(1 << 20, ' ');
  const Outcome outcome = import(two_nodes(text));
  check_imported(outcome);
  const auto& metadata = *outcome.model->graph.sources()[0].metadata;
  CHECK(metadata.origin.line == 7);
  CHECK(metadata.properties[0].second.str().size() < ir::kMaxPropertyBytes + 100);
}

}  // namespace mrvlc::test
