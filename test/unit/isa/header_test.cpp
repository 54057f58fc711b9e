#include "mrvlc/isa/header.h"

#include <algorithm>
#include <catch2/catch.hpp>
#include <cstring>

#include "mrvlc/isa/container.h"
#include "mrvlc/support/diag/sim.h"
#include "random_instruction.h"

using namespace mrvlc;
using namespace mrvlc::isa;

namespace {

// As a binary of the vendor's tool: architecture 128, no checksums, which a driver takes as "not computed".
std::string vendor_binary() {
  Binary b;
  b.name = "net";
  b.tiles = 4;
  b.layers = 17;
  b.ocm_bytes = 0x8000;
  b.weights = std::string(300, 'w');
  RandomInstruction random(6);
  for (auto* p : {&b.init, &b.main, &b.finish}) p->push_back(random());
  b.inputs.push_back({"image", 8, 7, 1.0f, 2, {2, 1, 1, 8}, 384});
  b.outputs.push_back({"scores", 8, 1, 0.5f, 2, {1, 1, 1, 5}, 512});
  b.ddr_input_begin = 384, b.ddr_input_end = 416;
  b.ddr_output_begin = 512, b.ddr_output_end = 517;
  std::string f = write_container(b);
  f[140] = static_cast<char>(128), f[141] = 0;
  std::memset(f.data() + 248, 0, 8);
  return f;
}

template <class T>
void put(std::string& f, size_t at, T value) {
  std::memcpy(f.data() + at, &value, sizeof value);
}

bool has(const std::vector<std::string>& list, const std::string& text) {
  for (const std::string& entry : list)
    if (entry.find(text) != std::string::npos) return true;
  return false;
}

}  // namespace

TEST_CASE("the header of a binary is printed field by field") {
  auto h = read_header(vendor_binary());
  REQUIRE(h.ok());
  CAPTURE(h->text);
  for (const char* line :
       {"  version                  2.3.0.1\n", "  target_architecture      128 (MLIP)\n",
        "  name                     'net'\n", "  tiles                    0 to 3\n",
        "  num_layers               17\n", "  ports                    1 inputs, 1 outputs\n",
        "  ocm_tmp_range_floor      0xf8000\n", "  weights_bias             300 bytes at ",
        "input 0 'image'\n", "  type                     f16 inside, f32 outside, converted by the host\n",
        "  shape                    2 x 1 x 1 x 8\n", "output 0 'scores'\n",
        "  type                     i8 inside, f32 outside", "  dscale                   0.5\n",
        "  elements                 5\n"})
    CHECK(h->text.find(line) != std::string::npos);
  CHECK(h->refused.empty());
  CHECK(h->faults.size() == 2);  // neither checksum was computed
}

TEST_CASE("what the driver refuses, and what it does not look at, is found in the header") {
  struct Fault {
    const char* says;
    bool refused;
    void (*make)(std::string&);
  };
  const Fault faults[] = {
      {"version 1.2.0.0 is before", true, [](std::string& f) { put<uint32_t>(f, 4, 0x00000201); }},
      {"target_architecture is 256 (experimental)", true, [](std::string& f) { put<uint32_t>(f, 140, 256); }},
      {"header_crc32c is 0x00000001", true, [](std::string& f) { put<uint32_t>(f, 252, 1); }},
      {"payload_crc32c is 0x00000001", true, [](std::string& f) { put<uint32_t>(f, 248, 1); }},
      {"section init is empty", true, [](std::string& f) { put<uint32_t>(f, 516, 0); }},
      {"section main is empty", true, [](std::string& f) { put<uint32_t>(f, 580, 0); }},
      {"section finish is empty", true, [](std::string& f) { put<uint32_t>(f, 644, 0); }},
      {"section weights_bias is empty", true, [](std::string& f) { put<uint32_t>(f, 1228, 0); }},
      {"weights_bias is not relocatable", true, [](std::string& f) { f[1232] = 2; }},
      {"33 inputs", true, [](std::string& f) { f[345] = 33; }},
      {"33 outputs", true, [](std::string& f) { f[346] = 33; }},
      {"input 0 is not relocatable", true, [](std::string& f) { f[1288] = 2; }},
      {"output 0 is not relocatable", true, [](std::string& f) { f[1800] = 2; }},
      {"input 0: unknown type 11", true, [](std::string& f) { f[1290] = 11; }},
      {"output 0: none", true, [](std::string& f) { f[1803] = 0; }},
      {"on-chip memory: 64 pages", true,
       [](std::string& f) { put<uint64_t>(f, 376, 0), put<uint64_t>(f, 384, 0xfffff); }},
      {"section main begins at", false, [](std::string& f) { put<uint32_t>(f, 576, 9000000); }},
      {"section weights_bias ends at", false, [](std::string& f) { f.resize(f.size() - 1); }},
      {"1 bytes follow", false, [](std::string& f) { f.push_back('x'); }},
      {"code_size is 1,", false, [](std::string& f) { put<uint32_t>(f, 324, 1); }},
      {"data_size is 1,", false, [](std::string& f) { put<uint32_t>(f, 328, 1); }},
      {"tiles 2 to 1 are not a tile set", false, [](std::string& f) { f[342] = 2, f[343] = 1; }},
      {"tiles 0 to 8 are not a tile set", false, [](std::string& f) { f[343] = 8; }},
      {"tiles 1 to 4: a set", false, [](std::string& f) { f[342] = 1, f[343] = 4; }},
      {"tiles 0 to 2: a set", false, [](std::string& f) { f[343] = 2; }},
      {"batch_size is 0", false, [](std::string& f) { f[344] = 0; }},
      {"there is no input", false, [](std::string& f) { f[345] = 0; }},
      {"ocm_tmp_range_floor 0x100001", false, [](std::string& f) { put<uint64_t>(f, 368, 0x100001); }},
      {"ddr_input_range ends before", false,
       [](std::string& f) { put<uint64_t>(f, 408, 1000), put<uint64_t>(f, 416, 0); }},
      {"input 0: format 3 is unknown", false, [](std::string& f) { f[1296] = 3; }},
      {"input 0: the scale is not finite", false, [](std::string& f) { put<uint32_t>(f, 1292, 0x7f800000); }},
      {"output 0 ends before it begins", false,
       [](std::string& f) { put<uint64_t>(f, 1792, uint64_t{1} << 40); }},
      {"the model's name does not end", false, [](std::string& f) { std::memset(f.data() + 256, 'n', 64); }},
      {"output 0: the name does not end", false,
       [](std::string& f) { std::memset(f.data() + 1840, 'n', 16); }},
      {"metadata_size is 4096", false, [](std::string& f) { put<uint32_t>(f, 8, 4096); }},
  };
  for (const Fault& fault : faults) {
    std::string f = vendor_binary();
    fault.make(f);
    auto h = read_header(f);
    REQUIRE(h.ok());
    CAPTURE(fault.says, h->refused, h->faults);
    CHECK(has(h->refused, fault.says) == fault.refused);
    CHECK(has(h->faults, fault.says) != fault.refused);
  }
}

TEST_CASE("files without a header, and random ones, are no crash") {
  const std::string good = vendor_binary();
  for (size_t n : {size_t{0}, size_t{3}, size_t{4}, size_t{256}, size_t{8191}})
    CHECK(read_header(good.substr(0, n)).error().code == DiagCode::MRV0701);
  CHECK(read_header(good.substr(0, 8192)).ok());
  CHECK(read_header("MRVM" + good.substr(4)).error().code == DiagCode::MRV0701);
  uint32_t state = 1;
  for (int n = 0; n < 200; ++n) {
    std::string f = good.substr(0, 8192);
    for (size_t i = 4; i < f.size(); ++i)
      f[i] = static_cast<char>((state = state * 1664525 + 1013904223) >> 24);
    auto h = read_header(f);
    REQUIRE(h.ok());
    CHECK_FALSE(h->faults.empty());
    auto harmless = [](char c) { return c == '\n' || (static_cast<unsigned char>(c) >= 32 && c != 127); };
    CHECK(std::all_of(h->text.begin(), h->text.end(), harmless));
  }
}
