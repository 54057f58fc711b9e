// The errors of layers as a page.
#include "mrvlc/report/layer_page.h"

#include <fmt/format.h>

#include <array>

#include "pack.h"
#include "static_page.h"

namespace mrvlc::report {
namespace {

constexpr std::array kColumns = {"layer",     "where", "ONNX operators", "error", "own",
                                 "inherited", "limit", "result",         "inputs"};
constexpr size_t kText = 300;  // bytes of a cell

std::string row(const LayerTable::Row& r) {
  std::string out = fmt::format("<tr{}>", r.marked ? " class=\"marked\" id=\"first-bad\"" : "");
  for (size_t i = 0; i < r.cells.size(); ++i) {
    const bool own = i < kColumns.size() && std::string_view(kColumns[i]) == "own";
    const std::string bar =
        own ? fmt::format("<meter value=\"{:.3f}\">{:.0f} %</meter>", r.own_share, 100 * r.own_share)
            : std::string();
    out += fmt::format("<td>{}{}</td>", html_text(r.cells[i], kText), bar);
  }
  return out + "</tr>\n";
}

constexpr std::string_view kTableStyle = R"(
table { border-collapse: collapse; width: 100%; font-variant-numeric: tabular-nums; }
th, td { text-align: left; padding: 3px 10px; border-bottom: 1px solid var(--line); vertical-align: top; }
td { max-width: none; }
td:nth-child(3) { white-space: normal; overflow-wrap: anywhere; min-width: 200px; }
.scroller { overflow-x: auto; }
td:nth-child(5) { white-space: nowrap; }
meter { width: 60px; margin-left: 8px; }
tr.marked { outline: 2px solid var(--bound-3); }
)";

}  // namespace

std::string layer_page(const LayerTable& table) {
  std::string main =
      "<section>\n<div class=\"scroller\" tabindex=\"0\" role=\"region\" aria-label=\"Table of "
      "layers\"><table>\n" +
      table_head({kColumns.begin(), kColumns.end()}) + "<tbody>\n";
  for (const LayerTable::Row& r : table.rows) main += row(r);
  return static_page(table.title, table.summary, kTableStyle,
                     main + "</tbody>\n</table></div>\n</section>\n");
}

}  // namespace mrvlc::report
