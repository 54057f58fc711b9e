// Records printed and parsed.
#include "text/record.h"

#include "mrvlc/support/diag/ir.h"
#include "mrvlc/support/printable.h"

namespace mrvlc::accel {
namespace {

constexpr size_t kIndent = 2;  // spaces a level
constexpr size_t kDeepest = 3;

void print_to(const Record& r, size_t depth, std::string& out) {
  out.append(depth * kIndent, ' ');
  const char* gap = "";
  for (const std::string& word : r.words) {
    out += gap + word;
    gap = " ";
  }
  for (const auto& [key, value] : r.fields) {
    out += gap + key + "=" + value;
    gap = " ";
  }
  out += '\n';
  for (const Record& child : r.children) print_to(child, depth + 1, out);
}

Diag error_at(size_t line, size_t column, std::string_view what) {
  return make_diag<DiagCode::MRV0802>(line, column, what);
}

// One line without its indentation, as words and fields. A quoted string may hold anything, blanks too.
class LineParser {
 public:
  LineParser(std::string_view text, size_t line) : text_(text), line_(line) {}

  Result<Record> run() {
    Record record;
    record.line = line_;
    while (skip_blanks()) {
      size_t equals = std::string::npos, begin = at_;
      MRVLC_TRY(token(equals));
      std::string text(text_.substr(begin, at_ - begin));
      if (equals == std::string::npos) {
        if (!record.fields.empty()) return error_at(line_, begin + 1, "a word behind a field");
        record.words.push_back(std::move(text));
        continue;
      }
      size_t key = equals - begin;
      if (key == 0) return error_at(line_, begin + 1, "a field without a name");
      record.fields.emplace_back(text.substr(0, key), text.substr(key + 1));
    }
    return record;
  }

 private:
  bool skip_blanks() {
    while (at_ < text_.size() && text_[at_] == ' ') ++at_;
    return at_ < text_.size() && text_[at_] != '#';
  }

  Status token(size_t& equals) {
    for (; at_ < text_.size() && text_[at_] != ' '; ++at_) {
      if (text_[at_] == '=' && equals == std::string::npos) equals = at_;
      if (text_[at_] == '"') MRVLC_TRY(quoted());
    }
    return {};
  }

  Status quoted() {
    size_t begin = at_;
    for (++at_; at_ < text_.size() && text_[at_] != '"'; ++at_)
      if (text_[at_] == '\\') ++at_;
    if (at_ >= text_.size()) return error_at(line_, begin + 1, "a quote that is not closed");
    return {};
  }

  std::string_view text_;
  size_t line_, at_ = 0;
};

}  // namespace

std::string print(const std::vector<Record>& records) {
  std::string out;
  for (const Record& r : records) print_to(r, 0, out);
  return out;
}

Result<std::vector<Record>> parse_records(std::string_view text) {
  std::vector<Record> top;
  std::vector<std::vector<Record>*> levels = {&top};  // where a record of each depth goes
  for (size_t line = 1; !text.empty(); ++line) {
    size_t end = std::min(text.find('\n'), text.size());
    std::string_view now = text.substr(0, end);
    text.remove_prefix(std::min(text.size(), end + 1));
    if (!now.empty() && now.back() == '\r') now.remove_suffix(1);
    size_t indent = std::min(now.find_first_not_of(' '), now.size());
    MRVLC_ASSIGN(Record record, LineParser(now, line).run());
    if (record.words.empty() && record.fields.empty()) continue;
    if (record.words.empty()) return error_at(line, indent + 1, "a line begins with a word");
    size_t depth = indent / kIndent;
    if (indent % kIndent != 0 || depth >= levels.size() || depth >= kDeepest)
      return error_at(line, indent + 1, "indented by two blanks below its record, no more");
    levels.resize(depth + 1);
    levels[depth]->push_back(std::move(record));
    levels.push_back(&levels[depth]->back().children);
  }
  return top;
}

Diag record_error(const Record& record, std::string_view what) {
  return error_at(record.line, 1, printable(what));
}

}  // namespace mrvlc::accel
