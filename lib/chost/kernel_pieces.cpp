// kernels/*.c taken apart.
#include "kernel_pieces.h"

#include <fmt/format.h>

#include <array>
#include <map>

#include "kernel_text.h"
#include "mrvlc/support/characters.h"

namespace mrvlc::chost {
namespace {

constexpr std::string_view kNames[] = {
#define MRVLC_PIECE(name) #name,
#include "kernel_pieces.def"
#undef MRVLC_PIECE
};
using Kernels = std::array<KernelPiece, std::size(kNames)>;

// The identifier in front of the first "(".
std::string symbol_of(std::string_view head) {
  size_t end = head.find('(');
  if (end == std::string_view::npos) return {};
  size_t begin = end;
  while (begin > 0 && is_word(head[begin - 1])) --begin;
  return std::string(head.substr(begin, end - begin));
}

// The names behind the colon of "NAME: DEPS".
std::vector<Piece> deps_of(std::string_view head) {
  std::vector<Piece> deps;
  size_t at = std::min(head.find(':'), head.size());
  while ((at = head.find_first_not_of(": ", at)) != std::string_view::npos) {
    const size_t end = std::min(head.find(' ', at), head.size());
    deps.push_back(*find_piece(head.substr(at, end - at)));
    at = end;
  }
  return deps;
}

constexpr std::string_view kWhen = "//@ when ", kUnless = "//@ unless ", kEnd = "//@ end";

// The piece that a line "//@ when NAME" or "//@ unless NAME" asks about.
std::optional<Piece> asked_by(std::string_view line) {
  for (std::string_view mark : {kWhen, kUnless})
    if (line.starts_with(mark)) return find_piece(line.substr(mark.size()));
  return std::nullopt;
}

// A line of text, with its end, and what is behind it.
std::string_view take_line(std::string_view& text) {
  const size_t end = std::min(text.find('\n'), text.size() - 1) + 1;
  const std::string_view line = text.substr(0, end);
  text.remove_prefix(end);
  return line;
}

std::string_view without_space(std::string_view line) {
  const size_t first = std::min(line.find_first_not_of(' '), line.size());
  return line.substr(first, line.find_last_not_of("\n") + 1 - first);
}

// Lines "// ..." are for readers of the compiler.
void add(Kernels& kernels, Piece piece, std::vector<Piece> deps, std::string_view text) {
  KernelPiece& k = kernels[static_cast<size_t>(piece)];
  k.deps = std::move(deps);
  while (!text.empty()) {
    const std::string_view line = take_line(text), words = without_space(line);
    if (words.starts_with("//") && !words.starts_with("//@")) continue;
    if (auto asked = asked_by(words)) k.asks.push_back(*asked);
    k.text += line;
  }
}

// "//@ piece NAME: DEPS" and everything up to the next such line.
void split(std::string_view code, Kernels& kernels) {
  constexpr std::string_view kMark = "//@ piece ";
  size_t at = code.find(kMark);
  while (at != std::string_view::npos) {
    const size_t eol = code.find('\n', at), next = code.find(kMark, eol);
    const std::string_view head = code.substr(at + kMark.size(), eol - at - kMark.size());
    std::string text(code.substr(eol + 1, next == std::string_view::npos ? next : next - eol - 1));
    while (text.ends_with("\n\n")) text.pop_back();
    add(kernels, *find_piece(head.substr(0, head.find(':'))), deps_of(head), std::move(text));
    at = next;
  }
}

const Kernels& kernels() {
  static const Kernels all = [] {
    Kernels k;
    for (size_t i = 0; i < kKernelTextCount; ++i) split(kKernelTexts[i].code, k);
    return k;
  }();
  return all;
}

}  // namespace

std::optional<Piece> find_piece(std::string_view name) {
  static const std::map<std::string_view, Piece> all = [] {
    std::map<std::string_view, Piece> m;
    for (size_t i = 0; i < std::size(kNames); ++i) m.emplace(kNames[i], static_cast<Piece>(i));
    return m;
  }();
  auto it = all.find(name);
  return it == all.end() ? std::nullopt : std::optional(it->second);
}

std::string_view name(Piece piece) {
  return kNames[static_cast<size_t>(piece)];
}

const KernelPiece& kernel(Piece piece) {
  return kernels()[static_cast<size_t>(piece)];
}

std::string resolved(std::string_view text, const std::function<bool(Piece)>& used) {
  std::string out;
  std::vector<bool> kept = {true};  // by depth
  while (!text.empty()) {
    const std::string_view line = take_line(text), words = without_space(line);
    if (auto asked = asked_by(words)) {
      kept.push_back(kept.back() && used(*asked) == words.starts_with(kWhen));
    } else if (words == kEnd) {
      kept.pop_back();
    } else if (kept.back()) {
      out += line;
    }
  }
  return out;
}

std::string with_prefix(std::string_view text, std::string_view prefix) {
  std::string out;
  for (size_t i = 0; i < text.size(); ++i) {
    if (text[i] == 'K' && i + 1 < text.size() && text[i + 1] == '_' && (i == 0 || !is_word(text[i - 1]))) {
      out += prefix;
    } else {
      out += text[i];
    }
  }
  return out;
}

std::vector<FunctionLines> functions_of(std::string_view text) {
  std::vector<FunctionLines> found;
  std::string head;
  uint32_t line_number = 0, head_line = 0;
  bool in_body = false;
  while (!text.empty()) {
    size_t eol = std::min(text.find('\n'), text.size());
    std::string_view line = text.substr(0, eol);
    text.remove_prefix(std::min(eol + 1, text.size()));
    ++line_number;
    if (in_body) {
      if (!line.starts_with('}')) continue;
      if (line == "}") {
        found.push_back({symbol_of(head), head_line, line_number});
      }
      in_body = false;
      head.clear();
      continue;
    }
    bool starts = !line.empty() && (is_word(line[0]));
    if (starts) {
      head = line;
      head_line = line_number;
    } else if (!head.empty() && line.starts_with(' ')) {
      head += line;
    } else {
      head.clear();
    }
    if (head.ends_with(';')) head.clear();
    if (!head.empty() && head.ends_with('{')) in_body = true;
  }
  return found;
}

}  // namespace mrvlc::chost
