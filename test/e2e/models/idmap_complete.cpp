#include <catch2/catch.hpp>

#include "mrvlc/idmap/idmap.h"
#include "mrvlc/isa/container.h"
#include "support.h"
#include "zoo.h"

using namespace mrvlc;

namespace {

std::vector<idmap::SectionCounts> counts_of(const std::filesystem::path& out) {
  std::vector<idmap::SectionCounts> counts;
  const auto report = test::read_json(out / "report.json");
  for (const auto& region : report["regions"]) {
    auto binary = isa::read_container(test::slurp(out / region["file"].get<std::string>()));
    REQUIRE(binary.ok());
    counts.push_back({binary->init.size(), binary->main.size(), binary->finish.size()});
  }
  return counts;
}

std::vector<std::string> gaps_of(const test::Json& map, const std::vector<idmap::SectionCounts>& counts) {
  const auto read = json::parsed<idmap::Map>(map);
  REQUIRE(read);
  return idmap::find_gaps(*read, counts);
}

void check_complete(const std::filesystem::path& model, const std::vector<std::string>& targets,
                    const test::ZooModel* zoo = nullptr) {
  driver::CompileOptions c;
  if (zoo != nullptr) test::give_dynamic_shapes(*zoo, c);
  c.model = model;
  c.targets = targets;
  c.out = test::scratch("idmap_" + targets[0] + "_" + model.stem().string());
  std::string errors;
  bool ok = test::compile(c, errors);
  INFO(model.string() << "\n" << errors);
  REQUIRE(ok);
  auto gaps = gaps_of(test::read_json(c.out / "idmap.json"), counts_of(c.out));
  for (const auto& gap : gaps) FAIL_CHECK(gap);
}

}  // namespace

TEST_CASE("the ID map is complete") {
  check_complete(test::own_model("digits/digits.onnx"), {"cn10ka"});
  check_complete(test::own_model("digits/digits.onnx"), {"host"});
  auto data = test::shared_data();
  if (data.empty()) return;
  for (const auto& model : test::kZoo) {
    auto file = data / "zoo" / (std::string(model.name) + ".onnx");
    DYNAMIC_SECTION(model.name << " accelerator") {
      check_complete(file, {"cn10ka"}, &model);
    }
    DYNAMIC_SECTION(model.name << " host") {
      check_complete(file, {"host"}, &model);
    }
  }
}

TEST_CASE("one missing link is found") {
  driver::CompileOptions c;
  c.model = test::own_model("digits/digits.onnx");
  c.out = test::scratch("idmap_mutation");
  std::string errors;
  REQUIRE(test::compile(c, errors));
  const auto map = test::read_json(c.out / "idmap.json");
  const auto counts = counts_of(c.out);
  REQUIRE(gaps_of(map, counts).empty());
  for (const char* table : {"expressions", "instructions", "layers"}) {
    for (size_t i = 0; i < map[table].size(); ++i) {
      auto broken = map;
      broken[table].erase(i);
      INFO(table << " " << i);
      CHECK_FALSE(gaps_of(broken, counts).empty());
    }
  }
  for (size_t i = 0; i < map["sources"].size(); ++i) {
    auto broken = map;
    broken["sources"].erase(i);
    bool used = map["sources"][i]["fate"] != "removed";
    INFO("source " << i);
    if (used) CHECK_FALSE(gaps_of(broken, counts).empty());
  }
  for (size_t i = 0; i < map["expressions"].size(); ++i) {
    auto broken = map;
    broken["expressions"][i]["sources"] = test::Json::array();
    CHECK_FALSE(gaps_of(broken, counts).empty());
  }
}
