// Machine descriptions, and parts that do not work.
#include "mrvlc/mesh/machine.h"

#include <catch2/catch.hpp>

using namespace mrvlc;
using namespace mrvlc::mesh;

namespace {

std::string replaced(std::string text, const std::string& from, const std::string& to) {
  const size_t at = text.find(from);
  REQUIRE(at != std::string::npos);
  return text.replace(at, from.size(), to);
}

}  // namespace

TEST_CASE("built-in machines and grids") {
  CHECK(find_machine("spinnaker2-48")->chip_count() * find_machine("spinnaker2-48")->chips.pes.value == 7296);
  CHECK(find_machine("mesh-2x3x8")->chips.rows.value == 2);
  CHECK(find_machine("mesh-2x3x8")->chips.columns.value == 3);
  for (const char* name : {"mesh-", "mesh-0", "mesh-2x2", "mesh-8x", "mesh-300x300x300",
                           "mesh-99999999999999999999", "host", ""})
    CHECK(!is_machine(name));
}

TEST_CASE("a description is read as it was written, and nothing else is") {
  const std::string text = to_json(*find_machine("spinnaker2-48"));
  const auto read = parse_machine(text);
  REQUIRE(read.ok());
  CHECK(to_json(*read) == text);
  CHECK(!parse_machine("{").ok());
  CHECK(!parse_machine("[]").ok());
  CHECK(!parse_machine(replaced(text, "\"sram_bytes\"", "\"sram\"")).ok());
  CHECK(!parse_machine(replaced(text, "\"pe\": {", "\"pe\": {\"more\": 1,")).ok());
  CHECK(!parse_machine(replaced(text, "\"name\"", "\"name\": \"a\", \"name\"")).ok());
  CHECK(!parse_machine(replaced(text, "\"value\": 8", "\"value\": 0")).ok());
  CHECK(!parse_machine(replaced(text, "\"value\": 8", "\"value\": 8.5")).ok());
}

TEST_CASE("numbers of files that were changed cannot ask for memory") {
  Machine m = *find_machine("mesh-8");
  m.chips.columns.value = int64_t{1} << 62;
  CHECK(!working_parts(m).ok());
}

TEST_CASE("parts that do not work") {
  Machine m = *find_machine("mesh-2x2x4");
  m.without = {"chip:3", "pe:0.1", "link:0-1"};
  const auto w = working_parts(m);
  REQUIRE(w.ok());
  CHECK(w->pe_count() == 11);
  CHECK(w->links[0] == std::vector<uint32_t>{2});
  CHECK(w->links[1].empty());
  for (const char* wrong :
       {"chip:4", "chip:-1", "pe:0.4", "pe:0", "link:0-3", "link:0-9", "core:1", "chip:", "chip:1x"}) {
    m.without = {wrong};
    CHECK(!working_parts(m).ok());
  }
  CHECK(keep_chips(m, 0).ok() == false);
  CHECK(keep_chips(m, 5).ok() == false);
}
