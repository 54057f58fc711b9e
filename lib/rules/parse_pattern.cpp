// Patterns of rules: operators, operands, groups, repetitions.
#include "cursor.h"
#include "mrvlc/support/nearest.h"
#include "parser.h"

namespace mrvlc::rules {
namespace {

// `@group` of this file, or `@file::group`, which is looked up when all files are read.
bool parse_group_use(Cursor& cursor, Groups& groups, std::vector<Operator>& out) {
  Operator op;
  op.at = cursor.token().at;
  op.group = true;
  if (!cursor.expect(Token::Kind::Word, "a group's name", op.name)) return false;
  if (cursor.accept("::")) {
    op.domain = std::move(op.name);
    if (!cursor.expect(Token::Kind::Word, "a group's name", op.name)) return false;
    out.push_back(std::move(op));
    return true;
  }
  std::vector<std::string_view> names;
  for (Group& g : groups) {
    names.push_back(g.name);
    if (g.name != op.name) continue;
    g.used = true;
    out.insert(out.end(), g.operators.begin(), g.operators.end());
    return true;
  }
  return cursor.fail_at(op.at, "no group '" + printable(op.name) + "' stands above in this file" +
                                   did_you_mean(op.name, names));
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
  if (out.kind == PatternOperand::Kind::Capture && cursor.accept("...")) {
    out.kind = PatternOperand::Kind::List;
    return true;
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

Repeat parse_repeat(Cursor& cursor) {
  if (cursor.accept("?")) return Repeat::Optional;
  return cursor.accept("*") ? Repeat::Many : Repeat::One;
}

// `%a`, `%a...` or `%a, _, %c`
bool parse_names(Cursor& cursor, Element& out) {
  if (!cursor.expect(Token::Kind::Capture, "an element: %name = Operator(...)", out.capture)) return false;
  if (cursor.accept("...")) {
    out.several = true;
    return true;
  }
  while (cursor.accept(",")) {
    if (out.further.size() == kMaxItems) return cursor.fail("too many outputs");
    std::string& name = out.further.emplace_back();
    if (cursor.accept("_")) continue;
    if (!cursor.expect(Token::Kind::Capture, "the name of an output, or '_'", name)) return false;
  }
  return true;
}

bool parse_element(Cursor& cursor, Groups& groups, Element& out) {
  size_t begin = cursor.position();
  out.at = cursor.token().at;
  if (!parse_names(cursor, out)) return false;
  if (!cursor.expect("=") || !parse_operators(cursor, groups, out.operators)) return false;
  if (!parse_operands(cursor, out.operands)) return false;
  out.repeat = parse_repeat(cursor);
  out.text = cursor.text_since(begin);
  return true;
}

class PatternParser {
 public:
  PatternParser(Cursor& cursor, Groups& groups, Rule& rule) : cursor_(cursor), groups_(groups), rule_(rule) {}

  // Up to `}`, `)` or `|`, which stays.
  bool items(std::vector<Item>& out, size_t depth) {
    do {
      if (!item(out.emplace_back(), depth)) return false;
    } while (!cursor_.is("}") && !cursor_.is(")") && !cursor_.is("|") && !cursor_.at_end());
    return true;
  }

 private:
  bool item(Item& out, size_t depth) {
    out.at = cursor_.token().at;
    if (cursor_.is("(")) return choice(out, depth);
    if (rule_.pattern.size() == kMaxElements) return cursor_.fail("too many elements in the pattern");
    out.element = rule_.pattern.size();
    Element e;
    if (!parse_element(cursor_, groups_, e)) return false;
    out.repeat = e.repeat;
    out.text = e.text;
    rule_.pattern.push_back(std::move(e));
    return true;
  }

  bool choice(Item& out, size_t depth) {
    if (depth == kMaxNesting) return cursor_.fail("nested too deeply");
    const size_t begin = cursor_.position();
    cursor_.advance();
    do {
      if (!items(out.alternatives.emplace_back(), depth + 1)) return false;
    } while (cursor_.accept("|"));
    if (!cursor_.expect(")")) return false;
    out.repeat = parse_repeat(cursor_);
    out.text = cursor_.text_since(begin);
    return true;
  }

  Cursor& cursor_;
  Groups& groups_;
  Rule& rule_;
};

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

bool parse_pattern(Cursor& cursor, Groups& groups, Rule& out) {
  return cursor.expect("{") && PatternParser(cursor, groups, out).items(out.items, 0) && cursor.expect("}");
}

void for_each_element(const Rule& rule, const std::vector<Item>& items,
                      const std::function<void(const Element&)>& visit) {
  for (const Item& i : items) {
    if (!i.is_choice()) visit(rule.pattern[i.element]);
    for (const auto& alternative : i.alternatives) for_each_element(rule, alternative, visit);
  }
}

}  // namespace mrvlc::rules
