// Fields of records to and from values. A description of a struct is written once, as a template over the two
// classes here: one writes the fields that differ from what absence means, the other reads them.
#pragma once
#include <concepts>
#include <iterator>
#include <set>

#include "primitive/program.h"
#include "text/record.h"

namespace mrvlc::accel {

inline constexpr int64_t kMostNumber = int64_t{1} << 31;  // read; more cannot be a size or an offset

std::string number_text(int64_t value);
std::string number_text(float value);  // reads back to the same bits, but for those of a NaN
std::string list_text(const Dims& values);
bool read_number(std::string_view text, int64_t& value);
bool read_number(std::string_view text, float& value);
bool read_list(std::string_view text, Dims& values);

class FieldWriter {
 public:
  explicit FieldWriter(Record& record) : record_(record) {}
  void text(const char* key, std::string value) { record_.fields.emplace_back(key, std::move(value)); }
  template <class T>
  void number(const char* key, const T& value, T absent) {
    if (value != absent) text(key, written(value));
  }
  void list(const char* key, const Dims& values, const Dims& absent) {
    if (values != absent) text(key, list_text(values));
  }
  void two(const char* key, int64_t a, int64_t b, int64_t absent) {
    if (a != absent || b != absent) text(key, list_text({a, b}));
  }
  void flag(const char* key, bool value) {
    if (value) text(key, "1");
  }

 private:
  template <std::integral T>
  static std::string written(T value) {
    return number_text(static_cast<int64_t>(value));
  }
  static std::string written(float value) { return number_text(value); }
  Record& record_;
};

// Keeps the first error; `done` also refuses fields that nobody asked for.
class FieldReader {
 public:
  explicit FieldReader(const Record& record) : record_(record) {}
  const std::string* find(std::string_view key);
  template <class T>
  void number(const char* key, T& value, T absent) {
    value = absent;
    const std::string* t = find(key);
    if (t != nullptr) read(key, *t, value);
  }
  void list(const char* key, Dims& values, const Dims& absent);
  void two(const char* key, int64_t& a, int64_t& b, int64_t absent);
  void flag(const char* key, bool& value);
  void fail(std::string_view what);
  Status done();

 private:
  template <std::integral T>
  void read(const char* key, const std::string& t, T& value) {
    int64_t n = 0;
    bool ok = read_number(t, n) && (n >= 0 || std::signed_integral<T>);
    ok ? static_cast<void>(value = static_cast<T>(n)) : fail(std::string(key) + " is no number");
  }
  void read(const char* key, const std::string& t, float& value) {
    if (!read_number(t, value)) fail(std::string(key) + " is no number");
  }
  const Record& record_;
  std::set<std::string_view> asked_;
  Status error_;
};

// The position of a name among `names`; -1: none.
template <size_t N>
int position(const char* const (&names)[N], std::string_view name) {
  for (size_t i = 0; i < N; ++i)
    if (name == names[i]) return static_cast<int>(i);
  return -1;
}

}  // namespace mrvlc::accel
