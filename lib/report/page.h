// The fixed parts of the pages, compiled in from the folder page/, and how data is put into them.
#pragma once
#include <string>
#include <string_view>

namespace mrvlc::report {

struct PageParts {
  std::string_view page;    // HTML with the marks @POLICY@, @STYLE@, @DATA@, @SCRIPT@ in this order
  std::string_view style;   // CSS
  std::string_view script;  // JavaScript
};
extern const PageParts kReportPage, kGraphPage, kBatchPage;

// `data`: JSON whose texts are made by json_string (pack.h).
std::string page_with(const PageParts& parts, std::string_view data);

}  // namespace mrvlc::report
