// Hostile files: empty, cut, not protobuf, changed bytes, not regular.
#include <sys/stat.h>

#include "model_util.h"
#include "mrvlc/support/diag/general.h"
#include "mrvlc/support/diag/onnx.h"
#include "mrvlc/support/hash.h"

namespace mrvlc::test {

namespace {

Outcome import_path(const std::filesystem::path& path, const onnx::ImportOptions& options = {}) {
  Outcome outcome;
  outcome.model = onnx::import_file(path, options, outcome.diagnostics);
  return outcome;
}

// Whatever happens, it is a model without errors or an error with a rejecting exit class.
void check_sane(const Outcome& outcome) {
  int exit_code = outcome.diagnostics.exit_code();
  if (outcome.model.has_value() ? exit_code == 0 : exit_code == 1 || exit_code == 4) return;
  FAIL("exit code " << exit_code << "\n" << outcome.text());
}

}  // namespace

TEST_CASE("a file is imported, with its hash", "[onnx]") {
  TempDir dir;
  std::string bytes = relu_model().SerializeAsString();
  dir.write("m.onnx", bytes);
  Outcome outcome = import_path(dir.path() / "m.onnx");
  check_imported(outcome);
  CHECK(outcome.model->sha256 == sha256_hex(bytes));
  CHECK(outcome.model->opset == 17);
  CHECK(outcome.model->ir_version == 8);
  CHECK(import_text(bytes).model->sha256 == outcome.model->sha256);
}

TEST_CASE("files that cannot be read", "[onnx]") {
  TempDir dir;
  check_refused(import_path(dir.path() / "missing.onnx"), DiagCode::MRV0001);
  check_refused(import_path(dir.path()), DiagCode::MRV0003);
  REQUIRE(::mkfifo((dir.path() / "fifo").c_str(), 0600) == 0);
  check_refused(import_path(dir.path() / "fifo"), DiagCode::MRV0003);
  check_refused(import_path("/dev/zero"), DiagCode::MRV0003);
  dir.write("empty.onnx", "");
  check_refused(import_path(dir.path() / "empty.onnx"), DiagCode::MRV0101);
}

TEST_CASE("files over the limit are refused unread", "[onnx]") {
  TempDir dir;
  dir.write("big.onnx", "");
  std::filesystem::resize_file(dir.path() / "big.onnx", uintmax_t{3} << 30);  // sparse: takes no space
  check_refused(import_path(dir.path() / "big.onnx"), DiagCode::MRV0005);
  onnx::ImportOptions options;
  options.max_file_bytes = 10;
  dir.write("m.onnx", relu_model().SerializeAsString());
  check_refused(import_path(dir.path() / "m.onnx", options), DiagCode::MRV0005);
}

TEST_CASE("bytes that are no model", "[onnx]") {
  check_refused(import_text(""), DiagCode::MRV0101);
  check_refused(import_text("this is not a protobuf message"), DiagCode::MRV0101);
  check_refused(import_text(std::string(1000, '\xff')), DiagCode::MRV0101);
  check_refused(import_text(std::string_view("\x3a\xff\xff\xff\xff\x07", 6)),
                DiagCode::MRV0101);  // a graph of 2 GiB - 1
  check_refused(import_text(std::string_view("\x08\x08\x3d\x01\x02\x03\x04", 7)),
                DiagCode::MRV0104);  // graph as fixed32
}

TEST_CASE("graphs nested beyond protobuf's limit", "[onnx]") {
  pb::GraphProto graph;
  for (int i = 0; i < 60; ++i) {
    pb::GraphProto outer;
    auto* attribute = outer.add_node()->add_attribute();
    attribute->mutable_g()->Swap(&graph);
    graph.Swap(&outer);
  }
  pb::ModelProto model = empty_model();
  *model.mutable_graph() = graph;
  check_refused(import(model), DiagCode::MRV0117);  // a limit; the file is not damaged
}

TEST_CASE("cut at every byte", "[onnx]") {
  std::string bytes = conv_model().SerializeAsString();
  for (size_t n = 0; n < bytes.size(); ++n) check_sane(import_text(std::string_view(bytes).substr(0, n)));
}

TEST_CASE("every byte changed", "[onnx]") {
  for (const pb::ModelProto& model : {conv_model(), relu_model()}) {
    const std::string bytes = model.SerializeAsString();
    for (size_t i = 0; i < bytes.size(); ++i) {
      for (int mask : {0x01, 0x02, 0x04, 0x08, 0x10, 0x20, 0x40, 0x80, 0xff}) {
        std::string changed = bytes;
        changed[i] = static_cast<char>(static_cast<unsigned char>(changed[i]) ^ mask);
        check_sane(import_text(changed));
      }
    }
  }
}

TEST_CASE("bytes inserted and removed", "[onnx]") {
  const std::string bytes = conv_model().SerializeAsString();
  for (size_t i = 0; i < bytes.size(); ++i) {
    std::string removed = bytes, inserted = bytes;
    removed.erase(i, 1);
    inserted.insert(i, 1, static_cast<char>(i * 37));
    check_sane(import_text(removed));
    check_sane(import_text(inserted));
  }
}

TEST_CASE("test data tensors", "[onnx]") {
  TempDir dir;
  dir.write("input_0.pb", int64_tensor("t", {2, 2}, {1, -2, 3, 4}).SerializeAsString());
  auto tensor = onnx::read_tensor_pb(dir.path() / "input_0.pb");
  REQUIRE(tensor.ok());
  CHECK(tensor->type() == TensorType{ElementType::I64, {2, 2}});
  CHECK(tensor->to_ints() == std::vector<int64_t>{1, -2, 3, 4});
  dir.write("bad.pb", "\xff\xff");
  CHECK(onnx::read_tensor_pb(dir.path() / "bad.pb").error().code == DiagCode::MRV0101);
  CHECK(onnx::read_tensor_pb(dir.path() / "none.pb").error().code == DiagCode::MRV0001);
}

}  // namespace mrvlc::test
