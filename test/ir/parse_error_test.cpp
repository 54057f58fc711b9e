// Each text is wrong on the line that carries the comment "# <what the error must say>".
#include "helpers.h"

using namespace mrvlc;
using namespace mrvlc::test;

namespace {

void check_error(std::string_view text) {
  size_t mark = text.find('#');
  REQUIRE(mark != std::string_view::npos);
  auto line = 1 + std::count(text.begin(), text.begin() + static_cast<std::ptrdiff_t>(mark), '\n');
  std::string expected(text.substr(mark + 2, text.find('\n', mark) - mark - 2));
  // Errors are reported where reading stopped, which may be the next token.
  std::string message = parse_error(text);
  INFO(text);
  CHECK_THAT(message, Catch::Matchers::Contains(expected));
  CHECK_THAT(message, Catch::Matchers::StartsWith("line " + std::to_string(line) + ",") ||
                          Catch::Matchers::StartsWith("line " + std::to_string(line + 1) + ","));
}

std::string in_graph(const std::string& body) {
  return "graph \"g\" {\n  input %x : f32[2]\n" + body + "\n  output %x\n}\n";
}

}  // namespace

TEST_CASE("errors of the text name the offending line", "[ir]") {
  for (const char* body : {
           "  %y = Frobnicate(%x) : f32[2]  # unknown operator 'Frobnicate'",
           "  %y = Relu(%z) : f32[2]  # value 'z' is not defined above",
           "  %x = Relu(%x) : f32[2]  # value 'x' is defined twice",
           "  %y = LeakyRelu(%x) {slope = 1} : f32[2]  # operator has no attribute 'slope'",
           "  %y = LeakyRelu(%x) {alpha = abc} : f32[2]  # expected a number",
           "  %y = Relu(%x : f32[2]  # expected ')'",
           "  %y = Relu(%x)  # expected ':'",
           "  %y = Relu(%x) : f33[2]  # unknown element type 'f33'",
           "  %y = Relu(%x) : f32[-2]  # impossible shape",
           "  %y = Relu(%x) : f32[4294967296, 4294967296]  # impossible shape",
           "  %y = Relu(%x) : f32[1, 1, 1, 1, 1, 1, 1, 1, 1]  # impossible shape",
           "  %y = Relu(%x) : f32[2] loc(5)  # no such source",
           "  %y, %z = Relu(%x) : f32[2]  # as many types as results are needed",
           "  const %c : f32[3] = [1, 2]  # wrong number of elements",
           "  const %c : f32[1099511627776] = [1]  # wrong number of elements",
           "  const %c : f32[2] = x\"00\"  # wrong number of bytes",
           "  const %c : f32[1] = x\"0000000g\"  # not a hexadecimal digit",
           "  source 3 \"a\" \"b\" \"c\" \"d\" []  # sources are numbered from 0 on",
           "  source 0 \"a  # string without an end",
           "  source 0 \"\\q\" \"b\" \"c\" \"d\" []  # unknown escape",
           "  %y = LeakyRelu(%x) {alpha = nan:3f800000} : f32[2]  # these bits are not a NaN",
           "  %y = Cast(%x) : f32[2]  # attribute 'to' is required",
           "  banana  # expected source, input, const, output, a node or '}'",
       }) {
    check_error(in_graph(body));
  }
}

TEST_CASE("errors name the column", "[ir]") {
  CHECK_THAT(
      parse_error("graph \"g\" { input %x : f32[2] output %q }"),
      Catch::Matchers::StartsWith("line 1, column 4") && Catch::Matchers::Contains("not defined above"));
}

TEST_CASE("text around the graph is refused", "[ir]") {
  CHECK_THAT(parse_error(""), Catch::Matchers::Contains("expected 'graph'"));
  CHECK_THAT(parse_error("graph \"g\" { } }"), Catch::Matchers::Contains("text after the graph"));
  CHECK_THAT(parse_error("graph \"g\" {"), Catch::Matchers::Contains("expected"));
}
