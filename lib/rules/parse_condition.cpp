// Conditions of rules: `when` and what stands in it.
#include "cursor.h"
#include "parser.h"

namespace mrvlc::rules {
namespace {

constexpr int kMaxDepth = 4;  // of calls in calls; bounds the recursion

bool parse_expression(Cursor& cursor, int depth, Expression& out);

bool parse_items(Cursor& cursor, std::string_view close, int depth, std::vector<Expression>& out) {
  if (cursor.accept(close)) return true;
  if (depth >= kMaxDepth) return cursor.fail("nested too deeply");
  do {
    if (out.size() == kMaxItems) return cursor.fail("too many items");
    if (!parse_expression(cursor, depth + 1, out.emplace_back())) return false;
  } while (cursor.accept(","));
  return cursor.expect(close);
}

bool parse_word(Cursor& cursor, int depth, Expression& out) {
  out.text = cursor.token().text;
  out.kind = Expression::Kind::Word;
  cursor.advance();
  if (!cursor.accept("(")) return true;
  out.kind = Expression::Kind::Call;
  return parse_items(cursor, ")", depth, out.items);
}

bool parse_expression(Cursor& cursor, int depth, Expression& out) {
  const Token& t = cursor.token();
  out.at = t.at;
  switch (t.kind) {
    case Token::Kind::Word:
      return parse_word(cursor, depth, out);
    case Token::Kind::Integer:
      out.kind = Expression::Kind::Integer;
      break;
    case Token::Kind::Float:
      out.kind = Expression::Kind::Float;
      break;
    case Token::Kind::String:
      out.kind = Expression::Kind::String;
      break;
    case Token::Kind::Capture:
      out.kind = Expression::Kind::Capture;
      break;
    default:
      if (!cursor.accept("[")) return cursor.fail("expected a value");
      out.kind = Expression::Kind::List;
      return parse_items(cursor, "]", depth, out.items);
  }
  out.integer = t.integer;
  out.real = t.real;
  out.text = t.text;
  cursor.advance();
  return true;
}

bool parse_in(Cursor& cursor, Term& out) {
  if (cursor.accept("{")) {
    out.relation = Relation::InSet;
    if (cursor.is("}")) return cursor.fail("expected a value");
    return parse_items(cursor, "}", 0, out.right);
  }
  out.relation = Relation::InRange;
  return parse_expression(cursor, 0, out.right.emplace_back()) && cursor.expect("..") &&
         parse_expression(cursor, 0, out.right.emplace_back());
}

bool parse_relation(Cursor& cursor, Term& out) {
  if (cursor.accept("in")) return parse_in(cursor, out);
  static constexpr std::pair<std::string_view, Relation> kRelations[] = {
      {"==", Relation::Equal},     {"!=", Relation::NotEqual}, {"<", Relation::Less},
      {"<=", Relation::LessEqual}, {">", Relation::Greater},   {">=", Relation::GreaterEqual}};
  for (const auto& [text, relation] : kRelations) {
    if (!cursor.accept(text)) continue;
    out.relation = relation;
    return parse_expression(cursor, 0, out.right.emplace_back());
  }
  out.relation = Relation::Holds;
  return true;
}

bool parse_term(Cursor& cursor, Term& out) {
  size_t begin = cursor.position();
  out.negated = cursor.accept("not");
  if (!parse_expression(cursor, 0, out.left) || !parse_relation(cursor, out)) return false;
  out.text = cursor.text_since(begin);
  return true;
}

}  // namespace

bool parse_conditions(Cursor& cursor, std::vector<Condition>& out) {
  do {
    if (out.size() == kMaxConditions) return cursor.fail("too many conditions");
    Condition& c = out.emplace_back();
    size_t begin = cursor.position();
    c.at = cursor.token().at;
    do {
      if (c.any_of.size() == kMaxItems) return cursor.fail("too many alternatives");
      if (!parse_term(cursor, c.any_of.emplace_back())) return false;
    } while (cursor.accept("or"));
    c.text = cursor.text_since(begin);
  } while (cursor.accept(","));
  return true;
}

}  // namespace mrvlc::rules
