// The tables of members against docs/schemas, both ways; and what is said of files that are not as they say.
#include <catch2/catch.hpp>
#include <filesystem>
#include <fstream>
#include <map>
#include <sstream>

#include "batch/record.h"
#include "diff/found.h"
#include "model/placement_table.h"
#include "mrvlc/idmap/map.h"
#include "output/memory_json.h"
#include "paths.h"

using namespace mrvlc;
using namespace mrvlc::driver;

namespace {

using Names = std::map<std::string, bool>;  // whether they may be absent

std::string text_of(const std::filesystem::path& file) {
  std::ostringstream text;
  text << std::ifstream(file).rdbuf();
  return text.str();
}

// Members of a schema by their paths; of alternatives all, and those that one lacks may be absent.
void add_schema(const json::Json& schema, const std::string& path, Names& names) {
  if (schema.contains("items")) add_schema(schema["items"], path + "[]", names);
  if (schema.contains("oneOf")) {
    std::map<std::string, size_t> required;
    for (const json::Json& one : schema["oneOf"]) {
      Names of_one;
      add_schema(one, path, of_one);
      for (const auto& [name, absent] : of_one) names[name] = true, required[name] += !absent;
    }
    for (const auto& [name, times] : required) names[name] = times < schema["oneOf"].size();
  }
  if (!schema.contains("properties")) return;
  for (const auto& [key, value] : schema["properties"].items()) {
    const std::string name = path.empty() ? key : path + "." + key;
    const json::Json required = schema.value("required", json::Json::array());
    names[name] = std::find(required.begin(), required.end(), key) == required.end();
    add_schema(value, name, names);
  }
}

template <class T>
void check_table(const std::string& file) {
  Names schema, table;
  add_schema(json::Json::parse(text_of(MRVLC_SOURCE_DIR "/docs/schemas/" + file + ".schema.json")), "",
             schema);
  for (const auto& [name, absent] : json::NameList::of<T>()) table[name] = absent;
  INFO(file);
  for (const auto& [name, absent] : table) {
    INFO(name);
    REQUIRE(schema.contains(name));
    CHECK(schema[name] == absent);
  }
  for (const auto& [name, absent] : schema) {
    INFO(name);
    CHECK(table.contains(name));
  }
}

Report example() {
  Report r;
  r.model.name = "m";
  r.regions.resize(2);
  r.regions[1].in.resize(1);
  r.regions[1].in[0].value = "x";
  r.gates = {{"--max-cycles", int64_t{7}, {}, false}};
  return r;
}

std::string fault_of(const json::Json& changed) {
  Report read;
  json::Fault fault;
  return json::read(changed, read, fault) ? "" : fault.where + " " + std::string(fault.what);
}

}  // namespace

TEST_CASE("what is written and read is what the schemas name") {
  check_table<Report>("report");
  check_table<PlacementTable>("placement");
  check_table<idmap::Map>("idmap");
  check_table<idmap::MergedMaps>("idmaps");
  check_table<MemoryFile>("memory");
  check_table<DiffFound>("diff");
}

TEST_CASE("a report is read as it was written") {
  const Report r = example();
  const json::Json tree = json::tree(r);
  const auto read = json::parsed<Report>(tree);
  REQUIRE(read);
  CHECK(json::tree(*read) == tree);
  CHECK_FALSE(tree.contains("quantization"));
  CHECK(tree["gates"][0]["value"].is_null());
  CHECK(tree["expected"]["seconds_device"].is_null());
  CHECK(tree["regions"][0]["seconds"].dump() == "0.0");  // a number of that kind, whatever its value
}

TEST_CASE("each member that is missing is named") {
  const json::Json whole = json::tree(example());
  for (const auto& [name, absent] : json::NameList::of<Report>()) {
    if (name.find('.') != name.npos || name.find('[') != name.npos) continue;
    json::Json changed = whole;
    if (changed.erase(name) == 0) continue;
    INFO(name);
    CHECK(fault_of(changed) == (absent || name == "schema" ? "" : name + " is missing"));
  }
}

TEST_CASE("a member of another type is named with its place") {
  const json::Json whole = json::tree(example());
  const auto with = [&](const char* pointer, json::Json value) {
    json::Json changed = whole;
    changed[json::Json::json_pointer(pointer)] = std::move(value);
    return fault_of(changed);
  };
  CHECK(with("/regions/1/in/0/bytes", "4") == "regions[1].in[0].bytes is no whole number");
  CHECK(with("/regions/1/id", -1) == "regions[1].id is out of range");
  CHECK(with("/regions/1/id", 1.5) == "regions[1].id is no whole number");
  CHECK(with("/host/nodes", 3) == "host.nodes is no list");
  CHECK(with("/host", json::Json::array()) == "host is no object");
  CHECK(with("/model/name", nullptr) == "model.name is no text");
  CHECK(with("/partition/seconds", nullptr) == "partition.seconds is no number");
  CHECK(with("/gates/0/passed", 0) == "gates[0].passed is neither true nor false");
  CHECK(with("/schema", "mrvlc-report-2") == "schema names another form of file");
  // Of a newer version, and of an older one.
  CHECK(with("/regions/1/later", 1).empty());
  json::Json older = whole;
  older["host"].erase("winograd");
  CHECK(fault_of(older).empty());
  CHECK_FALSE(json::parsed<Report>(json::Json()));
}

TEST_CASE("texts of a file cannot move the cursor of a terminal") {
  json::Json tree = json::tree(example());
  tree["model"]["name"] = "a\x1b[2Jb";
  tree["model"]["metadata"] = {{"key\n", "line\nline\x07"}};
  const auto read = json::parsed<Report>(tree);
  REQUIRE(read);
  CHECK(read->model.name == "a\\x1b[2Jb");
  CHECK(read->model.metadata->front().first == "key\\x0a");
  CHECK(read->model.metadata->front().second.text == "line\nline\\x07");
}

TEST_CASE("a record of a batch is read as it was written") {
  BatchRecord r;
  r.asked = "a";
  r.files = {{"model", "/tmp/m.onnx", "", "00", 7, 9}};
  r.totals = {{"cycles", json::Number(int64_t{5})}, {"expected_error", std::nullopt}, {"seconds", 0.5}};
  r.from = BatchModel::From::Cache;
  const auto read = parse_record(json::document(r));
  REQUIRE(read);
  CHECK(json::document(*read) == json::document(r));
  CHECK_FALSE(parse_record("{}"));
  CHECK_FALSE(parse_record("not JSON"));
}
