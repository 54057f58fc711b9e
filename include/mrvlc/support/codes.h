// What each code of a diagnostic means, for `mrvlc explain MRVnnnn` and docs/codes.md. The pages are text, in
// lib/support/codes/.
#pragma once
#include <string>
#include <string_view>
#include <vector>

#include "mrvlc/support/diag.h"

namespace mrvlc {

struct CodePage {
  DiagId code;
  std::string_view what, why, cure;  // empty where there is no page
};

// Every code of mrvlc/support/diag/, in ascending order.
std::vector<CodePage> code_pages();
// Codes that have a page, as the pages name them and in their order.
std::vector<std::string_view> paged_codes();

// "MRV0131" from "mrv131"; empty when it is not of this form. The code need not exist.
std::string as_code(std::string_view text);
std::string code_text(const CodePage& page);
// All of them: one line each, and as a document.
std::string codes_list();
std::string codes_markdown();

}  // namespace mrvlc
