// External data: where it may lie and what it may be.
#include <sys/stat.h>
#include <unistd.h>

#include <cstring>

#include "model_util.h"
#include "mrvlc/support/diag/onnx.h"

namespace mrvlc::test {
namespace fs = std::filesystem;

namespace {

using Entries = std::vector<std::pair<std::string, std::string>>;

void add_external(pb::ModelProto& model, const std::string& name, int64_t n, const Entries& entries) {
  auto* t = model.mutable_graph()->add_initializer();
  t->set_name(name);
  t->set_data_type(pb::TensorProto::FLOAT);
  t->add_dims(n);
  t->set_data_location(pb::TensorProto::EXTERNAL);
  for (const auto& [key, value] : entries) {
    auto* entry = t->add_external_data();
    entry->set_key(key);
    entry->set_value(value);
  }
}

// A tensor of two floats, in `dir` as the model's folder.
Outcome import_external(const TempDir& dir, const Entries& entries, const onnx::ImportOptions& options = {}) {
  pb::ModelProto model = relu_model();
  add_external(model, "e", 2, entries);
  return import(model, options, dir.path());
}

std::string floats(const std::vector<float>& values) {
  std::string bytes(values.size() * sizeof(float), '\0');
  std::memcpy(bytes.data(), values.data(), bytes.size());
  return bytes;
}

}  // namespace

TEST_CASE("external data beside the model", "[onnx]") {
  TempDir dir;
  dir.write("w.bin", floats({1, 2, 3, 4}));
  Outcome outcome = import_external(dir, {{"location", "w.bin"}, {"offset", "4"}, {"length", "8"}});
  check_imported(outcome);
  CHECK(value_named(outcome.model->graph, "e").constant().to_doubles() == std::vector<double>{2, 3});
  check_imported(import_external(dir, {{"location", "./w.bin"}}));
  fs::create_directory(dir.path() / "sub");
  dir.write("sub/w.bin", floats({8, 9}));
  check_imported(import_external(dir, {{"location", "sub/w.bin"}}));
}

TEST_CASE("external data in the folder of the file, and in an extra one", "[onnx]") {
  TempDir dir, other;
  pb::ModelProto model = relu_model();
  add_external(model, "e", 2, {{"location", "w.bin"}});
  dir.write("m.onnx", model.SerializeAsString());
  other.write("w.bin", floats({1, 2}));
  Outcome missing, there;
  CHECK_FALSE(onnx::import_file(dir.path() / "m.onnx", {}, missing.diagnostics).has_value());
  check_refused(missing, DiagCode::MRV0124);
  CHECK(missing.diagnostics.exit_code() == 3);
  CHECK(missing.diagnostics.list().front().message.find("--external-data-dir") != std::string::npos);
  // What Git-LFS leaves in its place is shorter than the data.
  dir.write("w.bin", "version https://git-lfs.github.com/spec/v1\noid sha256:4d7a\nsize 8000\n");
  pb::ModelProto large = relu_model();
  add_external(large, "e", 2000, {{"location", "w.bin"}});
  const Outcome pointer = import(large, {}, dir.path());
  check_refused(pointer, DiagCode::MRV0124);
  CHECK(pointer.diagnostics.list().front().message.find("git lfs pull") != std::string::npos);
  fs::remove(dir.path() / "w.bin");
  onnx::ImportOptions options;
  options.external_data_dir = other.path();
  there.model = onnx::import_file(dir.path() / "m.onnx", options, there.diagnostics);
  check_imported(there);
}

TEST_CASE("files of a model are in the order of their locations, with the paths they were found at",
          "[onnx]") {
  TempDir dir, other;
  pb::ModelProto model = relu_model();
  for (const char* location : {"z.bin", "sub/a.bin", "b.bin"})
    add_external(model, location, 2, {{"location", location}});
  dir.write("m.onnx", model.SerializeAsString());
  fs::create_directory(dir.path() / "sub");
  for (const char* file : {"z.bin", "sub/a.bin"}) dir.write(file, floats({1, 2}));
  other.write("b.bin", floats({3, 4}));
  onnx::ImportOptions options;
  options.external_data_dir = other.path();
  Outcome outcome;
  outcome.model = onnx::import_file(dir.path() / "m.onnx", options, outcome.diagnostics);
  check_imported(outcome);
  const auto& files = outcome.model->files;
  REQUIRE(files.size() == 4);
  CHECK(files[0].path == dir.path() / "m.onnx");
  CHECK(files[0].location.empty());
  CHECK(files[1].path == other.path() / "b.bin");
  CHECK(files[2].path == dir.path() / "sub/a.bin");
  CHECK(files[3].location == "z.bin");
  // The same message and the same external data, but not read from a file: known by the same hash.
  Outcome bytes = import(model, options, dir.path());
  check_imported(bytes);
  CHECK(bytes.model->sha256 == outcome.model->sha256);
}

TEST_CASE("locations that lead out of the folder", "[onnx]") {
  TempDir outside, dir;
  outside.write("w.bin", floats({1, 2}));
  dir.write("w.bin", floats({1, 2}));
  const std::string out_name = outside.path().filename().string();
  for (const std::string& location :
       {(outside.path() / "w.bin").string(), "../" + out_name + "/w.bin", std::string("x/../w.bin"),
        std::string(".."), std::string("/dev/zero"), std::string("/etc/passwd"),
        std::string("w.bin\0.txt", 10), std::string()}) {
    check_refused(import_external(dir, {{"location", location}}), DiagCode::MRV0123);
  }
  check_refused(import_external(dir, {}), DiagCode::MRV0123);
  fs::create_symlink(outside.path() / "w.bin", dir.path() / "link");
  check_refused(import_external(dir, {{"location", "link"}}), DiagCode::MRV0123);
  fs::create_symlink("w.bin", dir.path() / "inside");
  check_refused(import_external(dir, {{"location", "inside"}}), DiagCode::MRV0123);
  fs::create_directory_symlink(outside.path(), dir.path() / "parent");
  check_refused(import_external(dir, {{"location", "parent/w.bin"}}), DiagCode::MRV0123);
  fs::create_hard_link(outside.path() / "w.bin", dir.path() / "hard");
  check_refused(import_external(dir, {{"location", "hard"}}), DiagCode::MRV0123);
}

TEST_CASE("locations that are no regular file", "[onnx]") {
  TempDir dir;
  REQUIRE(::mkfifo((dir.path() / "fifo").c_str(), 0600) == 0);
  check_refused(import_external(dir, {{"location", "fifo"}}), DiagCode::MRV0123);
  fs::create_directory(dir.path() / "folder");
  check_refused(import_external(dir, {{"location", "folder"}}), DiagCode::MRV0123);
  check_refused(import_external(dir, {{"location", "."}}), DiagCode::MRV0123);
  check_refused(import_external(dir, {{"location", "none"}}), DiagCode::MRV0124);
}

TEST_CASE("offsets and lengths", "[onnx]") {
  TempDir dir;
  dir.write("w.bin", floats({1, 2, 3}));
  for (const char* offset :
       {"-4", "5", "8", "99999999999999999999", "9223372036854775807", "four", "", "4 ", "0x4"}) {
    check_refused(import_external(dir, {{"location", "w.bin"}, {"offset", offset}}), DiagCode::MRV0123);
  }
  for (const char* length : {"-8", "4", "12", "0", "9223372036854775807", "18446744073709551615"}) {
    check_refused(import_external(dir, {{"location", "w.bin"}, {"length", length}}), DiagCode::MRV0123);
  }
  check_imported(import_external(dir, {{"location", "w.bin"}, {"offset", "4"}}));
}

TEST_CASE("ranges are shared whole or not at all", "[onnx]") {
  TempDir dir;
  dir.write("w.bin", floats({1, 2, 3, 4}));
  pb::ModelProto model = relu_model();
  add_external(model, "a", 2, {{"location", "w.bin"}});
  add_external(model, "b", 2, {{"location", "w.bin"}});
  add_external(model, "c", 2, {{"location", "w.bin"}, {"offset", "8"}});
  check_imported(import(model, {}, dir.path()));
  add_external(model, "d", 2, {{"location", "w.bin"}, {"offset", "4"}});
  check_refused(import(model, {}, dir.path()), DiagCode::MRV0123);
}

TEST_CASE("external data and data in the model at once", "[onnx]") {
  TempDir dir;
  dir.write("w.bin", floats({1, 2}));
  pb::ModelProto model = relu_model();
  add_external(model, "e", 2, {{"location", "w.bin"}});
  model.mutable_graph()->mutable_initializer(0)->set_raw_data(floats({1, 2}));
  check_refused(import(model, {}, dir.path()), DiagCode::MRV0120);
}

}  // namespace mrvlc::test
