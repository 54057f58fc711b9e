// The fixed parts of report.html, compiled in from the folder page/.
#pragma once
#include <string_view>

namespace mrvlc::report {

extern const std::string_view kPage;    // marks @POLICY@, @STYLE@, @DATA@, @SCRIPT@ in this order
extern const std::string_view kStyle;   // CSS
extern const std::string_view kScript;  // JavaScript

}  // namespace mrvlc::report
