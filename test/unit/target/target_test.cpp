#include "mrvlc/support/diag/target.h"

#include <algorithm>
#include <catch2/catch.hpp>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <set>

#include "mrvlc/target/find.h"
#include "paths.h"

using namespace mrvlc;
using namespace mrvlc::target;

namespace {

std::string builtin() {
  return *target_text("cn10ka", {});
}

// A folder of packages for one test, gone when it ends.
class Packages {
 public:
  explicit Packages(const char* name) : folder_(std::filesystem::path(MRVLC_BINARY_DIR) / name) {
    std::filesystem::remove_all(folder_);
  }
  Packages(const Packages&) = delete;
  Packages& operator=(const Packages&) = delete;
  ~Packages() { std::filesystem::remove_all(folder_); }
  void add(const std::string& name, const std::string& json) const {
    std::filesystem::create_directories(folder_ / name);
    std::ofstream(folder_ / name / "target.json") << json;
  }
  // One that extends `base`; `fields`: what it says, as JSON.
  void variant(const std::string& name, const std::string& base, const std::string& fields) const {
    add(name, R"({"name": ")" + name + R"(", "description": "d", "extends": ")" + base + R"(", "fields": )" +
                  fields + "}");
  }
  std::vector<std::filesystem::path> search() const { return {folder_}; }
  std::string fault(const std::string& name) const {
    auto m = load_machine(name, search());
    return m.ok() ? "accepted" : m.error().message;
  }

 private:
  std::filesystem::path folder_;
};

std::string entry(const std::string& field, const std::string& value) {
  return "\"" + field + R"(": {"value": )" + value + R"(, "source": "assumed", "note": "n"})";
}

std::string replaced(std::string text, const std::string& from, const std::string& to) {
  size_t at = text.find(from);
  REQUIRE(at != std::string::npos);
  return text.replace(at, from.size(), to);
}

}  // namespace

TEST_CASE("the built-in target has the published and the assumed numbers") {
  CHECK(builtin_targets() ==
        std::vector<std::string>{"cmsis-nn", "cn10ka-vendor", "cn10ka", "gemmini", "vta"});
  auto m = load_machine("cn10ka", {});
  REQUIRE(m.ok());
  CHECK(m->max_tiles == 8);
  CHECK(m->tile_counts == std::vector<uint32_t>{1, 2, 4, 8});
  CHECK(m->ocm_bytes == 1u << 20);
  CHECK(m->fp16_macs == 256);
  CHECK(m->depthwise_macs == 64);
  CHECK(m->ddr_bytes == 32);
  CHECK(m->ddr_latency == 200);
  CHECK(m->tile_link_bytes == 64);
  CHECK(m->clock_ghz == 1.0);
  CHECK(m->launch_us == 2.0);
  REQUIRE(m->provenance.size() == 32);
  CHECK(m->provenance.front().field == "max_tiles");
  CHECK(m->provenance[1].value == "[1,2,4,8]");
  for (const auto& p : m->provenance) CHECK_FALSE(p.note.empty());
  CHECK(m->int8_depthwise_macs == 128);
  auto before =
      parse_machine(replaced(builtin(),
                             "    \"int8_depthwise_macs\": {\"value\": 128, \"source\": \"assumed\", "
                             "\"note\": \"a cycle and tile, twice the fp16 rate\"},\n",
                             ""),
                    "t");
  REQUIRE(before.ok());
  CHECK(before->int8_depthwise_macs == before->depthwise_macs);
}

TEST_CASE("a target without the younger fields has a machine that they take nothing of") {
  std::string text = builtin();
  for (const char* field : {"ddr_efficiency", "sync_latency", "accumulation_fill", "reduction_gap",
                            "pixel_block", "queue_depth", "fetch_buffer"}) {
    const size_t begin = text.find("    \"" + std::string(field) + "\""), end = text.find('\n', begin) + 1;
    text.erase(begin, end - begin);
  }
  auto m = parse_machine(text, "t");
  REQUIRE(m.ok());
  CHECK(m->ddr_efficiency == 100);
  CHECK(m->sync_latency + m->accumulation_fill + m->reduction_gap + m->queue_depth + m->fetch_buffer == 0);
  CHECK(m->pixel_block == 1);
  CHECK(m->ddr_rate() == 32);
  CHECK(m->ddr_cycles(33) == 2);
  CHECK(pessimistic(*m).ddr_efficiency == 100);
}

TEST_CASE("the pessimistic machine differs in what the file says, and in nothing else") {
  auto m = load_machine("cn10ka", {});
  REQUIRE(m.ok());
  const Machine doubted = pessimistic(*m);
  CHECK(doubted.ddr_efficiency == 85);
  CHECK(doubted.sync_latency == 30);
  CHECK(doubted.accumulation_fill == 64);
  CHECK(doubted.reduction_gap == 64);
  CHECK(doubted.pixel_block == 16);
  CHECK(doubted.ocm_read_bytes * 2 == m->ocm_read_bytes);
  CHECK(doubted.ocm_write_bytes * 2 == m->ocm_write_bytes);
  CHECK(doubted.fetch_buffer == 4096);
  CHECK(doubted.ddr_bytes == m->ddr_bytes);
  CHECK(doubted.ddr_rate() == Approx(27.2));
  CHECK(doubted.ddr_cycles(272) == 10);
  CHECK(doubted.ddr_cycles(273) == 11);
  CHECK(m->ddr_efficiency == 100);
}

TEST_CASE("every field of a target file is required, known once, typed and bounded") {
  auto fails = [](const std::string& text) {
    auto r = parse_machine(text, "t");
    return r.ok() ? "accepted" : r.error().message;
  };
  const std::string good = builtin();
  REQUIRE(parse_machine(good, "t").ok());
  const Machine m = *parse_machine(good, "t");
  const std::set<std::string> kOptional = {"int8_depthwise_macs", "ddr_efficiency", "sync_latency",
                                           "accumulation_fill",   "reduction_gap",  "pixel_block",
                                           "queue_depth",         "fetch_buffer"};
  for (const auto& p : m.provenance) {
    std::string text = replaced(good, "\"" + p.field + "\"", "\"no_such_field\"");
    CHECK(fails(text) == "target 't': field 'no_such_field' is unknown");
    size_t begin = good.find("    \"" + p.field + "\""), end = good.find('\n', begin) + 1;
    text = good;
    text.erase(begin, end - begin);
    // Files of older versions do not have them.
    const bool last = p.field == "launch_us";
    const bool optional = last || kOptional.contains(p.field);
    if (last) text = replaced(text, "simulator\"},\n  }", "simulator\"}\n  }");
    CHECK(fails(text) == (optional ? "accepted" : "target 't': field '" + p.field + "' is missing"));
  }
  CHECK(fails(replaced(good, "\"value\": 32,", "\"value\": 0,")).find("must be between") !=
        std::string::npos);
  CHECK(fails(replaced(good, "\"value\": 32,", "\"value\": -1,")).find("whole number") != std::string::npos);
  CHECK(fails(replaced(good, "\"value\": 32,", "\"value\": \"32\",")).find("whole number") !=
        std::string::npos);
  CHECK(fails(replaced(good, "\"assumed\"", "\"guessed\"")).find("source") != std::string::npos);
  CHECK(fails(replaced(good, "\"ddr_bytes\"", "\"ocm_bytes\"")).find("given twice") != std::string::npos);
  CHECK(fails(replaced(good, "[1, 2, 4, 8]", "[2, 1]")).find("rising") != std::string::npos);
  CHECK(fails(replaced(good, "[1, 2, 4, 8]", "[1, 2, 2, 8]")).find("rising") != std::string::npos);
  auto ddr = [&](const char* value) {
    return fails(replaced(good, "\"value\": 32,", std::string("\"value\": ") + value + ","));
  };
  CHECK(ddr("65536") == "accepted");
  CHECK(ddr("65537").find("between 1 and 65536") != std::string::npos);
  CHECK(ddr("1") == "accepted");
  for (const char* odd : {"48", "24", "127"})
    CHECK(fails(replaced(good, "\"value\": 128,", std::string("\"value\": ") + odd + ","))
              .find("power of two") != std::string::npos);
  CHECK(fails(replaced(good, "\"value\": 2,", "\"value\": -2,")).find("between 0 and") != std::string::npos);
  CHECK(fails(replaced(good, "\"value\": 2,", "\"value\": \"2\",")).find("not a number") !=
        std::string::npos);
  CHECK(fails("[]") == "target 't': is not a JSON object");
  const auto doubt = [&](const char* value) {
    return fails(replaced(good, "\"pessimistic\": 85", std::string("\"pessimistic\": ") + value));
  };
  CHECK(doubt("1") == "accepted");
  CHECK(doubt("0").find("between 1 and 100") != std::string::npos);
  CHECK(doubt("101").find("between 1 and 100") != std::string::npos);
  CHECK(doubt("\"85\"").find("whole number") != std::string::npos);
  const auto doubted = [&](const std::string& field, const char* value) {
    const size_t begin = good.find("\"" + field + "\"");
    const size_t at = good.find("\"pessimistic\": ", begin) + std::string("\"pessimistic\": ").size();
    return fails(good.substr(0, at) + value + good.substr(good.find(',', at)));
  };
  CHECK(doubted("reduction_gap", "0") == "accepted");
  CHECK(doubted("reduction_gap", "65536") == "accepted");
  CHECK(doubted("reduction_gap", "65537").find("between 0 and 65536") != std::string::npos);
  CHECK(doubted("pixel_block", "1") == "accepted");
  CHECK(doubted("pixel_block", "1024") == "accepted");
  CHECK(doubted("pixel_block", "0").find("between 1 and 1024") != std::string::npos);
  CHECK(doubted("pixel_block", "1025").find("between 1 and 1024") != std::string::npos);
  const auto buffer = [&](const char* value) {
    return fails(replaced(good, "\"value\": 4096", std::string("\"value\": ") + value));
  };
  CHECK(buffer("1024") == "accepted");
  CHECK(buffer("0") == "accepted");
  CHECK(buffer("1023").find("below 1024") != std::string::npos);
  CHECK(buffer("0, \"pessimistic\": 1023").find("below 1024") != std::string::npos);
  CHECK(buffer("0, \"pessimistic\": 1024") == "accepted");
  CHECK(fails("{") == "target 't': is not valid JSON: line 1, column 2");
  CHECK(fails("{\n  \"a\": 1,\n  b\n}") == "target 't': is not valid JSON: line 3, column 3");
  CHECK(fails(std::string(100000, '[')) == "target 't': is not valid JSON: line 1, column 100001");
}

TEST_CASE("names and numbers of a machine are such as can be asked for and compiled for") {
  const std::string good = builtin();
  const auto fails = [&](const std::string& from, const std::string& to) {
    auto r = parse_machine(replaced(good, from, to), "t");
    return r.ok() ? "accepted" : r.error().message;
  };
  for (const char* name : {"host", "a,b", "a/b", ".."})
    CHECK(fails("\"name\": \"cn10ka\"", "\"name\": \"" + std::string(name) + "\"")
              .find("cannot be asked for") != std::string::npos);
  CHECK(fails("\"name\": \"cn10ka\"", "\"name\": \"\"").find("is empty") != std::string::npos);
  for (const char* bytes : {"1048577", "67108880", "4095"})
    CHECK(fails("1048576", bytes).find("field 'ocm_bytes'") != std::string::npos);
  CHECK(fails("1048576", "67108864") == "accepted");
  const std::string coarse =
      replaced(good, "\"ocm_alignment\": {\"value\": 128", "\"ocm_alignment\": {\"value\": 4096");
  CHECK(parse_machine(replaced(coarse, "1048576", "65536"), "t").ok());
  CHECK_FALSE(parse_machine(replaced(coarse, "1048576", "61440"), "t").ok());
  for (const char* pixels : {"1", "15", "24", "65552"})
    CHECK(fails("\"value\": 1024,", "\"value\": " + std::string(pixels) + ",")
              .find("field 'accumulator_pixels'") != std::string::npos);
  CHECK(fails("\"value\": 1024,", "\"value\": 16,") == "accepted");
}

TEST_CASE("a cut target file is a diagnostic") {
  const std::string good = builtin();
  for (size_t n = 0; n + 2 < good.size(); n += 3) CHECK_FALSE(parse_machine(good.substr(0, n), "t").ok());
}

TEST_CASE("search folders come before the built-in targets, and a name cannot leave them") {
  auto folder = std::filesystem::path(MRVLC_BINARY_DIR) / "target_test";
  std::filesystem::create_directories(folder / "cn10ka");
  std::ofstream(folder / "cn10ka" / "target.json") << replaced(builtin(), "1048576", "524288");
  CHECK(load_machine("cn10ka", {folder})->ocm_bytes == 524288);
  CHECK(load_machine("cn10ka", {})->ocm_bytes == 1048576);
  CHECK(load_machine("../target_test/cn10ka", {folder}).error().code == DiagCode::MRV0352);
  CHECK_THAT(load_machine("nope", {folder}).error().message,
             Catch::Matchers::StartsWith(
                 "no target named 'nope'; known are cmsis-nn, cn10ka, cn10ka-vendor, gemmini, vta"));
  std::filesystem::remove_all(folder);
}

TEST_CASE("a package that extends a target says only what differs") {
  Packages p("target_extends");
  p.variant("quarter", "cn10ka", "{" + entry("max_tiles", "4") + ", " + entry("ocm_bytes", "524288") + "}");
  p.variant("eighth", "quarter", "{" + entry("max_tiles", "2") + ", " + entry("ddr_bytes", "16") + "}");
  const Machine base = *load_machine("cn10ka", {});
  auto m = load_machine("eighth", p.search());
  REQUIRE(m.ok());
  CHECK(m->name == "eighth");
  CHECK(m->max_tiles == 2);
  CHECK(m->tile_counts == std::vector<uint32_t>{1, 2});  // the base's, as far as there are tiles
  CHECK(m->ocm_bytes == 524288);
  CHECK(m->ddr_bytes == 16);
  CHECK(m->fp16_macs == base.fp16_macs);
  REQUIRE(m->provenance.size() == base.provenance.size());
  for (size_t i = 0; i < base.provenance.size(); ++i)  // whatever is overridden keeps its place
    CHECK(m->provenance[i].field == base.provenance[i].field);
  CHECK(m->provenance[0].source == "assumed");
  CHECK(base.provenance[0].source == "public");

  auto text = find_target("eighth", p.search());
  REQUIRE(text.ok());
  REQUIRE(text->files.size() == 2);
  CHECK(text->files[0].name == "eighth");
  CHECK(text->files[1].name == "quarter");
  CHECK(text->json.find("extends") == std::string::npos);
  auto alone = parse_machine(text->json, "eighth");  // nothing else is needed to read it
  REQUIRE(alone.ok());
  CHECK(alone->tile_counts == m->tile_counts);
  CHECK(read_target(p.search()[0] / "eighth" / "target.json", p.search())->json == text->json);
}

TEST_CASE("a package may extend the built-in target of its own name, and no chain is endless") {
  Packages p("target_chains");
  p.variant("cn10ka", "cn10ka", "{" + entry("ddr_bytes", "64") + "}");
  CHECK(load_machine("cn10ka", p.search())->ddr_bytes == 64);
  p.variant("a", "b", "{}");
  p.variant("b", "a", "{}");
  CHECK(p.fault("a") == "target 'b': field 'extends' leads back to 'a'");
  for (int i = 0; i < 20; ++i) p.variant("n" + std::to_string(i), "n" + std::to_string(i + 1), "{}");
  CHECK(p.fault("n0").find("chain of more than 16") != std::string::npos);
  p.variant("lost", "nowhere", "{}");
  CHECK(p.fault("lost").find(
            "no target named 'nowhere'; known are a, b, cmsis-nn, cn10ka, cn10ka-vendor, gemmini, lost") ==
        0);
}

TEST_CASE("what a package says is checked like a whole target") {
  Packages p("target_checks");
  auto fault = [&](const std::string& fields) {
    p.variant("v", "cn10ka", fields);
    return p.fault("v");
  };
  CHECK(fault("{" + entry("ocm_byte", "1") + "}") ==
        "target 'v': field 'ocm_byte' is unknown; did you mean 'ocm_bytes'?");
  CHECK(fault("{" + entry("ocm_bytes", "1") + "}").find("must be between") != std::string::npos);
  CHECK(
      fault("{" + entry("ocm_bytes", "4096") + "," + entry("ocm_bytes", "8192") + "}").find("given twice") !=
      std::string::npos);
  CHECK(fault("{" + entry("max_tiles", "2") + "," + entry("tile_counts", "[1, 4]") + "}") ==
        "target 'v': field 'tile_counts' exceeds max_tiles");
  CHECK(fault("[]") == "target 'v': field 'fields' is missing or not an object");
  CHECK(fault("{}") == "accepted");
  for (const char* odd : {"3", "\"\"", "null", "[\"cn10ka\"]"}) {
    p.add("v", std::string(R"({"name": "v", "description": "d", "extends": )") + odd + R"(, "fields": {}})");
    CHECK(p.fault("v") == "target 'v': field 'extends' is not the name of a target");
  }
  p.add("v", R"({"extends": "cn10ka", "fields": {}})");  // a name is its own
  CHECK(p.fault("v") == "target 'v': field 'name' differs from the name it was asked for by");
}

TEST_CASE("a new package is a whole one, of few lines") {
  Packages p("target_new");
  auto text = new_variant("mine", "cn10ka", p.search());
  REQUIRE(text.ok());
  CHECK(std::count(text->begin(), text->end(), '\n') <= 10);
  p.add("mine", *text);
  auto m = load_machine("mine", p.search());
  REQUIRE(m.ok());
  CHECK(m->ocm_bytes == load_machine("cn10ka", {})->ocm_bytes);
  for (const char* odd : {"", ".", "..", "a/b", "host", "a,b", "-x", "a\nb"})
    CHECK(new_variant(odd, "cn10ka", {}).error().code == DiagCode::MRV0351);
}

TEST_CASE("data folders come after what is built in") {
  Packages p("target_data");
  const auto home = p.search()[0];
  const char* before = std::getenv("XDG_DATA_HOME");
  const std::string kept = before == nullptr ? "" : before;
  ::setenv("XDG_DATA_HOME", home.c_str(), 1);
  p.variant("mrvlc/targets/cn10ka", "cn10ka", "{" + entry("ddr_bytes", "64") + "}");
  p.add("mrvlc/targets/mine", R"({"name": "mine", "extends": "cn10ka", "fields": {}})");
  CHECK(load_machine("mine", {}).ok());
  CHECK(load_machine("cn10ka", {})->ddr_bytes == 32);
  const auto all = packages({});
  auto is = [](const char* name) { return [name](const Package& q) { return q.name == name; }; };
  CHECK(std::any_of(all.begin(), all.end(), is("mine")));
  CHECK(std::find_if(all.begin(), all.end(), is("cn10ka"))->file.empty());
  if (before == nullptr) {
    ::unsetenv("XDG_DATA_HOME");
  } else {
    ::setenv("XDG_DATA_HOME", kept.c_str(), 1);
  }
  CHECK_FALSE(load_machine("mine", {}).ok());
}
