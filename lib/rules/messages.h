// What the parser and the checker have to say: each message with file, line and column, the line itself and a
// caret under the place; in order, and not more of them than anybody reads.
#pragma once
#include <map>
#include <span>

#include "mrvlc/rules/rule_set.h"
#include "mrvlc/support/diag/rules.h"

namespace mrvlc::rules {

inline constexpr size_t kMaxMessages = 64;  // of all files together

// "    %c = Convx(%x)\n         ^~~~~": the line of the text with a caret under the word that begins there.
std::string excerpt(std::string_view text, Location at);

class Messages {
 public:
  explicit Messages(const std::vector<RuleFile>& files);

  template <DiagId Code, class... Args>
  void add(std::string_view file, Location at, Args&&... args) {
    const size_t index = index_of(file, at);
    if (full(Code)) return;
    push(index, at,
         make_diag<Code>(location_text(name_of(index, file), at), std::forward<Args>(args)...,
                         shown(index, at)));
  }
  // Of a rule: at a place in it.
  template <DiagId Code, class... Args>
  void at(const Rule& rule, Location place, Args&&... args) {
    add<Code>(rule.origin, place, std::forward<Args>(args)...);
  }
  // About a file as a whole; the text has no excerpt.
  template <DiagId Code, class... Args>
  void file(std::string_view file, Args&&... args) {
    if (!full(Code)) push(index_of(file, {}), {}, make_diag<Code>(file, std::forward<Args>(args)...));
  }
  // About no file.
  template <DiagId Code>
  void general() {
    if (!full(Code)) push(files_.size(), {}, make_diag<Code>());
  }
  size_t errors() const { return errors_; }
  // In order of file and line, at most kMaxMessages: errors first take the room there is.
  Diagnostics take();

 private:
  struct Entry {
    size_t file;
    Location at;
    Diag diag;
  };
  static std::string location_text(std::string_view file, Location at);
  // The place may be in another file than the rule that it is about: in one that is included.
  size_t index_of(std::string_view file, Location at) const;
  std::string_view name_of(size_t index, std::string_view otherwise) const;
  std::string shown(size_t file, Location at) const;
  bool full(DiagId code);
  void push(size_t file, Location at, Diag diag);

  const std::vector<RuleFile>& files_;
  std::map<std::string_view, size_t> index_;
  std::vector<Entry> entries_;
  size_t errors_ = 0, others_ = 0, left_out_ = 0;
};

}  // namespace mrvlc::rules
