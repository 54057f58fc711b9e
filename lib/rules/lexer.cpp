// Words, captures (%x), numbers, strings and punctuation with their places; where `-` is a sign of a number.
#include "lexer.h"

#include <charconv>

#include "mrvlc/support/characters.h"

namespace mrvlc::rules {
namespace {

class Lexer {
 public:
  Lexer(std::string_view text, uint32_t file) : text_(text), file_(file) {}

  std::vector<Token> run() {
    std::vector<Token> tokens;
    do {
      skip_blank();
      tokens.push_back(next());
      behind_value_ = ends_value(tokens.back());
    } while (tokens.back().kind != Token::Kind::End);
    return tokens;
  }

 private:
  static bool ends_value(const Token& t) {
    if (t.kind == Token::Kind::Integer || t.kind == Token::Kind::Float) return true;
    return t.kind == Token::Kind::Punctuation && (t.text == ")" || t.text == "]");
  }

  char peek(size_t ahead = 0) const { return at_ + ahead < text_.size() ? text_[at_ + ahead] : '\0'; }

  void skip_blank() {
    while (at_ < text_.size()) {
      char c = text_[at_];
      if (c == '#') {
        while (at_ < text_.size() && text_[at_] != '\n') ++at_;
      } else if (c == '\n') {
        ++at_;
        ++line_;
        line_begin_ = at_;
      } else if (c == ' ' || c == '\t' || c == '\r') {
        ++at_;
      } else {
        return;
      }
    }
  }

  Token next() {
    Token t;
    t.begin = at_;
    t.at = {line_, static_cast<uint32_t>(at_ - line_begin_ + 1), file_};
    if (at_ < text_.size()) read(t);
    t.end = at_;
    return t;
  }

  void read(Token& t) {
    char c = peek();
    if (is_letter(c) || c == '_') return word(t, Token::Kind::Word);
    if (c == '%' && is_word(peek(1))) {
      ++at_;
      return word(t, Token::Kind::Capture);
    }
    // Behind a value `-` is a sign of arithmetic, elsewhere it belongs to the number.
    if (is_digit(c) || (c == '-' && is_digit(peek(1)) && !behind_value_)) return number(t);
    if (c == '"') return string(t);
    punctuation(t);
  }

  void word(Token& t, Token::Kind kind) {
    size_t begin = at_;
    while (is_word(peek()) || (peek() == '.' && is_word(peek(1)))) ++at_;
    t.kind = kind;
    t.text = text_.substr(begin, at_ - begin);
  }

  void number(Token& t) {
    size_t begin = at_;
    bool real = false;
    ++at_;
    while (is_digit(peek())) ++at_;
    if (peek() == '.' && is_digit(peek(1))) {
      real = true;
      ++at_;
      while (is_digit(peek())) ++at_;
    }
    if ((peek() == 'e' || peek() == 'E') &&
        (is_digit(peek(1)) || ((peek(1) == '-' || peek(1) == '+') && is_digit(peek(2))))) {
      real = true;
      at_ += 2;
      while (is_digit(peek())) ++at_;
    }
    convert(t, text_.substr(begin, at_ - begin), real);
  }

  static void convert(Token& t, std::string_view digits, bool real) {
    const char* end = digits.data() + digits.size();
    std::from_chars_result r =
        real ? std::from_chars(digits.data(), end, t.real) : std::from_chars(digits.data(), end, t.integer);
    bool ok = r.ec == std::errc() && r.ptr == end;
    t.kind = !ok ? Token::Kind::Bad : real ? Token::Kind::Float : Token::Kind::Integer;
    t.text = ok ? std::string(digits) : "number out of range";
  }

  void string(Token& t) {
    ++at_;
    t.kind = Token::Kind::String;
    while (peek() != '"') {
      if (at_ >= text_.size() || peek() == '\n') return bad(t, "string is not closed on its line");
      if (peek() == '\\') {
        ++at_;
        if (peek() != '"' && peek() != '\\') return bad(t, "only \\\" and \\\\ are escapes");
      }
      t.text += text_[at_++];
    }
    ++at_;
  }

  void punctuation(Token& t) {
    // The longest that fits is taken: those that begin with another stand in front of it.
    for (std::string_view p : {"...", "..", "::", "==", "!=", "<=", ">=", "<", ">", "=", "{", "}", "(",
                               ")",   "[",  "]",  ",",  "?",  "*",  "|",  "@", "+", "-", "/", "&"}) {
      if (text_.substr(at_, p.size()) != p) continue;
      at_ += p.size();
      t.kind = Token::Kind::Punctuation;
      t.text = p;
      return;
    }
    std::string seen = printable(text_.substr(at_, 1));
    ++at_;
    bad(t, "unexpected character '" + seen + "'");
  }

  static void bad(Token& t, std::string_view what) {
    t.kind = Token::Kind::Bad;
    t.text = what;
  }

  std::string_view text_;
  size_t at_ = 0, line_begin_ = 0;
  uint32_t line_ = 1, file_;
  bool behind_value_ = false;
};

}  // namespace

std::vector<Token> tokenize(std::string_view text, uint32_t file) {
  return Lexer(text, file).run();
}

}  // namespace mrvlc::rules
