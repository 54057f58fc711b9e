// The ID map of models whose lineage is known: exact lines, both directions.
#include "compiled.h"
#include "mrvlc/idmap/idmap.h"
#include "mrvlc/idmap/select.h"

using namespace mrvlc;
using test::Json;

namespace {

Result<std::string> text_of(const Json& map, const idmap::Query& query) {
  const auto read = json::parsed<idmap::Map>(map);
  REQUIRE(read);
  return idmap::text_of(*read, query);
}

const Json& source(const Json& map, const std::string& name) {
  return test::with(map["sources"], "name", name);
}

std::vector<std::string> lines_of(const std::string& text) {
  std::vector<std::string> lines = {""};  // counted from 1
  for (size_t at = 0; at < text.size();) {
    const size_t end = std::min(text.find('\n', at), text.size());
    lines.push_back(text.substr(at, end - at));
    at = end + 1;
  }
  return lines;
}

std::string range_line(const Json& i) {
  return fmt::format("instructions region {} {} [{}, {})\n", i["region"].get<int>(),
                     i["section"].get<std::string>(), i["begin"].get<int>(), i["end"].get<int>());
}

}  // namespace

TEST_CASE("a merged expression names what it was made of") {
  auto c = test::compile_model(test::merged_model(), "merged");
  const Json map = c.json("idmap.json");
  // 0 c, 1 bn, 2 r, 3 flat as imported; a convolution with the factor in it replaces 0 and 1.
  for (size_t i : {0u, 1u, 2u, 3u}) {
    CHECK(map["expressions"][i]["pass"] == "import");
    CHECK(map["expressions"][i]["from"].empty());
    CHECK(map["expressions"][i]["sources"] == Json({fmt::format("main/{}", i)}));
  }
  const Json* merged = nullptr;
  for (const Json& e : map["expressions"]) {
    if (e["op"] == "Conv" && !e.contains("erased")) merged = &e;
  }
  REQUIRE(merged != nullptr);
  CHECK((*merged)["pass"] == "fold-batchnorm");
  CHECK((*merged)["from"] == Json({0, 1}));
  CHECK((*merged)["sources"] == Json({"main/0", "main/1"}));
  for (size_t i : {0u, 1u}) CHECK(map["expressions"][i].contains("erased"));
  auto text = text_of(map, {.node = "bn"});
  REQUIRE(text.ok());
  const std::string made =
      fmt::format("expression {} Conv by fold-batchnorm, sources main/0 main/1, made of 0 1\n",
                  (*merged)["expr_id"].get<int>());
  CHECK(text->find(made) != std::string::npos);
}

TEST_CASE("fused nodes have code, what only changes the shape has none") {
  auto c = test::compile_model(test::merged_model(), "fates_of_code");
  const Json map = c.json("idmap.json");
  for (const char* name : {"c", "bn", "r"}) {
    CHECK(source(map, name)["fate"] == "accelerator");
    CHECK(source(map, name)["reason"].get<std::string>().find("needs no code") == std::string::npos);
  }
  auto host =
      test::compile_model(test::merged_model(), "fused_on_host", [](auto& o) { o.targets = {"host"}; });
  const Json on_host = host.json("idmap.json");
  for (const char* name : {"c", "bn", "r"}) {
    CHECK(source(on_host, name)["fate"] == "cpu");
    CHECK(source(on_host, name)["reason"].get<std::string>().find("needs no code") == std::string::npos);
  }
  // The activation is computed by the function of the convolution.
  const Json* relu = nullptr;
  for (const Json& e : on_host["expressions"]) {
    if (e["op"] == "Relu" && !e.contains("erased")) relu = &e;
  }
  if (relu != nullptr) {
    int functions = 0;
    for (const Json& f : on_host["host_functions"]) {
      for (const Json& e : f["fused"]) functions += e == (*relu)["expr_id"];
    }
    CHECK(functions == 1);
  }
}

TEST_CASE("a flattened image is the same bytes") {
  auto c = test::compile_model(test::counted_model(), "flat");
  const Json map = c.json("idmap.json");
  CHECK(source(map, "flat")["reason"].get<std::string>().starts_with("needs no code: "));
  CHECK_FALSE(source(map, "gap")["reason"].get<std::string>().starts_with("needs no code"));
}

TEST_CASE("instructions lead to expressions and back") {
  auto c = test::compile_model(test::counted_model(), "both_ways");
  const Json map = c.json("idmap.json");
  size_t ranges = 0;
  for (const Json& i : map["instructions"]) {
    const auto expr = i["expr_id"].get<uint32_t>();
    auto back = text_of(map, {.expression = expr});
    REQUIRE(back.ok());
    CHECK(back->find(range_line(i)) != std::string::npos);
    for (uint32_t n : {i["begin"].get<uint32_t>(), i["end"].get<uint32_t>() - 1}) {
      auto there = text_of(map, {.instruction = idmap::Query::Instruction{0, i["section"], n}});
      REQUIRE(there.ok());
      CHECK(there->starts_with(range_line(i)));
      CHECK(there->find(fmt::format("\nlayer {} of region 0: ", i["layer"].get<int>())) != std::string::npos);
      CHECK(there->find(fmt::format("\nexpression {} ", expr)) != std::string::npos);
    }
    ++ranges;
  }
  CHECK(ranges > 3);
  // No instruction belongs to another layer than its expression does.
  for (const Json& i : map["instructions"]) {
    const Json& layer = map["layers"][i["layer"].get<size_t>()];
    CHECK(std::find(layer["exprs"].begin(), layer["exprs"].end(), i["expr_id"]) != layer["exprs"].end());
  }
}

TEST_CASE("lines of C lead to their function, and no others do") {
  auto c = test::compile_model(test::mixed_model(), "lines", [](auto& o) { o.targets = {"host"}; });
  const Json map = c.json("idmap.json");
  const std::vector<std::string> lines = lines_of(c.text("lines.c"));
  std::vector<bool> inside(lines.size());
  for (const Json& f : map["host_functions"]) {
    const auto first = f["first_line"].get<size_t>(), last = f["last_line"].get<size_t>();
    REQUIRE(last < lines.size());
    const std::string symbol = f["symbol"];
    INFO(symbol << " " << first << "-" << last);
    CHECK(lines[first].find(symbol + "(") != std::string::npos);
    CHECK(lines[last] == "}");
    for (size_t n = first; n < last; ++n) CHECK(lines[n] != "}");
    for (size_t n : {first, last}) {
      auto hit = text_of(map, {.line = idmap::Query::Line{"lines.c", static_cast<uint32_t>(n)}});
      REQUIRE(hit.ok());
      CHECK(hit->starts_with(fmt::format("function {} lines.c:{}-{}\n", symbol, first, last)));
    }
    for (size_t n = first; n <= last; ++n) inside[n] = true;
  }
  for (size_t n = 1; n < lines.size(); ++n) {
    INFO(n << ": " << lines[n]);
    CHECK(text_of(map, {.line = idmap::Query::Line{"lines.c", static_cast<uint32_t>(n)}}).ok() == inside[n]);
  }
}

TEST_CASE("a node leads to its function and its operands' nodes do not") {
  auto c = test::compile_model(test::mixed_model(), "functions", [](auto& o) { o.targets = {"host"}; });
  const Json map = c.json("idmap.json");
  for (const char* name : {"g1", "s", "g2"}) {
    const std::string id = source(map, name)["id"];
    auto text = text_of(map, {.node = name});
    REQUIRE(text.ok());
    CHECK(text->starts_with(fmt::format("source {} '{}' (", id, name)));
    CHECK(text->find("\nfunction ") != std::string::npos);
    for (const char* other : {"g1", "s", "g2"}) {
      if (std::string_view(other) != name) CHECK(text->find(fmt::format("'{}'", other)) == std::string::npos);
    }
  }
}
