#include "mrvlc/driver/options.h"

namespace mrvlc::driver {
namespace {

bool is_alnum(char c) { return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9'); }

}  // namespace

std::string c_identifier(std::string_view text) {
  std::string out;
  for (char c : text) out += is_alnum(c) || c == '_' ? c : '_';
  if (out.empty() || (out[0] >= '0' && out[0] <= '9')) out = "m_" + out;
  return out;
}

std::string file_name_for(std::string_view value_name) {
  std::string out;
  for (char c : value_name) out += is_alnum(c) || c == '.' || c == '_' || c == '-' ? c : '_';
  return out.empty() ? "_" : out;
}

}  // namespace mrvlc::driver
