// Choices of precision as a page. Errors are drawn by their logarithm.
#include "mrvlc/report/frontier_page.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "mrvlc/report/numbers.h"
#include "pack.h"
#include "static_page.h"

namespace mrvlc::report {
namespace {

using Row = FrontierTable::Row;
constexpr size_t kCellBytes = 300;  // bytes of a cell
constexpr double kWidth = 640, kHeight = 300, kLeft = 70, kRight = 24, kTop = 16, kBottom = 44;
constexpr double kInfinite = 1e300;
// Exponents that an axis shows: errors below and above lie on its ends.
constexpr int kLeast = -8, kMost = 2;

// Where things lie in the drawing.
class Axes {
 public:
  explicit Axes(const std::vector<Row>& rows) {
    first_ = kMost, last_ = kLeast;
    for (const Row& r : rows) {
      first_ = std::min(first_, static_cast<int>(std::floor(exponent(r))));
      last_ = std::max(last_, static_cast<int>(std::ceil(exponent(r))));
      longest_ = std::max(longest_, r.seconds);
    }
    last_ = std::max(last_, first_ + 1);
  }

  int first() const { return first_; }
  int last() const { return last_; }
  double longest() const { return longest_; }
  double x(double exponent) const {
    return kLeft + (kWidth - kLeft - kRight) * (exponent - first_) / (last_ - first_);
  }
  double x(const Row& r) const { return x(exponent(r)); }
  double y(double seconds) const {
    const double share = longest_ > 0 ? seconds / longest_ : 0;
    return kHeight - kBottom - (kHeight - kTop - kBottom) * share;
  }

 private:
  static double exponent(const Row& r) {
    if (!(r.error > 0)) return kLeast;
    return std::clamp(std::log10(r.error), double{kLeast}, double{kMost});
  }
  int first_ = 0, last_ = 0;
  double longest_ = 0;
};

std::string error_text(double error) {
  return error < kInfinite ? fmt::format("{:.2g}", error) : "infinite";
}

std::string grid(const Axes& axes) {
  std::string out;
  for (int e = axes.first(); e <= axes.last(); ++e) {
    const double x = axes.x(e);
    out += fmt::format("<line x1=\"{0:.1f}\" y1=\"{1:.1f}\" x2=\"{0:.1f}\" y2=\"{2:.1f}\"/>\n", x, kTop,
                       kHeight - kBottom);
    const std::string label = e == kLeast ? "≤ 1e-8" : e == kMost ? "≥ 100" : fmt::format("1e{}", e);
    out += fmt::format("<text class=\"down\" x=\"{:.1f}\" y=\"{:.1f}\">{}</text>\n", x,
                       kHeight - kBottom + 16, label);
  }
  for (const double share : {0.0, 0.5, 1.0}) {
    const double y = axes.y(share * axes.longest());
    out += fmt::format("<line x1=\"{0:.1f}\" y1=\"{1:.1f}\" x2=\"{2:.1f}\" y2=\"{1:.1f}\"/>\n", kLeft, y,
                       kWidth - kRight);
    out += fmt::format("<text class=\"left\" x=\"{:.1f}\" y=\"{:.1f}\">{}</text>\n", kLeft - 8, y + 4,
                       duration(share * axes.longest()));
  }
  return out + fmt::format("<text class=\"down\" x=\"{:.1f}\" y=\"{:.1f}\">largest |a-b| / (1+|b|)</text>\n",
                           (kLeft + kWidth - kRight) / 2, kHeight - 8);
}

std::string drawing(const std::vector<Row>& rows) {
  const Axes axes(rows);
  std::string path, points;
  for (const Row& r : rows) {
    const double x = axes.x(r), y = axes.y(r.seconds);
    path += fmt::format("{}{:.1f} {:.1f}", path.empty() ? "M" : "L", x, y);
    points += fmt::format(
        "<g{}><circle cx=\"{:.1f}\" cy=\"{:.1f}\" r=\"5\"><title>{}</title></circle>"
        "<text x=\"{:.1f}\" y=\"{:.1f}\">{}</text></g>\n",
        r.marked ? " class=\"marked\"" : "", x, y, html_text(r.precision, kCellBytes), x + 8, y - 6, r.pick);
  }
  return fmt::format(
      "<svg class=\"frontier\" viewBox=\"0 0 {} {}\" role=\"img\" aria-label=\"Time against "
      "error\">\n{}<path d=\"{}\"/>\n{}</svg>\n",
      kWidth, kHeight, grid(axes), path, points);
}

std::string table_row(const Row& r) {
  return fmt::format(
      "<tr{}><td>{}</td><td>{}{}</td><td class=\"n\">{}</td><td class=\"n\">{}</td><td "
      "class=\"n\">{}</td></tr>\n",
      r.marked ? " class=\"marked\"" : "", r.pick, html_text(r.precision, kCellBytes),
      r.marked ? " (compiled)" : "", error_text(r.error), duration(r.seconds),
      grouped(static_cast<int64_t>(r.cycles)));
}

constexpr std::string_view kStyle = R"(
svg.frontier { display: block; width: 100%; max-width: 900px; margin: 8px 0 20px; }
svg.frontier line { stroke: var(--line); }
svg.frontier path { fill: none; stroke: var(--line-strong); stroke-width: 1.5; }
svg.frontier text { font: 11px system-ui, sans-serif; fill: var(--soft); }
svg.frontier .down { text-anchor: middle; }
svg.frontier .left { text-anchor: end; }
svg.frontier circle { fill: var(--bound-0); }
svg.frontier .marked circle { fill: var(--bound-3); }
table { border-collapse: collapse; font-variant-numeric: tabular-nums; }
th, td { text-align: left; padding: 3px 10px; border-bottom: 1px solid var(--line); }
th.n, td.n { text-align: right; }
tr.marked { font-weight: 600; }
.scroller { overflow-x: auto; }
)";

}  // namespace

std::string frontier_page(const FrontierTable& table) {
  std::string main = "<section>\n" + drawing(table.rows) +
                     "<div class=\"scroller\" tabindex=\"0\" role=\"region\" aria-label=\"Table of "
                     "precisions\"><table>\n" +
                     table_head({"--pick", "precision", "error", "time", "cycles"}, {2, 5}) + "<tbody>\n";
  for (const Row& r : table.rows) main += table_row(r);
  return static_page(table.title, table.summary, kStyle, main + "</tbody>\n</table></div>\n</section>\n");
}

}  // namespace mrvlc::report
