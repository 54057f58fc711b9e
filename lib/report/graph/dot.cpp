// The graph for Graphviz: a digraph for each graph, regions as clusters.
#include <fmt/format.h>

#include "graph/nested.h"
#include "mrvlc/support/diag.h"

namespace mrvlc::report {
namespace {

std::string dot_quoted(std::string_view text) {
  std::string out = "\"";
  for (char c : printable(text, 1000)) {
    if (c == '"' || c == '\\') out += '\\';
    out += c;
  }
  return out + '"';
}

std::string label(const GraphItem& item) {
  const Card card = card_of(item);
  std::string out = dot_quoted(card.title);
  for (const std::string& line : card.lines) {
    if (line.empty()) continue;
    out.pop_back();
    out += "\\n" + dot_quoted(line).substr(1);
  }
  return out;
}

const char* shape(GraphItem::Kind kind) {
  return kind == GraphItem::Kind::Input || kind == GraphItem::Kind::Output ? "oval" : "box";
}

std::string node(const Graph& g, size_t i) {
  return fmt::format("n{} [label={}, shape={}, class={}];\n", i, label(g.items[i]), shape(g.items[i].kind),
                     name(g.items[i].kind));
}

std::string digraph(const Graph& g) {
  std::string out =
      fmt::format("digraph {} {{\n  rankdir=TB;\n  node [fontname=sans, fontsize=10];\n", dot_quoted(g.name));
  for (size_t i = 0; i < g.items.size(); ++i)
    if (!g.items[i].region) out += "  " + node(g, i);
  for (size_t r = 0; r < g.regions.size(); ++r) {
    out += fmt::format("  subgraph cluster_{0} {{\n    label=\"region {0}\";\n", g.regions[r].id);
    for (size_t i = 0; i < g.items.size(); ++i)
      if (g.items[i].region == r) out += "    " + node(g, i);
    out += "  }\n";
  }
  for (const GraphEdge& e : g.edges)
    out += fmt::format("  n{} -> n{} [tooltip={}];\n", e.from, e.to,
                       dot_quoted(g.values[e.value].name + ": " + g.values[e.value].type));
  return out + "}\n";
}

}  // namespace

std::string graph_dot(const GraphDocument& document) {
  std::string out;
  for (const Graph& g : document.graphs) out += digraph(g);
  return out;
}

}  // namespace mrvlc::report
