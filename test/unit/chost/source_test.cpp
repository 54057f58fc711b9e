// C as it is written: lines, pieces of the kernel library, operands that are not read.
#include <algorithm>
#include <catch2/catch.hpp>

#include "library.h"
#include "mrvlc/ops/kernel_structs.h"
#include "size.h"
#include "stub.h"

using namespace mrvlc;
using namespace mrvlc::chost;
using namespace mrvlc::chost::test;

TEST_CASE("lines are counted as text is written") {
  CSource part;
  part.add("int b;\nstatic void f(void) {\n}\n", {{"f", {}, 2, 3, ir::ExprId(size_t{7}), {}}});
  CSource source;
  source.add("int a;\n\n");
  source.add(part);
  FunctionText run{"run", "int run(void) {\n  return 0;\n}\n", {}, {ir::ExprId(size_t{1})}};
  source.add(std::move(run));
  CHECK(source.text() == "int a;\n\nint b;\nstatic void f(void) {\n}\nint run(void) {\n  return 0;\n}\n");
  const auto& f = source.functions();
  REQUIRE(f.size() == 2);
  CHECK((f[0].symbol == "f" && f[0].first_line == 4 && f[0].last_line == 5));
  CHECK(f[0].expr == ir::ExprId(size_t{7}));
  CHECK((f[1].symbol == "run" && f[1].first_line == 6 && f[1].last_line == 8));
  CHECK_FALSE(f[1].expr.valid());
  CHECK(f[1].fused == std::vector{ir::ExprId(size_t{1})});
}

TEST_CASE("a piece is written once, behind what it needs, for whom first asked") {
  Library library("net");
  library.require(Piece::gemv, ir::ExprId(size_t{3}));
  const std::string once = library.source().text();
  library.require(Piece::gemv, ir::ExprId(size_t{4}));
  library.require(Piece::tile, ir::ExprId(size_t{4}));
  CHECK(library.source().text() == once);
  const CSource source = library.source();
  const auto& functions = source.functions();
  auto line_of = [&](std::string_view symbol) {
    auto it = std::ranges::find(functions, symbol, &HostFunction::symbol);
    REQUIRE(it != functions.end());
    CHECK(it->expr == ir::ExprId(size_t{3}));
    return it->first_line;
  };
  CHECK(line_of("net_micro1") < line_of("net_gemv"));
  CHECK(line_of("net_tile") < line_of("net_gemv"));
  CHECK(once.find("K_") == std::string::npos);
}

TEST_CASE("a kernel has the parts that the program uses") {
  const auto text_with = [](std::vector<Piece> pieces) {
    Library library("net");
    for (Piece piece : pieces) library.require(piece, ir::ExprId(size_t{1}));
    return library.source().text();
  };
  const std::string plain = text_with({Piece::conv});
  CHECK(plain.find("net_conv_rest") == std::string::npos);
  CHECK(plain.find("#define net_copy_step(") != std::string::npos);
  CHECK(plain.find("int* at;") == std::string::npos);
  CHECK(plain.find("//") == std::string::npos);
  // Whichever is asked for first: what is called stands in front, what a part is for may stand behind.
  for (const std::string& all :
       {text_with({Piece::conv, Piece::conv_rest, Piece::copy_step, Piece::conv_rows}),
        text_with({Piece::conv_rows, Piece::copy_step, Piece::conv_rest, Piece::conv})}) {
    CHECK(all.find("static void net_conv_rest(") < all.find("static void net_conv_block("));
    CHECK(all.find("static void net_copy_step(") < all.find("static void net_conv_strip("));
    CHECK(all.find("#define net_copy_step(") == std::string::npos);
    CHECK(all.find("int* at;") < all.find("static void net_conv_rows("));
    CHECK(all.find("//@") == std::string::npos);
  }
}

TEST_CASE("members of a kernel's struct are written by name") {
  namespace structs = ops::structs;
  const structs::View view{.data = "x0", .dim = "2, 3"};
  CHECK(structs::declaration("net", "v", view) == "const net_view v = {.data = x0, .dim = {2, 3}};");
  CHECK(structs::declaration("net", "v", view, "") == "net_view v = {.data = x0, .dim = {2, 3}};");
  const auto shape = [](structs::Optional<structs::TextMember> at) {
    return structs::initialiser(structs::Tiles{.k = 0,
                                               .a_row = true,
                                               .a_k = "n",
                                               .ldb = int64_t{-1},
                                               .ldy = size_t{2},
                                               .lo = "0.5f",
                                               .hi = "INFINITY",
                                               .first = Size::expression("m"),
                                               .at = std::move(at)});
  };
  const std::string without =
      "{.k = 0, .a_row = 1, .a_k = n, .ldb = -1, .ldy = 2, .lo = 0.5f, .hi = INFINITY, .first = m";
  CHECK(shape(structs::kAbsent) == without + "}");
  CHECK(shape("t") == without + ", .at = t}");
  CHECK(shape("a_long_name") == without + ",\n    .at = a_long_name}");
}

TEST_CASE("every piece has text, and is found by its name") {
  constexpr Piece kAll[] = {
#define MRVLC_PIECE(piece) Piece::piece,
#include "kernel_pieces.def"
#undef MRVLC_PIECE
  };
  for (Piece piece : kAll) {
    CAPTURE(name(piece));
    CHECK(find_piece(name(piece)) == piece);
    CHECK(kernel(piece).text.empty() == (piece == Piece::nobody));
  }
  CHECK_FALSE(find_piece("no piece").has_value());
}

// One that is not read must be: the generated C of all tests compiles with warnings for unused parameters.
TEST_CASE("an operand that is read is not excused") {
  GraphBuilder b;
  b.output(b.node("Relu", {b.input({2, 3})}));
  const std::string source = file_of(generate_host(b.graph), "net.c");
  const size_t relu = source.find("_Relu(");
  REQUIRE(relu != std::string::npos);
  CHECK(source.substr(relu, source.find("\n}\n", relu) - relu).find("(void)") == std::string::npos);
}
