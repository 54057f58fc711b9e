// The errors of layers as a page.
#include "mrvlc/report/layer_page.h"

#include <fmt/format.h>

#include <array>

#include "mrvlc/support/diag.h"
#include "page.h"

namespace mrvlc::report {
namespace {

constexpr std::array kColumns = {"layer", "where", "ONNX operators", "error", "own", "inherited",
                                 "limit", "",      "inputs"};
constexpr size_t kText = 300;  // bytes of a cell

std::string escaped(const std::string& text, size_t most) {
  std::string out;
  for (char c : printable(text, most)) {
    if (c == '&')
      out += "&amp;";
    else if (c == '<')
      out += "&lt;";
    else if (c == '>')
      out += "&gt;";
    else if (c == '"')
      out += "&quot;";
    else
      out += c;
  }
  return out;
}

std::string row(const LayerTable::Row& r) {
  std::string out = fmt::format("<tr{}>", r.marked ? " class=\"marked\" id=\"first-bad\"" : "");
  for (size_t i = 0; i < r.cells.size(); ++i) {
    const bool own = i < kColumns.size() && std::string_view(kColumns[i]) == "own";
    const std::string bar =
        own ? fmt::format("<meter value=\"{:.3f}\">{:.0f} %</meter>", r.own_share, 100 * r.own_share)
            : std::string();
    out += fmt::format("<td>{}{}</td>", escaped(r.cells[i], kText), bar);
  }
  return out + "</tr>\n";
}

constexpr std::string_view kTableStyle = R"(
table { border-collapse: collapse; width: 100%; font-variant-numeric: tabular-nums; }
th, td { text-align: left; padding: 3px 10px; border-bottom: 1px solid var(--line); vertical-align: top; }
td:nth-child(3) { overflow-wrap: anywhere; }
td:nth-child(5) { white-space: nowrap; }
meter { width: 60px; margin-left: 8px; }
tr.marked { outline: 2px solid var(--bound-3); }
)";

}  // namespace

std::string layer_page(const LayerTable& table) {
  std::string out = "<!DOCTYPE html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n";
  out +=
      "<meta http-equiv=\"Content-Security-Policy\" content=\"default-src 'none'; img-src data:; "
      "style-src 'unsafe-inline'\">\n";
  out += fmt::format(
      "<meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">\n"
      "<link rel=\"icon\" href=\"data:,\">\n<title>{0}</title>\n<style>{1}{2}</style>\n</head>\n<body>\n"
      "<header><h1>{0}</h1><p>{3}</p></header>\n<main>\n<section>\n<table>\n<thead><tr>",
      escaped(table.title, kText), kStyle, kTableStyle, escaped(table.summary, 2000));
  for (const char* column : kColumns) out += fmt::format("<th scope=\"col\">{}</th>", column);
  out += "</tr></thead>\n<tbody>\n";
  for (const LayerTable::Row& r : table.rows) out += row(r);
  return out + "</tbody>\n</table>\n</section>\n</main>\n</body>\n</html>\n";
}

}  // namespace mrvlc::report
