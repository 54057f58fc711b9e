// Numbers and lists in the texts of stages.
#include "text/fields.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <charconv>

namespace mrvlc::accel {
namespace {

template <class T>
bool read_whole(std::string_view text, T& value) {
  auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  return error == std::errc() && end == text.data() + text.size();
}

}  // namespace

std::string number_text(int64_t value) {
  return fmt::format("{}", value);
}

std::string number_text(float value) {
  return fmt::format("{}", value);
}

std::string list_text(const Dims& values) {
  return values.empty() ? "-" : fmt::format("{}", fmt::join(values, ","));
}

bool read_number(std::string_view text, int64_t& value) {
  return read_whole(text, value) && value <= kMostNumber && value >= -kMostNumber;
}

bool read_number(std::string_view text, float& value) {
  return read_whole(text, value);
}

bool read_list(std::string_view text, Dims& values) {
  values.clear();
  if (text == "-") return true;
  for (;;) {
    size_t comma = text.find(',');
    values.push_back(0);
    if (!read_number(text.substr(0, comma), values.back())) return false;
    if (comma == std::string_view::npos) return true;
    text.remove_prefix(comma + 1);
  }
}

const std::string* FieldReader::find(std::string_view key) {
  asked_.insert(key);
  auto it = std::ranges::find(record_.fields, key, [](const auto& f) -> std::string_view { return f.first; });
  return it == record_.fields.end() ? nullptr : &it->second;
}

void FieldReader::list(const char* key, Dims& values, const Dims& absent) {
  values = absent;
  const std::string* t = find(key);
  if (t != nullptr && !read_list(*t, values)) fail(std::string(key) + " is no list of numbers");
}

void FieldReader::two(const char* key, int64_t& a, int64_t& b, int64_t absent) {
  Dims values;
  list(key, values, {absent, absent});
  if (values.size() != 2) {
    fail(std::string(key) + " takes two numbers");
    return;
  }
  a = values[0];
  b = values[1];
}

void FieldReader::flag(const char* key, bool& value) {
  const std::string* t = find(key);
  value = t != nullptr;
  if (t != nullptr && *t != "1") fail(std::string(key) + " is 1 or absent");
}

void FieldReader::fail(std::string_view what) {
  if (error_.ok()) error_ = record_error(record_, what);
}

Status FieldReader::done() {
  for (const auto& [key, value] : record_.fields)
    if (!asked_.contains(key)) fail("there is no field " + key + " here");
  for (size_t i = 1; i < record_.fields.size(); ++i)
    for (size_t k = 0; k < i; ++k)
      if (record_.fields[i].first == record_.fields[k].first) fail("two fields " + record_.fields[i].first);
  return error_;
}

}  // namespace mrvlc::accel
