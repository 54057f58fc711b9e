// The graph as one picture; graphs of bodies stand below that of the model.
#include <fmt/format.h>

#include <algorithm>

#include "graph/nested.h"
#include "mrvlc/report/numbers.h"
#include "pack.h"

namespace mrvlc::report {
namespace {

constexpr size_t kTipText = 300;  // bytes of a tooltip's parts
constexpr int32_t kMargin = 16, kHeading = 30;

constexpr std::string_view kSvgStyle = R"(
text { font: 11px system-ui, -apple-system, "Segoe UI", sans-serif; fill: #5a6473; text-anchor: middle; }
.title { font-size: 13px; font-weight: 600; fill: #1a1f27; }
.heading { font-size: 14px; font-weight: 600; fill: #1a1f27; text-anchor: start; }
.name { font-size: 12px; font-weight: 600; fill: #2f6fd6; text-anchor: start; }
.paper { fill: #ffffff; }
.card { fill: #ffffff; stroke: #b9c1cd; }
.layer .card { fill: #eef4fd; stroke: #7ba4e6; }
.call .card { fill: #f3eefb; stroke: #a98ad8; }
.input .card, .output .card { fill: #f1f3f6; stroke: #8791a0; }
.time { fill: #c2453b; }
.region { fill: #f7fafe; stroke: #2f6fd6; stroke-dasharray: 5 3; }
.port { fill: #2f6fd6; }
.edge { fill: none; stroke: #8791a0; stroke-width: 1.2; }
.cut { stroke-dasharray: 2 2; }
@media (prefers-color-scheme: dark) {
text { fill: #9aa5b4; }
.title, .heading { fill: #e6e9ee; }
.name { fill: #8ab4f8; }
.paper { fill: #12151a; }
.card { fill: #1a1e25; stroke: #4a5464; }
.layer .card { fill: #1c2a40; stroke: #4a82e0; }
.call .card { fill: #2a2140; stroke: #8f6bd8; }
.input .card, .output .card { fill: #21262f; stroke: #667080; }
.region { fill: #151b25; stroke: #4a82e0; }
.edge { stroke: #667080; }
}
)";

class SvgWriter {
 public:
  explicit SvgWriter(const Graph& graph) : g_(graph) {
    for (const GraphItem& item : g_.items) cards_.push_back(card_of(item));
    layout_ = lay_out(g_, cards_);
    for (const GraphItem& item : g_.items) most_ = std::max(most_, item.seconds.value_or(0));
  }

  int32_t width() const { return layout_.outer.layout.width; }
  int32_t height() const { return layout_.outer.layout.height; }

  std::string at(int32_t x, int32_t y) {
    out_.clear();
    level(layout_.outer, x, y);
    return std::move(out_);
  }

 private:
  void level(const Level& l, int32_t x, int32_t y) {
    for (size_t i = 0; i < l.boxes.size(); ++i)
      if (l.boxes[i].kind == NestedBox::Kind::Region) region(l, i, x, y);
    for (const Route& r : l.layout.routes) route(l, r, x, y);
    for (size_t i = 0; i < l.boxes.size(); ++i) {
      const int32_t left = x + l.layout.x[i] - l.sizes[i].width / 2, top = y + top_of(l, i);
      if (l.boxes[i].kind == NestedBox::Kind::Item) item(l.boxes[i].index, left, top);
      if (l.boxes[i].kind == NestedBox::Kind::Port) port(l.boxes[i].index, left, top);
    }
  }
  static int32_t top_of(const Level& l, size_t box) {
    return l.layout.top[static_cast<size_t>(l.layout.rank[box])];
  }

  void region(const Level& l, size_t box, int32_t x, int32_t y) {
    const uint32_t index = l.boxes[box].index;
    const int32_t left = x + l.layout.x[box] - l.sizes[box].width / 2, top = y + top_of(l, box);
    const GraphRegion& r = g_.regions[index];
    std::string title = fmt::format("region {}", r.id);
    if (r.seconds) title += ", " + duration(*r.seconds);
    out_ += fmt::format("<rect class=\"region\" x=\"{}\" y=\"{}\" width=\"{}\" height=\"{}\" rx=\"10\"/>\n",
                        left, top, l.sizes[box].width, l.sizes[box].height);
    out_ += fmt::format("<text class=\"name\" x=\"{}\" y=\"{}\">{}</text>\n", left + 10, top + 17, title);
    level(layout_.regions[index], left + kRegionPad, top + kRegionHead);
  }

  void item(uint32_t index, int32_t left, int32_t top) {
    const GraphItem& it = g_.items[index];
    const Card& c = cards_[index];
    out_ += fmt::format(
        "<g class=\"{}\"><title>{}</title><rect class=\"card\" x=\"{}\" y=\"{}\" width=\"{}\" height=\"{}\" "
        "rx=\"6\"/>",
        name(it.kind), tooltip(it), left, top, c.width, c.height);
    if (it.seconds && most_ > 0) {
      const auto part = static_cast<int32_t>(*it.seconds / most_ * (c.width - 12));
      if (part > 0)
        out_ += fmt::format("<rect class=\"time\" x=\"{}\" y=\"{}\" width=\"{}\" height=\"3\"/>", left + 6,
                            top + c.height - 4, part);
    }
    int32_t y = top + 21;
    out_ += fmt::format("<text class=\"title\" x=\"{}\" y=\"{}\">{}</text>", left + c.width / 2, y,
                        html_text(c.title, kTipText));
    for (const std::string& line : c.lines) {
      if (line.empty()) continue;
      y += 14;
      out_ +=
          fmt::format("<text x=\"{}\" y=\"{}\">{}</text>", left + c.width / 2, y, html_text(line, kTipText));
    }
    out_ += "</g>\n";
  }

  static std::string tooltip(const GraphItem& item) {
    std::string out;
    for (const GraphNode& n : item.nodes)
      out += fmt::format("{}{} {} ({}){}{}", out.empty() ? "" : "\n", html_text(n.id, kTipText),
                         html_text(n.name, kTipText), html_text(n.op_type, kTipText),
                         n.location.empty() ? "" : ", from ", html_text(n.location, kTipText));
    if (item.nodes.empty()) out = html_text(item.name, kTipText);
    if (!item.type.empty()) out += "\n" + html_text(item.type, kTipText);
    if (!item.reason.empty()) out += "\n" + html_text(item.reason, 2 * kTipText);
    return out;
  }

  void port(uint32_t value, int32_t left, int32_t top) {
    const GraphValue& v = g_.values[value];
    out_ += fmt::format("<g><title>{}: {}</title><circle class=\"port\" cx=\"{}\" cy=\"{}\" r=\"4\"/></g>\n",
                        html_text(v.name, kTipText), html_text(v.type, kTipText), left + kPort / 2,
                        top + kPort / 2);
  }

  void route(const Level& l, const Route& r, int32_t x, int32_t y) {
    const LayoutEdge& e = l.edges[r.edge];
    const GraphValue& v = g_.values[e.value];
    int32_t rank = l.layout.rank[e.from];
    int32_t at_x = x + l.layout.x[e.from] + e.from_dx;
    int32_t at_y = y + top_of(l, e.from) + l.sizes[e.from].height;
    const int32_t end_x = x + l.layout.x[e.to] + e.to_dx, end_y = y + top_of(l, e.to);
    out_ += fmt::format("<path class=\"edge{}\" d=\"M{} {}", r.cut ? " cut" : "", at_x, at_y);
    auto curve = [&](int32_t to_x, int32_t to_y) {
      const int32_t middle = (at_y + to_y) / 2;
      out_ += fmt::format("C{} {} {} {} {} {}", at_x, middle, to_x, middle, to_x, to_y);
      at_x = to_x;
      at_y = to_y;
    };
    if (r.cut) {
      out_ += fmt::format("v12M{} {}v-12", end_x, end_y);
    } else {
      for (int32_t bend : r.via) {
        const auto next = static_cast<size_t>(++rank);
        curve(x + bend, y + l.layout.top[next]);
        if (next + 1 < l.layout.top.size()) at_y = y + l.layout.top[next + 1] - kRankGap;
        out_ += fmt::format("V{}", at_y);
      }
      curve(end_x, end_y);
    }
    out_ += fmt::format("\"><title>{}: {}</title></path>\n", html_text(v.name, kTipText),
                        html_text(v.type, kTipText));
  }

  const Graph& g_;
  std::vector<Card> cards_;
  NestedLayout layout_;
  double most_ = 0;
  std::string out_;
};

}  // namespace

std::string graph_svg(const GraphDocument& document) {
  std::string body;
  int32_t width = 0, y = kMargin;
  for (const Graph& g : document.graphs) {
    SvgWriter writer(g);
    const std::string heading = &g == &document.graphs.front() ? document.model : "body " + g.name;
    body += fmt::format("<text class=\"heading\" x=\"{}\" y=\"{}\">{}</text>\n", kMargin, y + 14,
                        html_text(heading, kTipText));
    y += kHeading;
    body += writer.at(kMargin, y);
    y += writer.height() + 2 * kMargin;
    width = std::max(width, writer.width());
  }
  width = std::max(width + 2 * kMargin, 240);
  return fmt::format(
             "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 {0} {1}\" width=\"{0}\" "
             "height=\"{1}\">\n"
             "<style>{2}</style>\n<rect class=\"paper\" width=\"{0}\" height=\"{1}\"/>\n",
             width, y, kSvgStyle) +
         body + "</svg>\n";
}

}  // namespace mrvlc::report
