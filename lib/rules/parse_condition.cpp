// Conditions of rules: terms, values, calls; named conditions are written out where they are used.
#include "cursor.h"
#include "parser.h"

namespace mrvlc::rules {
namespace {

constexpr int kMaxDepth = 6;      // of calls, lists and parentheses in each other; bounds the recursion
constexpr int kMaxOperands = 32;  // of one sum

bool parse_sum(Cursor& cursor, int depth, Expression& out);

bool parse_items(Cursor& cursor, std::string_view close, int depth, std::vector<Expression>& out) {
  return parse_list(cursor, close, depth >= kMaxDepth, kMaxItems, out,
                    [&](Expression& e) { return parse_sum(cursor, depth + 1, e); });
}

bool parse_word(Cursor& cursor, int depth, Expression& out) {
  out.text = cursor.token().text;
  out.kind = Expression::Kind::Word;
  cursor.advance();
  if (!cursor.accept("(")) return true;
  out.kind = Expression::Kind::Call;
  return parse_items(cursor, ")", depth, out.items);
}

bool parse_bracketed(Cursor& cursor, int depth, Expression& out) {
  if (cursor.accept("(")) {
    if (depth >= kMaxDepth) return cursor.fail("nested too deeply");
    return parse_sum(cursor, depth + 1, out) && cursor.expect(")");
  }
  if (!cursor.accept("[")) return cursor.fail("expected a value");
  out.kind = Expression::Kind::List;
  return parse_items(cursor, "]", depth, out.items);
}

bool parse_whole_value(Cursor& cursor, int depth, Expression& out) {
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
      return parse_bracketed(cursor, depth, out);
  }
  out.integer = t.integer;
  out.real = t.real;
  out.text = t.text;
  cursor.advance();
  return true;
}

// Behind what may be a list: the place of one of its elements.
bool parse_value(Cursor& cursor, int depth, Expression& out) {
  if (!parse_whole_value(cursor, depth, out)) return false;
  const bool may_be_list = out.kind == Expression::Kind::Call || out.kind == Expression::Kind::List ||
                           out.kind == Expression::Kind::Arithmetic;
  if (!may_be_list || !cursor.accept("[")) return true;
  if (depth >= kMaxDepth) return cursor.fail("nested too deeply");
  Expression list = std::move(out);
  out = {};
  out.kind = Expression::Kind::At;
  out.text = "[";
  out.at = list.at;
  out.items.push_back(std::move(list));
  return parse_sum(cursor, depth + 1, out.items.emplace_back()) && cursor.expect("]");
}

// Left to right; `next` reads the operands.
template <class Next>
bool parse_chain(Cursor& cursor, std::initializer_list<std::string_view> signs, Next next, Expression& out) {
  if (!next(out)) return false;
  for (int n = 0;; ++n) {
    auto sign = std::ranges::find_if(signs, [&](std::string_view s) { return cursor.is(s); });
    if (sign == signs.end()) return true;
    if (n == kMaxOperands) return cursor.fail("too many operands");
    cursor.advance();
    Expression left = std::move(out);
    out = {};
    out.kind = Expression::Kind::Arithmetic;
    out.text = *sign;
    out.at = left.at;
    out.items.push_back(std::move(left));
    if (!next(out.items.emplace_back())) return false;
  }
}

bool parse_product(Cursor& cursor, int depth, Expression& out) {
  return parse_chain(
      cursor, {"*", "/", "mod"}, [&](Expression& e) { return parse_value(cursor, depth, e); }, out);
}

bool parse_sum(Cursor& cursor, int depth, Expression& out) {
  return parse_chain(
      cursor, {"+", "-"}, [&](Expression& e) { return parse_product(cursor, depth, e); }, out);
}

bool parse_in(Cursor& cursor, Term& out) {
  if (cursor.accept("{")) {
    out.relation = Relation::InSet;
    if (cursor.is("}")) return cursor.fail("expected a value");
    return parse_items(cursor, "}", 0, out.right);
  }
  out.relation = Relation::InRange;
  return parse_sum(cursor, 0, out.right.emplace_back()) && cursor.expect("..") &&
         parse_sum(cursor, 0, out.right.emplace_back());
}

bool parse_relation(Cursor& cursor, Term& out) {
  if (cursor.accept("in")) return parse_in(cursor, out);
  static constexpr std::pair<std::string_view, Relation> kRelations[] = {
      {"==", Relation::Equal},     {"!=", Relation::NotEqual}, {"<", Relation::Less},
      {"<=", Relation::LessEqual}, {">", Relation::Greater},   {">=", Relation::GreaterEqual},
      {"like", Relation::Like}};
  for (const auto& [text, relation] : kRelations) {
    if (!cursor.accept(text)) continue;
    out.relation = relation;
    return parse_sum(cursor, 0, out.right.emplace_back());
  }
  out.relation = Relation::Holds;
  return true;
}

class ConditionParser {
 public:
  ConditionParser(Cursor& cursor, const NamedConditions& named) : cursor_(cursor), named_(named) {}

  bool run(std::vector<Condition>& out) {
    do {
      if (out.size() == kMaxConditions) return cursor_.fail("too many conditions");
      Condition& c = out.emplace_back();
      const size_t begin = cursor_.position();
      c.at = cursor_.token().at;
      do {
        if (c.any_of.size() == kMaxItems) return cursor_.fail("too many alternatives");
        if (!term(c.any_of.emplace_back())) return false;
      } while (cursor_.accept("or"));
      c.text = cursor_.text_since(begin);
    } while (cursor_.accept(","));
    return true;
  }

 private:
  bool term(Term& out) {
    const size_t begin = cursor_.position();
    out.negated = cursor_.accept("not");
    if (!parse_sum(cursor_, 0, out.left) || !parse_relation(cursor_, out)) return false;
    out.text = cursor_.text_since(begin);
    if (out.left.kind != Expression::Kind::Call || out.relation != Relation::Holds) return count();
    auto use = std::ranges::find(named_, out.left.text, &NamedCondition::name);
    return use == named_.end() ? count() : write_out(*use, out);
  }

  bool write_out(const NamedCondition& named, Term& out) {
    if (out.left.items.size() != named.parameters.size()) {
      return cursor_.fail_at(out.left.at, fmt::format("condition '{}' takes {} arguments, has {}", named.name,
                                                      named.parameters.size(), out.left.items.size()));
    }
    names_ = &named.parameters;
    values_ = &out.left.items;
    return conditions(named.conditions, out.named);
  }

  bool count() {
    return ++terms_ <= kMaxTerms || cursor_.fail("too many conditions, with those of named ones");
  }

  bool conditions(const std::vector<Condition>& from, std::vector<Condition>& to) {
    for (const Condition& c : from) {
      Condition& copy = to.emplace_back();
      copy.text = c.text;
      copy.at = c.at;
      for (const Term& t : c.any_of) {
        if (!count()) return false;
        Term& now = copy.any_of.emplace_back();
        now.negated = t.negated;
        now.relation = t.relation;
        now.text = t.text;
        now.left = expression(t.left);
        for (const Expression& r : t.right) now.right.push_back(expression(r));
        if (!conditions(t.named, now.named)) return false;
      }
    }
    return true;
  }

  Expression expression(const Expression& e) const {
    if (e.kind == Expression::Kind::Capture) {
      auto it = std::ranges::find(*names_, e.text);
      if (it != names_->end()) return (*values_)[static_cast<size_t>(it - names_->begin())];
    }
    Expression out = e;
    for (Expression& i : out.items) i = expression(i);
    return out;
  }

  Cursor& cursor_;
  const NamedConditions& named_;
  const std::vector<std::string>* names_ = nullptr;  // what is written out now: its parameters
  const std::vector<Expression>* values_ = nullptr;  // and what they stand for
  size_t terms_ = 0;
};

}  // namespace

bool parse_expression(Cursor& cursor, Expression& out) {
  return parse_sum(cursor, 0, out);
}

bool parse_conditions(Cursor& cursor, const NamedConditions& named, std::vector<Condition>& out) {
  return ConditionParser(cursor, named).run(out);
}

}  // namespace mrvlc::rules
