// What a compile read: dependency file, manifest, and the hash a model is known by.
#include <catch2/catch.hpp>
#include <cstring>
#include <fstream>
#include <nlohmann/json.hpp>

#include "../../onnx/model_util.h"
#include "mrvlc/driver/driver.h"
#include "mrvlc/support/hash.h"
#include "paths.h"
#include "support/commands.h"

using namespace mrvlc;
using namespace mrvlc::test;
namespace fs = std::filesystem;
using Json = nlohmann::ordered_json;

namespace {

std::string floats(float first, float second) {
  const float values[] = {first, second};
  return {reinterpret_cast<const char*>(values), sizeof values};
}

// y = x + a + b, a and b in files of their own, written in this order.
pb::ModelProto external_model(const std::vector<std::string>& locations) {
  pb::ModelProto model = empty_model();
  add_input(model, "x", {2});
  std::string last = "x";
  for (const std::string& location : locations) {
    auto* t = model.mutable_graph()->add_initializer();
    t->set_name(location);
    t->set_data_type(pb::TensorProto::FLOAT);
    t->add_dims(2);
    t->set_data_location(pb::TensorProto::EXTERNAL);
    auto* entry = t->add_external_data();
    entry->set_key("location");
    entry->set_value(location);
    add_node(model, "Add", {last, location}, {"sum_" + location}).set_name("add_" + location);
    last = "sum_" + location;
  }
  add_output(model, last, {2});
  return model;
}

// A folder with such a model, rules and a target of its own.
class Project {
 public:
  Project() {
    dir_.write("m.onnx", external_model({"z.bin", "sub/a.bin"}).SerializeAsString());
    fs::create_directories(path() / "sub");
    fs::create_directories(path() / "targets" / "mine");
    dir_.write("z.bin", floats(1, 2));
    dir_.write("sub/a.bin", floats(3, 4));
    dir_.write("my.rules", "# nothing\n");
    std::string json = slurp(fs::path(MRVLC_SOURCE_DIR) / "lib/target/cn10ka/target.json");
    json.replace(json.find("\"cn10ka\""), 8, "\"mine\"");
    dir_.write("targets/mine/target.json", json);
  }
  const fs::path& path() const { return dir_.path(); }
  void write(const std::string& name, const std::string& bytes) const { dir_.write(name, bytes); }

  driver::CompileOptions options() const {
    driver::CompileOptions o;
    o.model = path() / "m.onnx";
    o.out = path() / "out";
    o.rules = {path() / "my.rules"};
    o.targets = {"mine"};
    o.target_dirs = {path() / "targets"};
    o.depfile.file = path() / "dep.d";
    return o;
  }
  std::string compile(const driver::CompileOptions& options) const {
    Diagnostics diagnostics;
    bool ok = driver::compile(options, diagnostics, [](const std::string&) {});
    return ok ? "" : std::string(diag_info(diagnostics.list().back().code).name);
  }
  Json manifest() const { return Json::parse(slurp(path() / "out" / "manifest.json")); }

 private:
  TempDir dir_;
};

std::string line(const std::string& bytes, const std::string& name) {
  return sha256_hex(bytes) + "  " + name + "\n";
}

}  // namespace

TEST_CASE("the manifest has every file that was read, with its hash") {
  Project p;
  REQUIRE(p.compile(p.options()).empty());
  const std::string model = slurp(p.path() / "m.onnx");
  const Json expected = {
      {{"kind", "model"}, {"sha256", sha256_hex(model)}},
      {{"kind", "external_data"}, {"file", "sub/a.bin"}, {"sha256", sha256_hex(floats(3, 4))}},
      {{"kind", "external_data"}, {"file", "z.bin"}, {"sha256", sha256_hex(floats(1, 2))}},
      {{"kind", "rules"}, {"file", "my.rules"}, {"sha256", sha256_hex(std::string_view("# nothing\n"))}},
      {{"kind", "target"},
       {"file", "mine/target.json"},
       {"sha256", sha256_hex(slurp(p.path() / "targets/mine/target.json"))}}};
  CHECK(p.manifest()["read"] == expected);
}

TEST_CASE("a host model is among what was read") {
  Project p;
  driver::CompileOptions o = p.options();
  o.host_model = fs::path(MRVLC_SOURCE_DIR) / "lib/partition/host_model.json";
  REQUIRE(p.compile(o).empty());
  const Json expected = {
      {"kind", "host_model"}, {"file", "host_model.json"}, {"sha256", sha256_hex(slurp(o.host_model))}};
  const Json read = p.manifest()["read"];
  CHECK(std::ranges::count(read, expected) == 1);
}

TEST_CASE("the hash of a model with external data is that of the list of its files") {
  Project p;
  REQUIRE(p.compile(p.options()).empty());
  const std::string model = slurp(p.path() / "m.onnx");
  const std::string before = p.manifest()["model"]["sha256"];
  CHECK(before ==
        sha256_hex(line(model, "-") + line(floats(3, 4), "sub/a.bin") + line(floats(1, 2), "z.bin")));
  std::string said;
  REQUIRE(shell(p.path(), "(sha256sum <m.onnx; sha256sum sub/a.bin z.bin) | sha256sum", &said) == 0);
  CHECK(said.starts_with(before));
  p.write("z.bin", floats(1, 3));
  REQUIRE(p.compile(p.options()).empty());
  CHECK(p.manifest()["model"]["sha256"] != before);
  CHECK(Json::parse(slurp(p.path() / "out/report.json"))["model"]["sha256"] ==
        p.manifest()["model"]["sha256"]);
}

TEST_CASE("the hash of a model in one file is that of the file") {
  TempDir dir;
  driver::CompileOptions o;
  dir.write("m.onnx", relu_model().SerializeAsString());
  o.model = dir.path() / "m.onnx";
  o.out = dir.path() / "out";
  Diagnostics diagnostics;
  REQUIRE(driver::compile(o, diagnostics, [](const std::string&) {}));
  Json manifest = Json::parse(slurp(o.out / "manifest.json"));
  CHECK(manifest["model"]["sha256"] == sha256_hex(slurp(o.model)));
  CHECK(manifest["read"].size() == 1);
}

TEST_CASE("make compiles again when any file that was read has changed, and only then") {
  Project p;
  if (!have_tool("make")) {
    WARN("skipped: make is not installed");
    return;
  }
  p.write("Makefile", "-include dep.d\nout/manifest.json:\n\t" MRVLC_BINARY_DIR
                      "/bin/mrvlc -q compile m.onnx -o out @rules.txt --target mine --target-dir "
                      "targets -MF dep.d -MP\n");
  p.write("rules.txt", "--rules my.rules");
  p.write("mrvlc.json", R"({"compile": {"tiles": 2}})");
  must_run(p.path(), "make out/manifest.json");
  must_run(p.path(), "make -q out/manifest.json");
  for (const char* file :
       {"m.onnx", "z.bin", "sub/a.bin", "my.rules", "targets/mine/target.json", "rules.txt", "mrvlc.json"}) {
    INFO(file);
    must_run(p.path(), std::string("touch -d '+1 hour' ") + file);
    must_run(p.path(), "make -q out/manifest.json; test $? = 1");
    must_run(p.path(), std::string("touch -d '-1 hour' ") + file);
    must_run(p.path(), "make -q out/manifest.json");
  }
  // -MP: a file that is gone is made again, by the compile that then says so, instead of "No rule to make".
  must_run(p.path(), "rm my.rules");
  std::string said;
  CHECK(shell(p.path(), "make out/manifest.json", &said) != 0);
  CHECK(said.find("cannot open 'my.rules'") != std::string::npos);
}

TEST_CASE("make builds again what make could take for something else") {
  Project p;
  if (!have_tool("make")) {
    WARN("skipped: make is not installed");
    return;
  }
  const std::string mrvlc = MRVLC_BINARY_DIR "/bin/mrvlc -q compile ";
  for (const std::string name : {"epoch=5-step=100", "a%b", "a\tb", "=", "a:b", "a$b"}) {
    INFO(name);
    p.write(name + ".onnx", relu_model().SerializeAsString());
    p.write("build.sh", mrvlc + "'" + name + ".onnx' --name m -o o -MF d.d -MT stamp && touch stamp");
    p.write("Makefile", "stamp:\n\tsh build.sh\n-include d.d\n");
    must_run(p.path(), "rm -f stamp d.d; make stamp && make -q stamp");
    must_run(p.path(), "touch -d '+1 hour' '" + name + ".onnx'; make -q stamp; test $? = 1");
  }
  // Nothing keeps make from what these say.
  for (const std::string name : {"a;touch PWNED", "a|b"}) {
    INFO(name);
    p.write(name + ".onnx", relu_model().SerializeAsString());
    must_run(p.path(), mrvlc + "'" + name + ".onnx' --name m -o o -MF d.d; test $? = 2");
  }
  p.write("m.onnx", relu_model().SerializeAsString());
  must_run(p.path(), mrvlc + "m.onnx -o o=p -MD; test $? = 2");
  must_run(p.path(), mrvlc + "m.onnx -o o=p -MD -MT stamp");
}

TEST_CASE("targets of the dependency file") {
  Project p;
  driver::CompileOptions o = p.options();
  o.rules.clear();
  o.targets = {"cn10ka"};
  o.target_dirs.clear();
  const std::string root = p.path().string();
  const std::string files = " " + root + "/m.onnx " + root + "/sub/a.bin " + root + "/z.bin\n";
  REQUIRE(p.compile(o).empty());
  CHECK(slurp(o.depfile.file) == root + "/out/manifest.json:" + files);
  o.depfile.targets = {"a.o", "$(B)/b.o"};
  o.depfile.quoted_targets = {"c $#d"};
  REQUIRE(p.compile(o).empty());
  CHECK(slurp(o.depfile.file) == "a.o $(B)/b.o c\\ $$\\#d:" + files);
  o.depfile.targets = {"x"};
  o.depfile.quoted_targets.clear();
  o.depfile.phony = true;
  REQUIRE(p.compile(o).empty());
  CHECK(slurp(o.depfile.file) == "x:" + files + root + "/sub/a.bin:\n" + root + "/z.bin:\n");
  o.depfile.targets = {"x\ny"};
  CHECK(p.compile(o) == "MRV0004");
}

// As gcc quotes them, asked of gcc itself; all names in one run of each.
TEST_CASE("names are quoted for make as gcc does") {
  TempDir dir;
  if (!have_tool("gcc")) {
    WARN("skipped: gcc is not installed");
    return;
  }
  for (const std::string name : {"a b", "a$b", "a#b", "a\tb", "a\\b", "a\\ b", "a%b", "a'b\"c"}) {
    INFO(name);
    dir.write(name + ".c", "");
    dir.write(name + ".onnx", relu_model().SerializeAsString());
    driver::CompileOptions o;
    o.model = name + ".onnx";
    o.out = "out";
    o.depfile.file = "dep.d";
    o.depfile.targets = {"t"};
    fs::current_path(dir.path());
    Diagnostics diagnostics;
    REQUIRE(driver::compile(o, diagnostics, [](const std::string&) {}));
    std::string quoted = name;
    for (size_t at = 0; (at = quoted.find('\'', at)) != std::string::npos; at += 4)
      quoted.replace(at, 1, "'\\''");
    std::string said, ours = slurp("dep.d");
    must_run(dir.path(), "gcc -MM -MT t -MF gcc.d '" + quoted + ".c'");
    said = slurp("gcc.d");
    said.replace(said.rfind(".c"), 2, ".onnx");
    CHECK(ours == said);
    fs::current_path("/");
  }
}

TEST_CASE("external data and rules in the output folder, or as a file that is written, are refused") {
  Project p;
  driver::CompileOptions o = p.options();
  o.timing = p.path() / "z.bin";
  CHECK(p.compile(o) == "MRV0002");
  CHECK(slurp(p.path() / "z.bin") == floats(1, 2));
  o = p.options();
  REQUIRE(p.compile(o).empty());
  fs::create_directories(p.path() / "out");
  p.write("m.onnx", external_model({"out/w.bin"}).SerializeAsString());
  p.write("out/w.bin", floats(5, 6));
  CHECK(p.compile(p.options()) == "MRV0002");
  CHECK(slurp(p.path() / "out/w.bin") == floats(5, 6));
}
