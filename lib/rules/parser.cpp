// Files, includes, groups, named conditions and clauses of rules; after a mistake it goes on at the next one.
#include "parser.h"

#include <fmt/ranges.h>

#include <algorithm>

#include "cursor.h"
#include "mrvlc/rules/predicates.h"
#include "mrvlc/support/diag/rules.h"

namespace mrvlc::rules {

std::string location_text(const Rule& rule, Location at) {
  return fmt::format("{}:{}:{}", rule.origin, at.line, at.column);
}

std::string Cursor::text_since(size_t begin) const {
  std::string out;
  if (begin >= at_) return out;
  bool blank = false;
  for (size_t i = begin; i < at_; ++i) {
    blank = i > begin && tokens_[i].begin > tokens_[i - 1].end;
    if (blank) out += ' ';
    out += text_.substr(tokens_[i].begin, tokens_[i].end - tokens_[i].begin);
  }
  return out;
}

std::string Cursor::describe(std::string_view what) const {
  const Token& t = token();
  if (t.kind == Token::Kind::Bad) return t.text;
  if (t.kind == Token::Kind::End) return std::string(what) + ", found the end of the file";
  return fmt::format("{}, found '{}'", what, printable(text_.substr(t.begin, t.end - t.begin), 40));
}

namespace {

const Expression* free_capture(const Expression& e, const std::vector<std::string>& bound) {
  if (e.kind == Expression::Kind::Capture && std::ranges::find(bound, e.text) == bound.end()) return &e;
  for (const Expression& i : e.items) {
    if (const Expression* found = free_capture(i, bound)) return found;
  }
  return nullptr;
}

// A capture that is not one of `bound`, or nullptr.
const Expression* free_capture(const std::vector<Condition>& conditions,
                               const std::vector<std::string>& bound) {
  for (const Condition& c : conditions) {
    for (const Term& t : c.any_of) {
      if (const Expression* found = free_capture(t.left, bound)) return found;
      for (const Expression& r : t.right) {
        if (const Expression* found = free_capture(r, bound)) return found;
      }
    }
  }
  return nullptr;
}

class FileParser {
 public:
  FileParser(const RuleFile& file, uint32_t number, const Include& include, std::vector<Rule>& rules,
             Messages& messages)
      : file_(file),
        number_(number),
        include_(include),
        tokens_(tokenize(file.text, number)),
        cursor_(tokens_, file.text),
        rules_(rules),
        messages_(messages) {}

  Definitions run(std::vector<GroupUse>& uses) {
    while (!cursor_.at_end()) {
      bool ok = cursor_.is("rule")        ? rule()
                : cursor_.is("group")     ? group()
                : cursor_.is("condition") ? condition()
                : cursor_.is("include")   ? include()
                                        : cursor_.fail("expected 'rule', 'group', 'condition' or 'include'");
      if (ok) continue;
      messages_.add<DiagCode::MRV0301>(file_.shown_name, cursor_.error_at(), cursor_.error());
      if (++errors_ == kMaxMessages) break;
      cursor_.clear_error();
      recover();
    }
    for (const Group& g : groups_) note_use(g, uses);
    if (!found_ && groups_.empty() && named_.empty() && errors_ == 0)
      messages_.file<DiagCode::MRV0322>(file_.shown_name);
    return {std::move(groups_), std::move(named_)};
  }

 private:
  // Included groups were noted when their own file was read.
  void note_use(const Group& g, std::vector<GroupUse>& uses) const {
    if (g.at.file == number_) {
      uses.push_back({g.name, file_.shown_name, g.at, g.operators, g.used});
      return;
    }
    auto use = std::ranges::find(uses, g.at, &GroupUse::at);
    if (use != uses.end()) use->used = use->used || g.used;
  }

  bool include() {
    cursor_.advance();
    const Location at = cursor_.token().at;
    std::string name;
    if (!cursor_.expect(Token::Kind::String, "the name of a file in quotes", name)) return false;
    found_ = true;
    const Definitions* other = include_(name, at);
    if (other == nullptr) return true;
    return take("group", other->groups, groups_, name, at) &&
           take("condition", other->named, named_, name, at);
  }

  // A definition that comes by two ways is one.
  template <class Definition>
  bool take(std::string_view what, const std::vector<Definition>& from, std::vector<Definition>& to,
            const std::string& file, Location at) {
    for (const Definition& d : from) {
      auto same = std::ranges::find(to, d.name, &Definition::name);
      if (same == to.end()) {
        to.push_back(d);
      } else if (!(same->at == d.at)) {
        return cursor_.fail_at(at, fmt::format("'{}' defines {} '{}', which is already defined",
                                               printable(file), what, printable(d.name)));
      }
    }
    return true;
  }

  // To the next `rule NAME {`, `group NAME =`, `condition NAME (` or `include "NAME"`, so that one mistake
  // does not hide the others.
  void recover() {
    cursor_.advance();
    while (!cursor_.at_end()) {
      bool starts = (cursor_.is("rule") && cursor_.token(2).text == "{") ||
                    (cursor_.is("group") && cursor_.token(2).text == "=") ||
                    (cursor_.is("condition") && cursor_.token(2).text == "(");
      if (starts && cursor_.token(1).kind == Token::Kind::Word) return;
      if (cursor_.is("include") && cursor_.token(1).kind == Token::Kind::String) return;
      cursor_.advance();
    }
  }

  bool group() {
    cursor_.advance();
    Location at = cursor_.token().at;
    std::string name;
    if (!cursor_.expect(Token::Kind::Word, "the group's name", name) || !cursor_.expect("=")) return false;
    for (const Group& g : groups_) {
      if (g.name == name) return cursor_.fail_at(at, "group '" + printable(name) + "' is already defined");
    }
    std::vector<Operator> operators;
    if (!parse_operators(cursor_, groups_, operators)) return false;
    groups_.push_back({std::move(name), at, std::move(operators)});
    return true;
  }

  bool condition() {
    cursor_.advance();
    NamedCondition c;
    c.at = cursor_.token().at;
    if (!cursor_.expect(Token::Kind::Word, "the condition's name", c.name) || !cursor_.expect("("))
      return false;
    if (find_function(c.name) != nullptr)
      return cursor_.fail_at(c.at, "'" + c.name + "' is the name of a predicate");
    if (std::ranges::find(named_, c.name, &NamedCondition::name) != named_.end())
      return cursor_.fail_at(c.at, "condition '" + printable(c.name) + "' is already defined");
    do {
      if (c.parameters.size() == kMaxItems) return cursor_.fail("too many parameters");
      if (!cursor_.expect(Token::Kind::Capture, "a parameter: %name", c.parameters.emplace_back()))
        return false;
    } while (cursor_.accept(","));
    if (!cursor_.expect(")") || !cursor_.expect("=") || !parse_conditions(cursor_, named_, c.conditions))
      return false;
    if (const Expression* free = free_capture(c.conditions, c.parameters))
      return cursor_.fail_at(free->at, "'%" + printable(free->text) + "' is no parameter of the condition");
    named_.push_back(std::move(c));
    return true;
  }

  bool stage(Rule& r) {
    if (cursor_.accept("source")) {
      r.stage = Stage::Source;
      return true;
    }
    return cursor_.accept("canonical") || cursor_.fail("expected 'source' or 'canonical'");
  }

  bool rule() {
    size_t begin = cursor_.token().begin;
    cursor_.advance();
    found_ = true;
    Rule r;
    seen_.clear();
    r.origin = file_.shown_name;
    r.at = cursor_.token().at;
    if (!cursor_.expect(Token::Kind::Word, "the rule's name", r.name) || !cursor_.expect("{")) return false;
    while (!cursor_.is("}")) {
      if (!clause(r)) return false;
    }
    r.text = file_.text.substr(begin, cursor_.token().end - begin);
    cursor_.advance();
    if (rules_.size() >= kMaxRules)
      return cursor_.fail_at(r.at, fmt::format("more than {} rules", kMaxRules));
    missing_clauses(r);
    rules_.push_back(std::move(r));
    return true;
  }

  bool clause(Rule& r) {
    Location at = cursor_.token().at;
    for (std::string_view word : kClauses) {
      if (!cursor_.accept(word)) continue;
      if (std::find(seen_.begin(), seen_.end(), word) != seen_.end()) {
        return cursor_.fail_at(at, fmt::format("'{}' stands twice in the rule", word));
      }
      seen_.push_back(word);
      return clause_body(word, r);
    }
    return cursor_.fail(fmt::format("expected '{}' or '}}'", fmt::join(kClauses, "', '")));
  }

  bool clause_body(std::string_view word, Rule& r) {
    if (word == "layer") {
      r.layer_at = cursor_.token().at;
      return cursor_.expect(Token::Kind::Word, "a layer kind", r.layer);
    }
    if (word == "why") return cursor_.expect(Token::Kind::String, "a sentence in quotes", r.why);
    if (word == "match") return parse_pattern(cursor_, groups_, r);
    if (word == "where") return parse_conditions(cursor_, named_, r.where);
    if (word == "stage") return stage(r);
    if (word == "call") return parse_call(cursor_, r.call.emplace());
    if (word == "cost") return parse_expression(cursor_, r.seconds.emplace());
    if (cursor_.token().kind != Token::Kind::Integer) return cursor_.fail("expected a whole number");
    r.priority = cursor_.token().integer;
    cursor_.advance();
    return true;
  }

  void missing_clauses(const Rule& r) {
    for (std::string_view word : {"layer", "priority", "why", "match"}) {
      bool there = std::find(seen_.begin(), seen_.end(), word) != seen_.end();
      if (word == "why" && there && r.why.empty()) there = false;
      if (!there) messages_.at<DiagCode::MRV0310>(r, r.at, r.name, word);
    }
  }

  const RuleFile& file_;
  const uint32_t number_;
  const Include& include_;
  std::vector<Token> tokens_;
  Cursor cursor_;
  Groups groups_;
  NamedConditions named_;
  std::vector<std::string_view> seen_;
  std::vector<Rule>& rules_;
  Messages& messages_;
  size_t errors_ = 0;
  bool found_ = false;  // a rule, or a file that is included
};

}  // namespace

Definitions parse_file(const RuleFile& file, uint32_t number, const Include& include,
                       std::vector<Rule>& rules, std::vector<GroupUse>& groups, Messages& messages) {
  if (file.text.size() > kMaxFileBytes) {
    messages.file<DiagCode::MRV0313>(
        file.shown_name,
        fmt::format("the file has {} bytes; at most {} are read", file.text.size(), kMaxFileBytes));
    return {};
  }
  return FileParser(file, number, include, rules, messages).run(groups);
}

}  // namespace mrvlc::rules
