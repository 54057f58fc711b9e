// What pages without a script have in common.
#include "static_page.h"

#include <fmt/format.h>

#include "pack.h"
#include "page.h"

namespace mrvlc::report {

std::string static_page(std::string_view title, std::string_view summary, std::string_view style,
                        std::string_view main) {
  constexpr size_t kTitle = 300, kSummary = 2000;  // bytes
  return fmt::format(
      "<!DOCTYPE html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n"
      "<meta http-equiv=\"Content-Security-Policy\" content=\"default-src 'none'; img-src data:; "
      "style-src 'unsafe-inline'\">\n"
      "<meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">\n"
      "<link rel=\"icon\" href=\"data:,\">\n<title>{0}</title>\n<style>{1}{2}</style>\n</head>\n<body>\n"
      "<header><h1>{0}</h1><p>{3}</p></header>\n<main>\n{4}</main>\n</body>\n</html>\n",
      html_text(title, kTitle), kReportPage.style, style, html_text(summary, kSummary), main);
}

std::string table_head(const std::vector<std::string_view>& columns, std::pair<size_t, size_t> numbers) {
  std::string out = "<thead><tr>";
  for (size_t i = 0; i < columns.size(); ++i)
    out += fmt::format("<th scope=\"col\"{}>{}</th>",
                       i >= numbers.first && i < numbers.second ? " class=\"n\"" : "", columns[i]);
  return out + "</tr></thead>\n";
}

}  // namespace mrvlc::report
