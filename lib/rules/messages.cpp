// Messages about rule files: excerpts, order, and the limit on their number.
#include "messages.h"

#include <algorithm>
#include <tuple>

#include "mrvlc/support/characters.h"

namespace mrvlc::rules {
namespace {

constexpr size_t kExcerptWidth = 100;  // columns of an excerpt

bool continues_character(char c) {
  return (static_cast<unsigned char>(c) & 0xc0) == 0x80;
}

std::string_view line_of(std::string_view text, uint32_t line) {
  for (; line > 1; --line) {
    const size_t end = text.find('\n');
    if (end == std::string_view::npos) return {};
    text.remove_prefix(end + 1);
  }
  return text.substr(0, text.find_first_of("\r\n"));
}

// Bytes of the word, capture or character at the start.
size_t marked(std::string_view rest) {
  size_t n = !rest.empty() && (rest[0] == '%' || rest[0] == '@') ? 1 : 0;
  while (n < rest.size() && is_word(rest[n])) ++n;
  return std::max<size_t>(n, 1);
}

// As it is shown, one column a character.
std::string plain(std::string_view text) {
  std::string out;
  for (size_t i = 0; i < text.size();) {
    size_t n = 1;
    while (i + n < text.size() && continues_character(text[i + n])) ++n;
    const std::string shown = text[i] == '\t' ? " " : printable(text.substr(i, n));
    out += shown.starts_with("\\") && text[i] != '\\' ? "?" : shown;
    i += n;
  }
  return out;
}

size_t columns(std::string_view text) {
  return static_cast<size_t>(std::ranges::count_if(text, [](char c) { return !continues_character(c); }));
}

}  // namespace

std::string excerpt(std::string_view text, Location at) {
  std::string_view line = line_of(text, at.line);
  size_t column = std::min<size_t>(at.column - 1, line.size());
  if (line.find_first_not_of(" \t") == std::string_view::npos) return {};
  const size_t blanks = std::min(line.find_first_not_of(" \t"), column);
  line.remove_prefix(blanks);
  column -= blanks;
  std::string dots;
  if (column > kExcerptWidth / 2) {  // a long line: what stands around the place
    size_t cut = column - kExcerptWidth / 2;
    while (cut < column && continues_character(line[cut])) ++cut;
    line.remove_prefix(cut);
    column -= cut;
    dots = "...";
  }
  const std::string before = dots + plain(line.substr(0, column));
  size_t length = std::min(line.size() - column, kExcerptWidth);
  while (column + length < line.size() && continues_character(line[column + length])) ++length;
  const std::string_view rest = line.substr(column, length);
  const size_t under = std::max<size_t>(columns(rest.substr(0, marked(rest))), 1);
  return fmt::format("  {}{}\n  {}^{}", before, plain(rest), std::string(columns(before), ' '),
                     std::string(under - 1, '~'));
}

Messages::Messages(const std::vector<RuleFile>& files) : files_(files) {
  for (size_t i = 0; i < files.size(); ++i) index_.emplace(files[i].shown_name, i);
}

std::string Messages::location_text(std::string_view file, Location at) {
  return fmt::format("{}:{}:{}", file, at.line, at.column);
}

size_t Messages::index_of(std::string_view file, Location at) const {
  if (at.file != 0 && at.file <= files_.size()) return at.file - 1;
  auto it = index_.find(file);
  return it == index_.end() ? 0 : it->second;
}

std::string_view Messages::name_of(size_t index, std::string_view otherwise) const {
  return index < files_.size() ? std::string_view(files_[index].shown_name) : otherwise;
}

std::string Messages::shown(size_t file, Location at) const {
  return file < files_.size() ? excerpt(files_[file].text, at) : std::string();
}

bool Messages::full(DiagId code) {
  size_t& kept = diag_info(code).severity == Severity::Error ? errors_ : others_;
  if (kept++ < kMaxMessages) return false;
  ++left_out_;
  return true;
}

void Messages::push(size_t file, Location at, Diag diag) {
  entries_.push_back({file, at, std::move(diag)});
}

Diagnostics Messages::take() {
  auto is_error = [](const Entry& e) { return e.diag.severity() == Severity::Error; };
  std::ranges::stable_sort(entries_, {},
                           [](const Entry& e) { return std::tuple(e.file, e.at.line, e.at.column); });
  const size_t all = entries_.size() + left_out_;
  size_t room = all > kMaxMessages ? kMaxMessages - 1 : kMaxMessages;
  const auto errors = static_cast<size_t>(std::ranges::count_if(entries_, is_error));
  size_t errors_left = std::min(errors, room), others_left = room - errors_left;
  Diagnostics out;
  for (Entry& e : entries_) {
    size_t& left = is_error(e) ? errors_left : others_left;
    if (left == 0) continue;
    --left;
    out.add(std::move(e.diag));
  }
  if (all > kMaxMessages) out.add(make_diag<DiagCode::MRV0327>(all - room));
  entries_.clear();
  return out;
}

}  // namespace mrvlc::rules
