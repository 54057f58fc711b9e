// The page of `mrvlc graph --html`, and the data of graphs in pages.
#include "graph/page_data.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "graph/modules.h"
#include "graph/nested.h"
#include "pack.h"
#include "page.h"

namespace mrvlc::report {
namespace {

constexpr size_t kPageText = 300;  // bytes of a name

class GraphsJson {
 public:
  explicit GraphsJson(size_t text) : text_(text) {}

  std::string write(const GraphDocument& document) {
    std::string all = "[";
    for (const Graph& g : document.graphs) {
      if (all.size() > 1) all += ',';
      all += graph(g);
    }
    return all + ']';
  }

 private:
  std::string quoted(const std::string& text) const { return json_string(text, text_); }
  template <class List, class F>
  static std::string list(const List& items, F text_of) {
    std::string out = "[";
    for (const auto& item : items) out += (out.size() > 1 ? "," : "") + text_of(item);
    return out + ']';
  }

  std::string graph(const Graph& g) const {
    std::vector<Card> cards;
    for (const GraphItem& item : g.items) cards.push_back(card_of(item));
    const NestedLayout layout = lay_out(g, cards);
    size_t at = 0;
    return fmt::format(
        "{{\"name\":{},\"items\":{},\"values\":{},\"edges\":{},\"regions\":{},\"outer\":{},\"inner\":{}}}",
        quoted(g.name), list(g.items, [&](const GraphItem& i) { return item(i, cards[at++]); }),
        list(g.values,
             [&](const GraphValue& v) {
               return fmt::format("[{},{},{}]", quoted(v.name), quoted(v.type), quoted(v.precision));
             }),
        list(g.edges, [](const GraphEdge& e) { return fmt::format("[{},{},{}]", e.from, e.to, e.value); }),
        list(g.regions,
             [](const GraphRegion& r) {
               std::string out = fmt::format("{{\"id\":{}", r.id);
               if (r.cycles) out += fmt::format(",\"cycles\":{}", *r.cycles);
               if (r.seconds) out += fmt::format(",\"seconds\":{}", *r.seconds);
               return out + '}';
             }),
        level(layout.outer), list(layout.regions, [&](const Level& l) { return level(l); }));
  }

  std::string item(const GraphItem& i, const Card& card) const {
    std::vector<std::string> shown;
    for (const std::string& line : card.lines)
      if (!line.empty()) shown.push_back(line);
    std::string out = fmt::format("{{\"kind\":\"{}\",\"title\":{},\"full\":{},\"lines\":{}", name(i.kind),
                                  quoted(card.title), quoted(graph_title(i)),
                                  list(shown, [&](const std::string& l) { return quoted(l); }));
    auto text = [&](const char* key, const std::string& value, size_t most) {
      if (!value.empty()) out += fmt::format(",\"{}\":{}", key, json_string(value, most));
    };
    auto number = [&](const char* key, const auto& value) {
      if (value) out += fmt::format(",\"{}\":{}", key, *value);
    };
    if (!i.nodes.empty())
      out += ",\"nodes\":" + list(i.nodes, [&](const GraphNode& n) {
               const std::string from = n.location.empty() ? "" : "," + quoted(n.location);
               return fmt::format("[{},{},{}{}]", quoted(n.id), quoted(n.name), quoted(n.op_type), from);
             });
    text("name", i.name, text_);
    number("region", i.region);
    number("layer", i.layer);
    text("rule", i.rule, text_);
    text("layer_kind", i.layer_kind, text_);
    text("cut", i.cut, text_);
    text("target", i.target, text_);
    text("reason", i.reason, 2 * text_);
    text("type", i.type, text_);
    text("precision", i.precision, text_);
    number("cycles", i.cycles);
    number("seconds", i.seconds);
    if (i.macs != 0) out += fmt::format(",\"macs\":{}", i.macs);
    if (i.weights_bytes != 0) out += fmt::format(",\"weights_bytes\":{}", i.weights_bytes);
    if (!i.bodies.empty()) out += fmt::format(",\"bodies\":[{}]", fmt::join(i.bodies, ","));
    return out + '}';
  }

  // In the order that drawLevel() and drawRoute() of the script take apart.
  static std::string level(const Level& l) {
    size_t at = 0;
    return fmt::format("{{\"w\":{},\"h\":{},\"top\":[{}],\"boxes\":{},\"routes\":{}}}", l.layout.width,
                       l.layout.height, fmt::join(l.layout.top, ","),
                       list(l.boxes,
                            [&](const NestedBox& b) {
                              const size_t i = at++;
                              return fmt::format("[{},{},{},{},{},{}]", static_cast<int>(b.kind), b.index,
                                                 l.layout.x[i], l.sizes[i].width, l.sizes[i].height,
                                                 l.layout.rank[i]);
                            }),
                       list(l.layout.routes, [&](const Route& r) {
                         const LayoutEdge& e = l.edges[r.edge];
                         return fmt::format("[{},{},{},{},{},{},[{}]]", e.value, e.from, e.to, e.from_dx,
                                            e.to_dx, r.cut ? 1 : 0, fmt::join(r.via, ","));
                       }));
  }

  size_t text_;
};

}  // namespace

std::string graphs_json(const GraphDocument& document, size_t text) {
  const FoldedDocument folded = fold_by_module(document);
  return fmt::format("\"graphs\":{},\"graph_start\":{}", GraphsJson(text).write(folded.document),
                     folded.start);
}

std::string graph_html(const GraphDocument& document) {
  return page_with(
      kGraphPage, fmt::format("{{\"schema\":\"mrvlc-graph-page-1\",\"model\":{},\"target\":{},{}}}",
                              json_string(document.model, kPageText), json_string(document.target, kPageText),
                              graphs_json(document, kPageText)));
}

}  // namespace mrvlc::report
