#include "names.h"

#include <algorithm>
#include <catch2/catch.hpp>

#include "kernel_pieces.h"

using namespace mrvlc::chost;

TEST_CASE("identifiers are safe and distinct") {
  UniqueNames names;
  CHECK(names.make("conv/1:0") == "conv_1_0");
  CHECK(names.make("conv_1:0") == "conv_1_0_2");
  CHECK(names.make("int") == "int_");
  CHECK(names.make("co_await") == "co_await_");
  CHECK(names.make("INT32_MAX") == "INT32_MAX_");
  CHECK(names.make("INT32_MAX_") == "INT32_MAX__2");
  CHECK(names.make("") == "v");
  CHECK(names.make("9") == "v9");
  CHECK(names.make("\xe2\x80\xae") == "v___");
}

TEST_CASE("text in a comment neither ends nor opens one") {
  CHECK(comment_text("net.py:12 in layer1 (Conv2d)") == "net.py:12 in layer1 (Conv2d)");
  CHECK(comment_text("*/ /* */") == "* / / * * /");
  CHECK(comment_text("/*/*/") == "/ * / * /");
  CHECK(comment_text("?\?/\n") == "? ?/\\x0a");
  CHECK(comment_text("\xe2\x80\xae") == "\\xe2\\x80\\xae");
  CHECK(comment_text(std::string(1000, 'a') + "b") == "..." + std::string(199, 'a') + "b");
}

TEST_CASE("string literals hold any bytes") {
  CHECK(c_string("conv_1") == "\"conv_1\"");
  CHECK(c_string("a\"b\\c\n*/?\?/") == "\"a\\042b\\134c\\012*/\\077\\077/\"");
  CHECK(c_string(std::string_view("a\0"
                                  "1",
                                  3)) == "\"a\\342\\220\\2001\"");
  CHECK(c_string("\xe2\x80\xae") == "\"\\342\\200\\256\"");
}

TEST_CASE("a text longer than the literals of C99 is a list of characters") {
  CHECK(c_char_array("a'b") == "\"a'b\"");
  CHECK(c_char_array(std::string(4095, 'x')) == c_string(std::string(4095, 'x')));
  const std::string list = c_char_array(std::string(4095, 'x') + "'");
  CHECK(list.starts_with("{\n    'x', 'x', "));
  CHECK(list.ends_with("'x', '\\'', 0}"));
  CHECK(std::count(list.begin(), list.end(), 'x') == 4095);
  CHECK(is_long_literal(std::string(1366, '\0')));  // three bytes each
}

TEST_CASE("the prefix is put in front of identifiers only") {
  CHECK(with_prefix("K_a(K_b, xK_c, 1K_)", "net") == "net_a(net_b, xK_c, 1K_)");
}

TEST_CASE("the functions of a kernel are found with their lines") {
  auto f = functions_of(
      "#define A\n\nstatic int f(int a,\n    int b) {\n  if (a) {\n  }\n  return b;\n}\ntypedef struct s {\n "
      " int a;\n} s;\nint g(void) {\n}\n");
  REQUIRE(f.size() == 2);
  CHECK(f[0].symbol == "f");
  CHECK(f[0].first == 3);
  CHECK(f[0].last == 8);
  CHECK(f[1].symbol == "g");
  CHECK(f[1].first == 12);
}
