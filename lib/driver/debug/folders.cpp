// Whole parts of paths only: a name that merely begins like a folder stays.
#include "debug/folders.h"

#include <algorithm>

#include "mrvlc/support/characters.h"

namespace mrvlc::driver {
namespace fs = std::filesystem;
namespace {

bool goes_on(char c) {
  return is_word(c) || c == '-' || c == '.';
}

}  // namespace

void Folders::add(const fs::path& folder, std::string_view shown) {
  std::error_code ec;
  for (const fs::path& path : {folder, fs::weakly_canonical(folder, ec)}) {
    std::string text = path.lexically_normal().string();
    while (text.ends_with('/')) text.pop_back();
    if (text.empty() || text.front() != '/') continue;
    all_.push_back({std::move(text), std::string(shown)});
  }
  std::ranges::stable_sort(all_, std::greater(), [](const Folder& f) { return f.path.size(); });
}

std::string Folders::without(std::string text) const {
  for (const Folder& f : all_) {
    for (size_t at = 0; (at = text.find(f.path, at)) != text.npos;) {
      const size_t end = at + f.path.size();
      if ((at > 0 && goes_on(text[at - 1])) || (end < text.size() && goes_on(text[end]))) {
        at = end;
        continue;
      }
      text.replace(at, f.path.size(), f.shown);
      at += f.shown.size();
    }
  }
  return text;
}

}  // namespace mrvlc::driver
