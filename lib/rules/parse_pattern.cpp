// Patterns of rules: operators, operands, groups, repetitions.
#include "cursor.h"
#include "mrvlc/support/nearest.h"
#include "parser.h"

namespace mrvlc::rules {
namespace {

bool parse_group_use(Cursor& cursor, Groups& groups, std::vector<Operator>& out) {
  Location at = cursor.token().at;
  std::string name;
  if (!cursor.expect(Token::Kind::Word, "a group's name", name)) return false;
  std::vector<std::string_view> names;
  for (Group& g : groups) {
    names.push_back(g.name);
    if (g.name != name) continue;
    g.used = true;
    out.insert(out.end(), g.operators.begin(), g.operators.end());
    return true;
  }
  return cursor.fail_at(
      at, "no group '" + printable(name) + "' stands above in this file" + did_you_mean(name, names));
}

bool parse_operator(Cursor& cursor, Groups& groups, std::vector<Operator>& out) {
  if (cursor.accept("@")) return parse_group_use(cursor, groups, out);
  Operator op;
  op.at = cursor.token().at;
  if (!cursor.expect(Token::Kind::Word, "an operator", op.name)) return false;
  if (cursor.accept("::")) {
    op.domain = std::move(op.name);
    if (!cursor.expect(Token::Kind::Word, "an operator", op.name)) return false;
  }
  out.push_back(std::move(op));
  return true;
}

bool parse_operand(Cursor& cursor, PatternOperand& out) {
  out.at = cursor.token().at;
  if (cursor.accept("...")) {
    out.kind = PatternOperand::Kind::Rest;
    return cursor.is(")") || cursor.fail("'...' must be the last operand");
  }
  if (cursor.token().kind == Token::Kind::Capture) {
    out.kind = PatternOperand::Kind::Capture;
    out.capture = cursor.token().text;
    cursor.advance();
  } else if (!cursor.accept("_")) {
    return cursor.fail("expected an operand: a capture, '_' or '...'");
  }
  out.optional = cursor.accept("?");
  return true;
}

bool parse_operands(Cursor& cursor, std::vector<PatternOperand>& out) {
  if (!cursor.expect("(")) return false;
  if (cursor.accept(")")) return true;
  do {
    if (out.size() == kMaxItems) return cursor.fail("too many operands");
    if (!parse_operand(cursor, out.emplace_back())) return false;
  } while (cursor.accept(","));
  return cursor.expect(")");
}

bool parse_element(Cursor& cursor, Groups& groups, Element& out) {
  size_t begin = cursor.position();
  out.at = cursor.token().at;
  if (!cursor.expect(Token::Kind::Capture, "an element: %name = Operator(...)", out.capture)) return false;
  if (!cursor.expect("=") || !parse_operators(cursor, groups, out.operators)) return false;
  if (!parse_operands(cursor, out.operands)) return false;
  if (cursor.accept("?"))
    out.repeat = Element::Repeat::Optional;
  else if (cursor.accept("*"))
    out.repeat = Element::Repeat::Many;
  out.text = cursor.text_since(begin);
  return true;
}

}  // namespace

std::string operators_text(const Element& element) {
  std::string out;
  for (const Operator& op : element.operators) {
    if (!out.empty()) out += '|';
    if (!op.domain.empty()) out += op.domain + "::";
    out += op.name;
  }
  return out;
}

bool parse_operators(Cursor& cursor, Groups& groups, std::vector<Operator>& out) {
  do {
    if (!parse_operator(cursor, groups, out)) return false;
    if (out.size() > kMaxItems) return cursor.fail("too many alternatives");
  } while (cursor.accept("|"));
  return true;
}

bool parse_pattern(Cursor& cursor, Groups& groups, std::vector<Element>& out) {
  if (!cursor.expect("{")) return false;
  do {
    if (out.size() == kMaxElements) return cursor.fail("too many elements in the pattern");
    if (!parse_element(cursor, groups, out.emplace_back())) return false;
  } while (!cursor.is("}") && !cursor.at_end());
  return cursor.expect("}");
}

}  // namespace mrvlc::rules
