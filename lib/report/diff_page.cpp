// Two compiles side by side, as a page.
#include "mrvlc/report/diff_page.h"

#include <fmt/format.h>

#include <cmath>

#include "pack.h"
#include "static_page.h"

namespace mrvlc::report {
namespace {

constexpr size_t kCell = 600;  // bytes of a cell

constexpr std::string_view kDiffStyle = R"(
table { border-collapse: collapse; }
th, td { padding: 5px 10px; border-bottom: 1px solid var(--line); vertical-align: top; white-space: normal; max-width: none; overflow-wrap: break-word; }
th.n { text-align: right; }
th { position: static; color: var(--soft); font-weight: 600; }
th:first-child, td:first-child { padding-left: 0; }
td.n { text-align: right; font-variant-numeric: tabular-nums; white-space: nowrap; }
td.why { color: var(--soft); }
.better { color: var(--good); }
.worse { color: var(--bad); }
.fails td { background: var(--stripe); font-weight: 600; }
.change { display: flex; width: 120px; height: 10px; margin-top: 5px; background: linear-gradient(var(--line), var(--line)) center / 1px 100% no-repeat; }
.change svg { display: block; width: 120px; height: 10px; }
.change .slower { fill: var(--bad); }
.change .faster { fill: var(--good); }
section > .scroller { overflow-x: auto; }
h2 { margin-bottom: 8px; }
@media (max-width: 700px) { table { font-size: 12px; } th, td { padding: 4px 6px; } .optional { display: none; } td.operators { min-width: 150px; } td.total { min-width: 84px; overflow-wrap: anywhere; } td.why { min-width: 150px; } }
)";

std::string cell(const std::string& text, const char* classes = nullptr) {
  const std::string shown = html_text(text, kCell);
  return classes == nullptr ? fmt::format("<td>{}</td>", shown)
                            : fmt::format("<td class=\"{}\">{}</td>", classes, shown);
}

std::string section(const char* title, const std::string& table) {
  return fmt::format(
      "<section>\n<h2>{0}</h2>\n<div class=\"scroller\" tabindex=\"0\" role=\"region\" "
      "aria-label=\"{0}\"><table>\n{1}</table></div>\n</section>\n",
      title, table);
}

const char* word(DiffPage::Change how) {
  constexpr const char* kClasses[] = {"n", "n better", "n worse", "n"};
  return kClasses[static_cast<size_t>(how)];
}

std::string totals(const DiffPage& page) {
  std::string out = table_head({"number", "before", "after", "change"}, {1, 4}) + "<tbody>\n";
  for (const DiffPage::Total& t : page.totals)
    out += fmt::format("<tr{}>{}{}{}{}</tr>\n", t.fails ? " class=\"fails\"" : "", cell(t.name, "total"),
                       cell(t.before, "n"), cell(t.after, "n"),
                       cell(t.change + (t.fails ? ", worse than the tolerance" : ""), word(t.how)));
  return section("Numbers", out + "</tbody>\n");
}

// From the middle to the right for what became slower, to the left for what became faster.
std::string bar(double share) {
  const double length = 60 * std::min(std::abs(share), 1.0);
  return fmt::format(
      "<span class=\"change\"><svg viewBox=\"0 0 120 10\" aria-hidden=\"true\"><rect class=\"{}\" "
      "x=\"{:.1f}\" y=\"0\" "
      "width=\"{:.1f}\" height=\"10\"/></svg></span>",
      share > 0 ? "slower" : "faster", share > 0 ? 60 : 60 - length, length);
}

std::string layers(const DiffPage& page) {
  std::string out =
      table_head({"ONNX operators", "before", "after", "change", "bar", "why"}, {1, 4}) + "<tbody>\n";
  for (const DiffPage::Layer& l : page.layers)
    out += fmt::format("<tr>{}{}{}{}<td class=\"optional\">{}</td>{}</tr>\n", cell(l.operators, "operators"),
                       cell(l.before, "n"), cell(l.after, "n"),
                       cell(l.change, l.share > 0   ? "n worse"
                                      : l.share < 0 ? "n better"
                                                    : "n"),
                       bar(l.share), cell(l.why, "why"));
  return section("Cycles by layer, the largest change first", out + "</tbody>\n");
}

std::string placement(const DiffPage& page) {
  std::string out = table_head({"node", "operator", "before", "after", "why"}) + "<tbody>\n";
  for (const DiffPage::Node& n : page.placement)
    out += fmt::format("<tr>{}{}{}{}{}</tr>\n", cell(n.name), cell(n.op_type), cell(n.before), cell(n.after),
                       cell(n.reason, "why"));
  return section("Nodes that run elsewhere", out + "</tbody>\n");
}

std::string inputs(const DiffPage& page) {
  std::string out = table_head({"input", "before", "after"}) + "<tbody>\n";
  for (const DiffPage::Input& i : page.inputs)
    out += fmt::format("<tr>{}{}{}</tr>\n", cell(i.what), cell(i.before), cell(i.after));
  return section("What the two were given", out + "</tbody>\n");
}

}  // namespace

std::string diff_page(const DiffPage& page) {
  std::string main = totals(page);
  if (!page.inputs.empty()) main += inputs(page);
  if (!page.layers.empty()) main += layers(page);
  if (!page.placement.empty()) main += placement(page);
  return static_page(page.title, page.summary, kDiffStyle, main);
}

}  // namespace mrvlc::report
