// Weights that stay in the file: what is cut out of the message before it is parsed comes back as the same
// tensor.
#include <cstring>

#include "model_util.h"
#include "mrvlc/support/diag/general.h"
#include "mrvlc/support/diag/onnx.h"

namespace mrvlc::test {
namespace {

std::string raw_floats(size_t n) {
  std::string raw(n * sizeof(float), '\0');
  for (size_t i = 0; i < n; ++i) {
    float x = static_cast<float>(i) * 0.25f - 7;
    std::memcpy(raw.data() + i * sizeof x, &x, sizeof x);
  }
  return raw;
}

pb::TensorProto raw_tensor(const std::string& name, const std::vector<int64_t>& dims) {
  pb::TensorProto t;
  t.set_name(name);
  t.set_data_type(pb::TensorProto::FLOAT);
  size_t n = 1;
  for (int64_t d : dims) t.add_dims(d), n *= static_cast<size_t>(d);
  t.set_raw_data(raw_floats(n));
  return t;
}

// Two convolutions with 576 and 1296 bytes of weights as raw data, and a small bias.
pb::ModelProto weighty_model() {
  pb::ModelProto model = empty_model();
  add_input(model, "x", {1, 4, 4, 4});
  add_output(model, "y", {1, 9, 4, 4});
  auto& graph = *model.mutable_graph();
  *graph.add_initializer() = raw_tensor("w1", {4, 4, 3, 3});
  *graph.add_initializer() = raw_tensor("b1", {4});
  *graph.add_initializer() = raw_tensor("w2", {9, 4, 3, 3});
  for (auto [x, w, y] : {std::array{"x", "w1", "t"}, std::array{"t", "w2", "y"}}) {
    auto& node = add_node(model, "Conv", {x, w}, {y});
    if (y == std::string("t")) node.add_input("b1");
    add_ints(node, "pads", {1, 1, 1, 1});
  }
  return model;
}

void check_weights(const Outcome& outcome) {
  check_imported(outcome);
  for (const char* name : {"w1", "b1", "w2"}) {
    const Tensor& t = value_named(outcome.model->graph, name).constant();
    std::string bytes(reinterpret_cast<const char*>(t.bytes().data()), t.bytes().size());
    CHECK((bytes == raw_floats(static_cast<size_t>(t.elements()))));
    CHECK(t.as_double(1) == -6.75);
  }
}

// As a wire-format field: tag, length, payload.
std::string field(int number, const std::string& payload) {
  std::string out(1, static_cast<char>(number << 3 | 2));
  size_t n = payload.size();
  for (; n >= 0x80; n >>= 7) out += static_cast<char>(n | 0x80);
  return out + static_cast<char>(n) + payload;
}

}  // namespace

TEST_CASE("raw data is the same wherever the message is cut", "[onnx]") {
  check_weights(import(weighty_model()));
}

TEST_CASE("raw data of a mapped file, also after the model's other parts are gone", "[onnx]") {
  TempDir dir;
  pb::ModelProto model = weighty_model();
  *model.mutable_graph()->add_initializer() = raw_tensor("large", {300'000});
  dir.write("m.onnx", model.SerializeAsString());
  Outcome outcome;
  outcome.model = onnx::import_file(dir.path() / "m.onnx", {}, outcome.diagnostics);
  check_weights(outcome);
  REQUIRE(outcome.model->files.size() == 1);
  Tensor large = value_named(outcome.model->graph, "large").constant();
  outcome.model.reset();
  CHECK(large.as_double(299'999) == 299'999 * 0.25 - 7);
  CHECK(large.bytes().size() == 1'200'000);
}

TEST_CASE("raw data that does not fit its tensor", "[onnx]") {
  for (int change : {0, 1, 2, 3, 4}) {
    pb::ModelProto model = weighty_model();
    auto& t = *model.mutable_graph()->mutable_initializer(0);
    if (change == 0) t.mutable_raw_data()->pop_back();
    if (change == 1) t.set_dims(0, 5);
    if (change == 2) t.add_float_data(1);
    if (change == 3) t.set_data_type(pb::TensorProto::STRING);
    if (change == 4) t.set_data_location(pb::TensorProto::EXTERNAL);
    INFO("change " << change);
    check_refused(import(model), DiagCode::MRV0120);
  }
}

TEST_CASE("unusual but valid encodings of a model with weights", "[onnx]") {
  pb::ModelProto model = weighty_model();
  const std::string bytes = model.SerializeAsString();
  SECTION("the graph in two parts, which protobuf merges") {
    pb::ModelProto rest = model;
    pb::ModelProto first = empty_model();
    rest.clear_opset_import();
    first.mutable_graph()->mutable_initializer()->Swap(rest.mutable_graph()->mutable_initializer());
    check_weights(import_text(first.SerializeAsString() + rest.SerializeAsString()));
  }
  SECTION("raw data given twice: the last counts") {
    pb::TensorProto w1 = model.graph().initializer(0);
    std::string twice = field(9, std::string(576, 'x')) + w1.SerializeAsString();
    model.mutable_graph()->mutable_initializer()->DeleteSubrange(0, 1);
    std::string graph = model.graph().SerializeAsString() + field(5, twice);
    model.clear_graph();
    check_weights(import_text(model.SerializeAsString() + field(7, graph)));
  }
  SECTION("fields that nobody knows, before and after") {
    check_weights(import_text(field(15, "?") + bytes + field(15, std::string(1000, '?'))));
  }
  SECTION("a group, which ONNX has none of") {
    check_weights(import_text(std::string("\x7b\x7c") + bytes));
  }
  SECTION("a length in more bytes than it needs") {
    std::string graph = model.graph().SerializeAsString();
    model.clear_graph();
    std::string head = field(7, graph);
    head.resize(head.size() - graph.size());
    head.back() = static_cast<char>(head.back() | 0x80);
    check_weights(import_text(model.SerializeAsString() + head + '\0' + graph));
  }
}

// Whatever was changed, it is a model or a refusal, and never one read out of bounds.
TEST_CASE("a model with weights, cut and changed at every byte of its structure", "[onnx]") {
  const std::string bytes = weighty_model().SerializeAsString();
  auto check = [](const Outcome& o) {
    if (o.model.has_value() != (o.diagnostics.exit_code() == 0)) FAIL(o.text());
  };
  for (size_t i = 0; i < bytes.size(); ++i) {
    check(import_text(std::string_view(bytes).substr(0, i)));
    for (int mask : {0x01, 0x08, 0x80, 0xff}) {
      std::string changed = bytes;
      changed[i] = static_cast<char>(static_cast<unsigned char>(changed[i]) ^ mask);
      check(import_text(changed));
    }
  }
}

}  // namespace mrvlc::test
