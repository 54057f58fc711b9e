// A position in the tokens of a rule file, and what parsers of patterns and conditions share.
#pragma once
#include <algorithm>

#include "lexer.h"

namespace mrvlc::rules {

// The first syntax error of a rule; parsing functions return false after recording it.
class Cursor {
 public:
  Cursor(const std::vector<Token>& tokens, std::string_view text) : tokens_(tokens), text_(text) {}

  const Token& token(size_t ahead = 0) const { return tokens_[std::min(at_ + ahead, tokens_.size() - 1)]; }
  bool at_end() const { return token().kind == Token::Kind::End; }
  void advance() {
    if (!at_end()) ++at_;
  }
  bool is(std::string_view text) const {
    return (token().kind == Token::Kind::Punctuation || token().kind == Token::Kind::Word) &&
           token().text == text;
  }
  bool accept(std::string_view text) {
    if (!is(text)) return false;
    advance();
    return true;
  }
  bool expect(std::string_view text) { return accept(text) || fail("expected '" + std::string(text) + "'"); }
  bool expect(Token::Kind kind, std::string_view what, std::string& out) {
    if (token().kind != kind) return fail("expected " + std::string(what));
    out = token().text;
    advance();
    return true;
  }
  // What stands at the cursor is not what was expected; a Bad token says itself what is wrong.
  bool fail(std::string_view what) { return fail_at(token().at, describe(what)); }
  bool fail_at(Location at, std::string what) {
    if (!failed_) {
      failed_ = true;
      error_at_ = at;
      error_ = std::move(what);
    }
    return false;
  }
  bool failed() const { return failed_; }
  Location error_at() const { return error_at_; }
  const std::string& error() const { return error_; }
  void clear_error() { failed_ = false; }
  // The text from token `begin` to the one before the cursor, blanks as one space.
  std::string text_since(size_t begin) const;
  size_t position() const { return at_; }

 private:
  std::string describe(std::string_view what) const;
  const std::vector<Token>& tokens_;
  std::string_view text_;
  size_t at_ = 0;
  bool failed_ = false;
  Location error_at_;
  std::string error_;
};

struct Group {
  std::string name;
  Location at;
  std::vector<Operator> operators;
  bool used = false;
};
using Groups = std::vector<Group>;

// `condition NAME(%a, %b) = ...`
struct NamedCondition {
  std::string name;
  Location at;
  std::vector<std::string> parameters;
  std::vector<Condition> conditions;
};
using NamedConditions = std::vector<NamedCondition>;

// What a file defines for those that include it, with what it includes itself.
struct Definitions {
  Groups groups;
  NamedConditions named;
};

// Groups that they name are used then.
bool parse_operators(Cursor& cursor, Groups& groups, std::vector<Operator>& out);
// Elements and items of the rule.
bool parse_pattern(Cursor& cursor, Groups& groups, Rule& out);
// Items with commas between them up to `close`, each read by parse(item); there may be none.
template <class Item, class Parse>
bool parse_list(Cursor& cursor, std::string_view close, bool too_deep, size_t most, std::vector<Item>& out,
                Parse parse) {
  if (cursor.accept(close)) return true;
  if (too_deep) return cursor.fail("nested too deeply");
  do {
    if (out.size() == most) return cursor.fail("too many items");
    if (!parse(out.emplace_back())) return false;
  } while (cursor.accept(","));
  return cursor.expect(close);
}
// A sum, product or value.
bool parse_expression(Cursor& cursor, Expression& out);
// What stands behind `call`.
bool parse_call(Cursor& cursor, CallTemplate& out);
// Named conditions that they use are written out.
bool parse_conditions(Cursor& cursor, const NamedConditions& named, std::vector<Condition>& out);

}  // namespace mrvlc::rules
