// Names a user may give to the C interface: which are C identifiers, and what is wrong with others.
#include <algorithm>
#include <array>

#include "mrvlc/driver/options.h"
#include "mrvlc/support/c_words.h"
#include "mrvlc/support/characters.h"
#include "mrvlc/support/file_names.h"
#include "mrvlc/support/hash.h"

namespace mrvlc::driver {
namespace {

// `main` (OUT/main.c is the example program), the standard headers (OUT/math.h would hide <math.h> from every
// file compiled with -I OUT), and names with which a symbol of the stub would be one of mrvl/device.h:
// mrvl_device, mrvl_simulator_error.
constexpr auto kFilesAndPrefixes = std::to_array<std::string_view>(
    {"main",   "assert",    "complex",     "ctype",   "errno",         "fenv",    "inttypes",
     "iso646", "limits",    "locale",      "math",    "setjmp",        "signal",  "stdalign",
     "stdarg", "stdatomic", "stdbit",      "stdbool", "stdckdint",     "stddef",  "stdint",
     "stdio",  "stdlib",    "stdnoreturn", "string",  "tgmath",        "threads", "time",
     "uchar",  "wchar",     "wctype",      "mrvl",    "mrvl_simulator"});

bool is_reserved(std::string_view text) {
  return is_keyword(text) || same_file(text, "main") ||
         std::ranges::find(kFilesAndPrefixes, text) != kFilesAndPrefixes.end();
}

}  // namespace

std::string c_identifier(std::string_view text) {
  std::string out;
  for (char c : text) out += is_word(c) ? c : '_';
  if (out.empty() || is_digit(out[0]) || is_reserved(out)) out = "m_" + out;
  if (out.size() > kMaxName) out = out.substr(0, kMaxName - 9) + "_" + sha256_hex(text).substr(0, 8);
  return out;
}

std::string name_fault(std::string_view name) {
  bool letters = std::all_of(name.begin(), name.end(), [](char c) { return is_word(c); });
  if (name.empty()) return "is not a C identifier";
  if (!letters || is_digit(name[0]))
    return "is not a C identifier; did you mean '" + c_identifier(name) + "'?";
  if (is_reserved(name)) return "is a keyword of C, a standard header, 'main' or a name of mrvl/device.h";
  if (name.size() > kMaxName) return "is longer than " + std::to_string(kMaxName) + " characters";
  return {};
}

}  // namespace mrvlc::driver
