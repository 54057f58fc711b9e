// Pages parsed out of the text of lib/support/codes/ and printed as text, as a list and as Markdown.
#include "mrvlc/support/codes.h"

#include <algorithm>
#include <array>
#include <map>

#include "code_table.h"

namespace mrvlc {
namespace {

constexpr size_t kWidth = 92;

std::string_view take_line(std::string_view& text) {
  const size_t end = std::min(text.find('\n'), text.size());
  const std::string_view line = text.substr(0, end);
  text.remove_prefix(std::min(end + 1, text.size()));
  return line;
}

using Part = std::string_view CodePage::*;
constexpr std::pair<std::string_view, Part> kParts[] = {
    {"what: ", &CodePage::what}, {"why: ", &CodePage::why}, {"do: ", &CodePage::cure}};

// In the order of the files.
std::vector<std::pair<std::string_view, CodePage>> read_pages() {
  std::vector<std::pair<std::string_view, CodePage>> pages;
  for (std::string_view text : kCodePages) {
    while (!text.empty()) {
      const std::string_view line = take_line(text);
      if (line.starts_with("MRV")) pages.emplace_back(line, CodePage{});
      for (const auto& [word, part] : kParts) {
        if (line.starts_with(word) && !pages.empty()) pages.back().second.*part = line.substr(word.size());
      }
    }
  }
  return pages;
}

std::string_view severity_name(const DiagInfo& info) {
  constexpr std::string_view kNames[] = {"note", "warning", "error"};
  return kNames[static_cast<size_t>(info.severity)];
}

// "error, exit code 1"; what is no error does not decide on the exit code.
std::string kind(const DiagInfo& info) {
  if (info.severity != Severity::Error) return std::string(severity_name(info));
  return fmt::format("error, exit code {}", static_cast<int>(info.exit_class));
}

// The message with its arguments as "...".
std::string message_form(const DiagInfo& info) {
  std::string out;
  for (size_t i = 0; i < info.text.size(); ++i) {
    const char c = info.text[i];
    if (c == '\n') break;  // excerpts of files
    const bool doubled = (c == '{' || c == '}') && i + 1 < info.text.size() && info.text[i + 1] == c;
    if (doubled) {
      out += c;
      ++i;
    } else if (c == '{') {
      out += "...";
      i = info.text.find('}', i);
    } else {
      out += c;
    }
  }
  return out;
}

std::string wrapped(std::string_view text, std::string_view indent) {
  std::string out(indent);
  size_t column = indent.size();
  while (!text.empty()) {
    const size_t end = std::min(text.find(' '), text.size());
    if (column > indent.size() && column + 1 + end > kWidth) {
      out += "\n" + std::string(indent);
      column = indent.size();
    } else if (column > indent.size()) {
      out += ' ';
      ++column;
    }
    out += text.substr(0, end);
    column += end;
    text.remove_prefix(std::min(end + 1, text.size()));
  }
  return out + "\n";
}

}  // namespace

std::vector<CodePage> code_pages() {
  const auto pages = read_pages();
  const std::map<std::string_view, CodePage> by_name(pages.begin(), pages.end());
  std::vector<CodePage> out;
  for (DiagId id : kCodes) {
    const auto page = by_name.find(id->name);
    out.push_back(page == by_name.end() ? CodePage{} : page->second);
    out.back().code = id;
  }
  std::ranges::sort(out, {}, [](const CodePage& p) { return p.code->name; });
  return out;
}

std::vector<std::string_view> paged_codes() {
  std::vector<std::string_view> out;
  for (const auto& [name, page] : read_pages()) out.push_back(name);
  return out;
}

std::string as_code(std::string_view text) {
  std::string letters;
  for (char c : text.substr(0, 3)) letters += c >= 'a' && c <= 'z' ? static_cast<char>(c - 'a' + 'A') : c;
  const std::string_view digits = text.substr(letters.size());
  const bool number = !digits.empty() && digits.size() <= 4 &&
                      std::ranges::all_of(digits, [](char c) { return c >= '0' && c <= '9'; });
  if (letters != "MRV" || !number) return {};
  return letters + std::string(4 - digits.size(), '0') + std::string(digits);
}

std::string code_text(const CodePage& page) {
  return fmt::format("{} ({})\n{}\n{}\nWhy\n{}\nWhat to do\n{}", page.code->name, kind(*page.code),
                     wrapped(message_form(*page.code), "  "), wrapped(page.what, ""), wrapped(page.why, "  "),
                     wrapped(page.cure, "  "));
}

std::string codes_list() {
  std::string out;
  for (const CodePage& page : code_pages())
    out += fmt::format("{}  {:<7}  {}\n", page.code->name, severity_name(*page.code), page.what);
  return out;
}

std::string codes_markdown() {
  std::string out;
  for (const CodePage& page : code_pages())
    out += fmt::format("\n## {}\n\n*{}*: `{}`\n\n{}\n\nWhy: {}\n\nWhat to do: {}\n", page.code->name,
                       kind(*page.code), message_form(*page.code), page.what, page.why, page.cure);
  return out;
}

}  // namespace mrvlc
