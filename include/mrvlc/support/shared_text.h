// A text that is not changed any more and that many hold: the reason that a million nodes have in common is
// in memory once. Made of a string, it is one of its own; TextPool finds those that are there already.
#pragma once
#include <fmt/format.h>

#include <memory>
#include <string>
#include <string_view>
#include <unordered_set>

namespace mrvlc {

class SharedText {
 public:
  SharedText() = default;
  SharedText(std::string text)  // NOLINT: implicit
      : text_(text.empty() ? nullptr : std::make_shared<const std::string>(std::move(text))) {}
  SharedText(const char* text) : SharedText(std::string(text)) {}  // NOLINT: implicit

  const std::string& str() const {
    static const std::string kEmpty;
    return text_ ? *text_ : kEmpty;
  }
  operator const std::string&() const { return str(); }  // NOLINT: implicit
  operator std::string_view() const { return str(); }    // NOLINT: implicit
  bool empty() const { return text_ == nullptr; }
  void clear() { text_.reset(); }
  friend bool operator==(const SharedText& a, std::string_view b) { return a.str() == b; }

 private:
  std::shared_ptr<const std::string> text_;
};

class TextPool {
 public:
  SharedText get(std::string text) { return *texts_.emplace(std::move(text)).first; }

 private:
  struct Hash {
    size_t operator()(const SharedText& t) const { return std::hash<std::string_view>()(t.str()); }
  };
  struct Equal {
    bool operator()(const SharedText& a, const SharedText& b) const { return a.str() == b.str(); }
  };
  std::unordered_set<SharedText, Hash, Equal> texts_;  // looked up only
};

}  // namespace mrvlc

template <>
struct fmt::formatter<mrvlc::SharedText> : fmt::formatter<std::string_view> {
  template <class Context>
  auto format(const mrvlc::SharedText& text, Context& context) const {
    return fmt::formatter<std::string_view>::format(text.str(), context);
  }
};
