// Pages out of their parts.
#include <fmt/format.h>

#include "mrvlc/support/base64.h"
#include "mrvlc/support/hash.h"
#include "page.h"

namespace mrvlc::report {
namespace {

// 'sha256-...' of Content-Security-Policy: nothing but the page's own style and script runs, whatever the
// data.
std::string source_hash(std::string_view text) {
  std::string hex = sha256_hex(text), bytes;
  for (size_t i = 0; i < hex.size(); i += 2) {
    bytes.push_back(static_cast<char>(std::stoi(hex.substr(i, 2), nullptr, 16)));
  }
  return "'sha256-" + base64(bytes) + "'";
}

}  // namespace

std::string page_with(const PageParts& parts, std::string_view data) {
  const std::string policy = fmt::format("default-src 'none'; img-src data:; style-src {}; script-src {}",
                                         source_hash(parts.style), source_hash(parts.script));
  const std::pair<std::string_view, std::string_view> marks[] = {
      {"@POLICY@", policy}, {"@STYLE@", parts.style}, {"@DATA@", data}, {"@SCRIPT@", parts.script}};
  std::string out;
  out.reserve(parts.page.size() + policy.size() + parts.style.size() + data.size() + parts.script.size());
  std::string_view rest = parts.page;
  for (const auto& [mark, text] : marks) {
    size_t at = rest.find(mark);
    out.append(rest.substr(0, at)).append(text);
    rest = rest.substr(at + mark.size());
  }
  return out.append(rest);
}

}  // namespace mrvlc::report
