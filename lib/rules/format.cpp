// Lines and blanks of rule files. Works on tokens; comments are what stands between them.
#include "mrvlc/rules/format.h"

#include <algorithm>

#include "lexer.h"
#include "parser.h"

namespace mrvlc::rules {
namespace {

constexpr size_t kLineWidth = 100;

using TokenKind = Token::Kind;

bool same_tokens(const std::vector<Token>& a, const std::vector<Token>& b) {
  return std::ranges::equal(
      a, b, [](const Token& x, const Token& y) { return x.kind == y.kind && x.text == y.text; });
}

class Formatter {
 public:
  explicit Formatter(std::string_view text) : text_(text), tokens_(tokenize(text)) {}

  std::string run() {
    for (at_ = 0; at_ < tokens_.size(); ++at_) {
      comments();
      if (tokens_[at_].kind == TokenKind::End) break;
      token(tokens_[at_]);
    }
    end_line();
    return same_tokens(tokens_, tokenize(out_)) ? out_ : std::string(text_);
  }

 private:
  enum class In : uint8_t { File, Group, Rule, Match, Where, Call };

  bool is(size_t i, std::string_view s) const {
    return i < tokens_.size() &&
           (tokens_[i].kind == TokenKind::Punctuation || tokens_[i].kind == TokenKind::Word) &&
           tokens_[i].text == s;
  }

  void end_line() {
    while (!line_.empty() && line_.back() == ' ') line_.pop_back();
    if (!line_.empty()) out_ += line_ + "\n";
    line_.clear();
  }
  void start_line(size_t indent) {
    end_line();
    indent_ = indent;
  }
  void blank_line() {
    end_line();
    if (!out_.empty() && !out_.ends_with("\n\n")) out_ += '\n';
  }

  // What stands between the last token and this one.
  void comments() {
    const size_t begin = at_ == 0 ? 0 : tokens_[at_ - 1].end;
    std::string_view gap = text_.substr(begin, tokens_[at_].begin - begin);
    bool beside = at_ > 0;
    size_t lines = 0;
    while (!gap.empty()) {
      if (gap[0] == '\n') {
        beside = false;
        if (++lines == 2 && in_ == In::File && between_definitions()) blank_line();
      }
      if (gap[0] != '#') {
        gap.remove_prefix(1);
        continue;
      }
      const size_t end = std::min(gap.find('\n'), gap.size());
      std::string_view comment = gap.substr(0, end);
      while (comment.ends_with('\r') || comment.ends_with(' ')) comment.remove_suffix(1);
      comment_line(comment, beside);
      lines = 0;
      gap.remove_prefix(end);
    }
  }

  bool between_definitions() const {
    return is(at_, "rule") || is(at_, "group") || is(at_, "condition") || is(at_, "include") ||
           tokens_[at_].kind == TokenKind::End;
  }

  void comment_line(std::string_view comment, bool beside) {
    if (beside && !line_.empty()) {
      line_ += "  ";
    } else {
      const bool before_definition = between_definitions() && depth_ == 0;
      if (before_definition && !commented_) blank_line();
      start_line(before_definition ? 0 : indent_);
      line_ = std::string(indent_, ' ');
      commented_ = before_definition;
    }
    line_ += comment;
    end_line();
    broken_ = true;
  }

  void token(const Token& t) {
    if (depth_ == 0 && between_definitions() && starts_definition()) {
      definition();
    } else if ((in_ == In::Rule || in_ == In::Where || in_ == In::Call) && starts_clause()) {
      start_line(2);
      in_ = is(at_, "where") ? In::Where : is(at_, "call") ? In::Call : In::Rule;
    } else if (in_ == In::Match && parens_ == 0 && starts_item()) {
      if (!short_match_) start_line(4 + 2 * choices_);
    }
    put(t);
  }

  bool starts_definition() const {
    if (is(at_, "include")) return tokens_[std::min(at_ + 1, tokens_.size() - 1)].kind == TokenKind::String;
    return tokens_[std::min(at_ + 1, tokens_.size() - 1)].kind == TokenKind::Word &&
           (is(at_ + 2, "{") || is(at_ + 2, "=") || is(at_ + 2, "("));
  }
  void definition() {
    const std::string& word = tokens_[at_].text;
    const bool short_one = word == "group" || word == "include";
    if (!commented_ && !(short_one && last_short_ == word)) blank_line();
    last_short_ = short_one ? word : "";
    commented_ = false;
    broken_ = false;
    start_line(0);
    in_ = is(at_, "rule") ? In::File : In::Group;
  }

  bool starts_clause() const {
    if (tokens_[at_].kind != TokenKind::Word || parens_ > 0 || sets_ > 0) return false;
    if (at_ > 0 && (is(at_ - 1, "layer") || is(at_ - 1, "stage")) && !is(at_ - 2, "layer")) return false;
    return std::ranges::any_of(kClauses, [&](std::string_view word) { return is(at_, word); });
  }
  bool starts_item() const {
    if (is(at_, "(")) return !follows_operator();
    return tokens_[at_].kind == TokenKind::Capture && !is(at_ - 1, ",");
  }
  bool follows_operator() const { return at_ > 0 && tokens_[at_ - 1].kind == TokenKind::Word; }

  // The only element, without a comment, in one line.
  bool fits_in_line() const {
    size_t length = 12, elements = 0;
    for (size_t i = at_ + 1; i < tokens_.size() && !is(i, "}"); ++i) {
      length += tokens_[i].end - tokens_[i].begin + 1;
      elements += is(i, "=") ? 1 : 0;
      const std::string_view gap = text_.substr(tokens_[i - 1].end, tokens_[i].begin - tokens_[i - 1].end);
      if (gap.find('#') != std::string_view::npos || (is(i, "(") && tokens_[i - 1].kind != TokenKind::Word))
        return false;
    }
    return elements == 1 && length <= kLineWidth;
  }

  void put(const Token& t) {
    const std::string_view s = text_.substr(t.begin, t.end - t.begin);
    if (brace(s) || choice(s)) return;
    if (s == "(" || s == "[") ++parens_;
    if ((s == ")" || s == "]") && parens_ > 0) --parens_;
    append(s);
  }

  bool brace(std::string_view s) {
    if (s == "{" && (in_ == In::File || (in_ == In::Rule && is(at_ - 1, "match")))) {
      const bool match = in_ == In::Rule;
      append(s);
      ++depth_;
      in_ = match ? In::Match : In::Rule;
      short_match_ = match && fits_in_line();
      if (!short_match_) start_line(match ? 4 : 2);
      return true;
    }
    if (s == "{") ++sets_;
    if (s != "}") return false;
    if (sets_ > 0) {
      --sets_;
      append(s);
      return true;
    }
    const bool match = in_ == In::Match;
    if (!short_match_) start_line(match ? 2 : 0);
    append(s);
    if (depth_ > 0) --depth_;
    in_ = match ? In::Rule : In::File;
    short_match_ = false;
    end_line();
    return true;
  }

  // Alternatives: parentheses and `|` on lines of their own.
  bool choice(std::string_view s) {
    if (in_ != In::Match || parens_ > 0) return false;
    if (s == "(" && !follows_operator()) {
      append(s);
      ++choices_;
      start_line(4 + 2 * choices_);
      return true;
    }
    if (choices_ == 0 || (s != ")" && !(s == "|" && ends_element()))) return false;
    start_line(2 + 2 * choices_);
    append(s);
    if (s == ")") --choices_;
    if (s == "|") end_line();
    return true;
  }
  bool ends_element() const { return is(at_ - 1, ")") || is(at_ - 1, "?") || is(at_ - 1, "*"); }

  void append(std::string_view s) {
    const bool first = line_.empty();
    if (!first && parens_ == (in_ == In::Call ? 1 : 0) && sets_ == 0 && breaks_before(s) &&
        line_.size() + 1 + until_break() > kLineWidth) {
      end_line();
      line_ = std::string(continuation(), ' ');
    } else if (first) {
      line_ = std::string(broken_ && in_ != In::File && !fresh() ? continuation() : indent_, ' ');
    } else if (blank_between(s)) {
      line_ += ' ';
    }
    broken_ = false;
    line_ += s;
  }
  bool begins_line(size_t i) const {
    return is(i, "rule") || is(i, "group") || is(i, "condition") || is(i, "include") ||
           std::ranges::any_of(kClauses, [&](std::string_view word) { return is(i, word); });
  }
  // Columns, about, up to the next place where the line may be broken.
  size_t until_break() const {
    size_t columns = 0, depth = 0;
    for (size_t i = at_; i < tokens_.size() && columns <= kLineWidth; ++i) {
      const Token& t = tokens_[i];
      if (i > at_ && depth == 0 && begins_line(i)) break;
      columns += t.end - t.begin + (i > at_ && t.kind != TokenKind::Punctuation ? 1 : 0);
      if (is(i, "(") || is(i, "[") || is(i, "{")) ++depth;
      if (depth > 0 && (is(i, ")") || is(i, "]") || is(i, "}"))) --depth;
      if (depth == 0 && (is(i, ",") || (i > at_ && (is(i, "or") || is(i, "|") || is(i, "}"))))) break;
    }
    return columns;
  }
  // The token begins something: its line has been chosen.
  bool fresh() const {
    return starts_clause() || starts_item() || is(at_, "}") || is(at_, ")") || is(at_, "|");
  }
  size_t continuation() const { return in_ == In::Group ? 2 : indent_ + 2; }
  bool breaks_before(std::string_view s) const {
    if (in_ == In::Group) return s == "|" || is(at_ - 1, ",") || s == "or";
    return (in_ == In::Where && (is(at_ - 1, ",") || s == "or")) || (in_ == In::Call && is(at_ - 1, ","));
  }

  bool blank_between(std::string_view s) const {
    static constexpr std::string_view kTightBefore[] = {",", ")", "]", "..", "::"};
    static constexpr std::string_view kTightAfter[] = {"(", "[", "..", "::", "@", "&"};
    if (at_ == 0) return false;
    const Token& last = tokens_[at_ - 1];
    const bool mark = last.kind == TokenKind::Punctuation;
    if (std::ranges::find(kTightBefore, s) != std::end(kTightBefore)) return false;
    if (mark && std::ranges::find(kTightAfter, last.text) != std::end(kTightAfter)) return false;
    if (s == "{" && in_ == In::Call) return false;
    if (s == "[" && (is(at_ - 1, ")") || is(at_ - 1, "]"))) return false;
    if (s == "(" || s == "[")
      return last.kind != TokenKind::Word || is(at_ - 1, "in") || is(at_ - 1, "not") || is(at_ - 1, "or");
    if (in_ == In::Match) {
      if (s == "?" || s == "*" || s == "|" || is(at_ - 1, "|")) return false;
      if (s == "...") return !(last.kind == TokenKind::Capture);
      if (is(at_ - 1, "{") || s == "}") return true;
    }
    if (sets_ > 0 && is(at_ - 1, "{")) return false;
    return s != "}" || in_ == In::Match;
  }

  std::string_view text_;
  std::vector<Token> tokens_;
  std::string out_, line_;
  size_t at_ = 0, indent_ = 0, depth_ = 0, parens_ = 0, sets_ = 0, choices_ = 0;
  In in_ = In::File;
  bool short_match_ = false, broken_ = false, commented_ = false;
  std::string last_short_;  // the definition before was one of a line or so: its first word
};

}  // namespace

std::string format_rules(std::string_view text) {
  const std::vector<Token> tokens = tokenize(text);
  if (std::ranges::any_of(tokens, [](const Token& t) { return t.kind == TokenKind::Bad; }))
    return std::string(text);
  return Formatter(text).run();
}

}  // namespace mrvlc::rules
