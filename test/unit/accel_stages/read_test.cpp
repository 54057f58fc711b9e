// What the reader of primitives takes and refuses.
#include <catch2/catch.hpp>
#include <cmath>

#include "text/fields.h"
#include "text/operand_text.h"
#include "text/primitives_text.h"

namespace mrvlc::accel {
namespace {

const std::string kHead =
    "stage primitives\nbuffer weights bytes=512\nbuffer %x input bytes=2048 pitch=32 rows=64\n";
const std::string kConv =
    "conv %y group_in=16 group_out=16\n  x %x+0{128,16} size=8,8\n  out %x+0{128,16} size=8,8\n"
    "  phase\n";

std::string error_of(const std::string& text) {
  auto read = read_primitives(text);
  return read.ok() ? "" : read.error().message;
}

TEST_CASE("what is printed reads back as itself") {
  for (const std::string& more : {std::string(), kConv}) {
    auto read = read_primitives(kHead + more);
    REQUIRE(read.ok());
    CHECK(primitives_text(read->program, read->names) == kHead + more);
  }
}

TEST_CASE("comments and empty lines say nothing") {
  auto read = read_primitives("# region 0\n\n" + kHead + "  # nothing\n" + kConv + "# end");
  REQUIRE(read.ok());
  CHECK(read->program.primitives.size() == 1);
}

TEST_CASE("names may hold what quotes allow") {
  std::string text =
      "stage primitives\nbuffer weights\nbuffer %\"a+b $3=\\\" {\" input bytes=2048 pitch=32 rows=64\n"
      "group %\"a+b $3=\\\" {\" dims=4\n  ew copy dst=%\"a+b $3=\\\" {\"+0{1} a=%\"a+b $3=\\\" "
      "{\"+4{1}:f32\n";
  auto read = read_primitives(text);
  if (!read.ok()) FAIL(read.error().message);
  CHECK(primitives_text(read->program, read->names) == text);
}

TEST_CASE("what is wrong is refused with its line") {
  struct {
    std::string text, says;
  } cases[] = {
      {"", "line 1"},
      {"stage tiling\n", "begins with 'stage primitives'"},
      {"stage primitives\n", "'weights' comes first"},
      {"stage primitives\nbuffer %x input\n", "line 2"},
      {kHead + "buffer %x scratch\n", "two buffers %x"},
      {kHead + "buffer %z scratch pitch=0\n", "too small"},
      {kHead + "buffer %z scratch pitch=99999999999\n", "pitch is no number"},
      {kHead + "buffer %z scratch pitch=4 pitch=4\n", "two fields pitch"},
      {kHead + "buffer %z scratch size=4\n", "no field size"},
      {kHead + "conv %y\n", "a window has a phase"},
      {kHead + "conv %y stride=0,1\n  phase\n", "at least 1"},
      {kHead + "conv %y stride=2\n  phase\n", "stride takes two numbers"},
      {kHead + "conv %y\n  phase\n", "an offset for each image"},
      {kHead + "conv %y\n  x %q+0{1,1}\n", "no buffer %q above"},
      {kHead + "conv %y\n  x %x+0{1}\n", "BUFFER+OFFSETS"},
      {kHead + "pool most %y\n  phase\n", "max, avgvalid"},
      {kHead + "loop %y\n", "no record of primitives"},
      {kHead + "group %y\n", "dims of at least 1"},
      {kHead + "group %y dims=4\n", "a group has a stage"},
      {kHead + "group %y dims=4\n  ew add dst=t0 a=t0 b=t0\n", "no such temp"},
      {kHead + "group %y dims=4\n  temp f32 spans=1,1\n", "spans="},
      {kHead + "group %y dims=4\n  ew add dst=%x+0{1} a=%x+0{1}\n", "operand is missing"},
      {kHead + "group %y dims=4\n  ew add dst=%x+0{1,1} a=%x+0{1}\n", "a stride for each dimension"},
      {kHead + "group %y dims=4\n  ew copy dst=%x+0{1} a=%x+0{1} act=jump\n", "act is NAME"},
      {kHead + "group %y dims=4\n  ew copy dst=%x+0{1} a=%x+0{1} act=table\n", "act is NAME"},
      {kHead + "group %y dims=4\n    ew copy\n", "indented"},
      {kHead + "group %y \"\n", "not closed"},
  };
  for (const auto& c : cases) {
    CAPTURE(c.text);
    CHECK_THAT(error_of(c.text), Catch::Contains(c.says) && Catch::Contains("line "));
  }
}

// Every prefix and every line left out: an answer, never a crash.
TEST_CASE("damaged text is answered") {
  std::string text = kHead + kConv;
  size_t refused = 0;
  for (size_t n = 0; n <= text.size(); ++n) refused += read_primitives(text.substr(0, n)).ok() ? 0 : 1;
  for (size_t n = 0; n < text.size(); ++n) {
    std::string other = text;
    other[n] = static_cast<char>(other[n] ^ 0x15);
    refused += read_primitives(other).ok() ? 0 : 1;
  }
  CHECK(refused > text.size());
}

TEST_CASE("epilogues and numbers keep their bits") {
  for (float f : {0.1F, -0.0F, 1e-45F, 3.4e38F, INFINITY, -INFINITY}) {
    float back = 0;
    CHECK(read_number(number_text(f), back));
    CHECK(std::signbit(back) == std::signbit(f));
    CHECK(back == f);
  }
  for (const char* text : {"none", "relu", "clip(0,6)", "leaky(0.1,0)", "table@4096"}) {
    auto e = read_epilogue(text);
    REQUIRE(e);
    CHECK(to_text(*e) == text);
  }
  for (const char* text : {"", "clip(0,6", "clip(0)", "clip0,6)", "table@-1", "relu@3"}) {
    CAPTURE(text);
    CHECK_FALSE(read_epilogue(text));
  }
}

}  // namespace
}  // namespace mrvlc::accel
