// Clause `call`: a C function and a template of its arguments.
#include "cursor.h"
#include "parser.h"

namespace mrvlc::rules {
namespace {

constexpr int kMaxArgumentDepth = 4;  // of structures and arrays in each other; bounds the recursion

bool parse_argument(Cursor& cursor, int depth, CallArgument& out);

bool parse_arguments(Cursor& cursor, std::string_view close, int depth, std::vector<CallArgument>& out) {
  return parse_list(cursor, close, depth > kMaxArgumentDepth, kMaxItems, out,
                    [&](CallArgument& a) { return parse_argument(cursor, depth + 1, a); });
}

bool parse_argument(Cursor& cursor, int depth, CallArgument& out) {
  out.at = cursor.token().at;
  out.address = cursor.accept("&");
  const bool structure = cursor.token().kind == Token::Kind::Word && cursor.token(1).text == "{";
  if (out.address && !structure) return cursor.fail("expected the name of a structure and '{'");
  if (structure) {
    out.kind = CallArgument::Kind::Structure;
    out.type = cursor.token().text;
    cursor.advance();
    cursor.advance();
    return parse_arguments(cursor, "}", depth, out.items);
  }
  if (cursor.accept("[")) {
    out.kind = CallArgument::Kind::Array;
    return parse_arguments(cursor, "]", depth, out.items);
  }
  return parse_expression(cursor, out.value);
}

}  // namespace

bool parse_call(Cursor& cursor, CallTemplate& out) {
  out.at = cursor.token().at;
  if (!cursor.expect(Token::Kind::Word, "the name of a C function", out.function) || !cursor.expect("(") ||
      !parse_arguments(cursor, ")", 0, out.arguments))
    return false;
  if (!cursor.accept("returns")) return true;
  if (cursor.token().kind != Token::Kind::Integer) return cursor.fail("expected a whole number");
  out.returns = cursor.token().integer;
  cursor.advance();
  return true;
}

}  // namespace mrvlc::rules
