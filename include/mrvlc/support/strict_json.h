// JSON files that people write: a repeated key would win or lose unseen.
#pragma once
#include <nlohmann/json.hpp>
#include <set>
#include <string>
#include <string_view>
#include <vector>

namespace mrvlc {

// Notes a key that an object has more than once, or empty; values are passed over. A parse with a callback,
// which could do this beside, takes time by the square of a list's length.
template <class Json>
class RepeatedKeys : public nlohmann::json_sax<Json> {
 public:
  explicit RepeatedKeys(std::string& twice) : twice_(twice) {}

  bool null() override { return true; }
  bool boolean(bool) override { return true; }
  bool number_integer(typename Json::number_integer_t) override { return true; }
  bool number_unsigned(typename Json::number_unsigned_t) override { return true; }
  bool number_float(typename Json::number_float_t, const typename Json::string_t&) override { return true; }
  bool string(typename Json::string_t&) override { return true; }
  bool binary(typename Json::binary_t&) override { return true; }
  bool start_object(size_t) override {
    open_.emplace_back();
    return true;
  }
  bool key(typename Json::string_t& name) override {
    if (!open_.back().insert(name).second) twice_ = name;
    return true;
  }
  bool end_object() override {
    open_.pop_back();
    return true;
  }
  bool start_array(size_t) override { return true; }
  bool end_array() override { return true; }
  bool parse_error(size_t, const std::string&, const nlohmann::detail::exception&) override { return false; }

 private:
  std::string& twice_;
  std::vector<std::set<std::string>> open_;
};

// Discarded (is_discarded()) when `text` is no JSON. `twice`: a key that an object has more than once, or
// empty.
template <class Json>
Json parse_strict(std::string_view text, std::string& twice) {
  RepeatedKeys<Json> keys(twice);
  if (!Json::sax_parse(text.begin(), text.end(), &keys)) return Json(Json::value_t::discarded);
  return Json::parse(text.begin(), text.end(), nullptr, false);
}

}  // namespace mrvlc
