// JSON files that people write: a repeated key would win or lose unseen.
#pragma once
#include <nlohmann/json.hpp>
#include <set>
#include <string>
#include <string_view>
#include <vector>

namespace mrvlc {

// Discarded (is_discarded()) when `text` is no JSON. `twice`: a key that an object has more than once, or
// empty.
template <class Json>
Json parse_strict(std::string_view text, std::string& twice) {
  std::vector<std::set<std::string>> open;
  auto callback = [&](int, typename Json::parse_event_t event, Json& parsed) {
    if (event == Json::parse_event_t::object_start) open.emplace_back();
    if (event == Json::parse_event_t::object_end) open.pop_back();
    if (event == Json::parse_event_t::key && !open.back().insert(parsed.template get<std::string>()).second)
      twice = parsed.template get<std::string>();
    return true;
  };
  return Json::parse(text.begin(), text.end(), callback, false);
}

}  // namespace mrvlc
