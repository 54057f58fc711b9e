#include "mrvlc/support/diag/target.h"

#include <catch2/catch.hpp>
#include <filesystem>
#include <fstream>

#include "mrvlc/target/machine.h"
#include "paths.h"

using namespace mrvlc;
using namespace mrvlc::target;

namespace {

std::string builtin() {
  return *target_text("cn10ka", {});
}

std::string replaced(std::string text, const std::string& from, const std::string& to) {
  size_t at = text.find(from);
  REQUIRE(at != std::string::npos);
  return text.replace(at, from.size(), to);
}

}  // namespace

TEST_CASE("the built-in target has the published and the assumed numbers") {
  CHECK(builtin_targets() == std::vector<std::string>{"cn10ka"});
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
  REQUIRE(m->provenance.size() == 24);
  CHECK(m->provenance.front().field == "max_tiles");
  CHECK(m->provenance[1].value == "[1,2,4,8]");
  for (const auto& p : m->provenance) CHECK_FALSE(p.note.empty());
}

TEST_CASE("every field of a target file is required, known once, typed and bounded") {
  auto fails = [](const std::string& text) {
    auto r = parse_machine(text, "t");
    return r.ok() ? "accepted" : r.error().message;
  };
  const std::string good = builtin();
  REQUIRE(parse_machine(good, "t").ok());
  const Machine m = *parse_machine(good, "t");
  for (const auto& p : m.provenance) {
    std::string text = replaced(good, "\"" + p.field + "\"", "\"no_such_field\"");
    CHECK(fails(text) == "target 't': field 'no_such_field' is unknown");
    size_t begin = good.find("    \"" + p.field + "\""), end = good.find('\n', begin) + 1;
    text = good;
    text.erase(begin, end - begin);
    const bool optional = p.field == "launch_us";  // the last one; files of older versions do not have it
    if (optional) text = replaced(text, "simulator\"},\n  }", "simulator\"}\n  }");
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
  CHECK(fails("{") == "target 't': is not valid JSON");
  CHECK(fails(std::string(100000, '[')) == "target 't': is not valid JSON");
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
  CHECK(load_machine("nope", {folder}).error().message == "no target named 'nope'; known are cn10ka");
  std::filesystem::remove_all(folder);
}
