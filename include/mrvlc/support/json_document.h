// JSON for files, pages and terminals: names in it come from models.
#pragma once
#include <string>

namespace mrvlc {

// JSON text in which what does not show (printable.h) is escaped, and what is no UTF-8 is U+FFFD. The values
// that a reader gets are the same.
std::string escaped_json(std::string json);

// On one line.
template <class Json>
std::string json_line(const Json& value) {
  return escaped_json(value.dump(-1, ' ', false, Json::error_handler_t::replace));
}

// As files and stdout have it: indented by one, a line feed at the end.
template <class Json>
std::string json_document(const Json& value) {
  return escaped_json(value.dump(1, ' ', false, Json::error_handler_t::replace)) + "\n";
}

}  // namespace mrvlc
