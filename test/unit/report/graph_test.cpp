// Layouts of graphs, and what the writers make of a graph.
#include "mrvlc/report/graph.h"

#include <algorithm>
#include <catch2/catch.hpp>
#include <map>
#include <nlohmann/json.hpp>

#include "graph/layout.h"
#include "graph/modules.h"
#include "splitmix.h"

using namespace mrvlc;
using report::LayoutBox;
using report::LayoutEdge;

namespace {

struct Drawing {
  std::vector<LayoutBox> boxes;
  std::vector<LayoutEdge> edges;
};

Drawing chain(uint32_t length) {
  Drawing d;
  for (uint32_t i = 0; i < length; ++i) d.boxes.push_back({100, 40});
  for (uint32_t i = 1; i < length; ++i) d.edges.push_back({i - 1, i, 0, 0, i - 1});
  return d;
}

// Every box reads one or two of those before it, most of them near ones.
Drawing network(uint32_t length, uint64_t seed) {
  random::SplitMix random(seed);
  Drawing d = chain(length);
  for (LayoutBox& b : d.boxes) b = {static_cast<int32_t>(60 + 2 * (random.next() % 60)), 30};
  for (uint32_t i = 2; i < length; ++i)
    if (random.next() % 2 == 0) {
      const auto from = i - 1 - static_cast<uint32_t>(random.next() % std::min(i, 12u));
      d.edges.push_back({from, i, 0, 0, from});
    }
  return d;
}

void check_apart(const Drawing& d, const report::Layout& layout) {
  std::map<int32_t, std::vector<std::pair<int32_t, int32_t>>> ranks;
  for (size_t i = 0; i < d.boxes.size(); ++i) {
    const int32_t half = d.boxes[i].width / 2;
    ranks[layout.rank[i]].emplace_back(layout.x[i] - half, layout.x[i] + half);
    CHECK(layout.x[i] - half >= 0);
    CHECK(layout.x[i] + half <= layout.width);
  }
  for (auto& [rank, spans] : ranks) {
    std::ranges::sort(spans);
    for (size_t i = 1; i < spans.size(); ++i) CHECK(spans[i].first >= spans[i - 1].second + report::kGap);
  }
}

report::GraphDocument example() {
  report::Graph g;
  g.name = "main";
  auto item = [&](report::GraphItem::Kind kind, const char* op) {
    report::GraphItem i;
    i.kind = kind;
    i.name = std::string(op) + "_out";
    if (kind != report::GraphItem::Kind::Input) i.nodes = {{"main/0", std::string("n_") + op, op}};
    i.type = "f32[1,4]";
    g.items.push_back(i);
    return static_cast<uint32_t>(g.items.size() - 1);
  };
  const uint32_t in = item(report::GraphItem::Kind::Input, "x"),
                 conv = item(report::GraphItem::Kind::Layer, "Conv"),
                 relu = item(report::GraphItem::Kind::Layer, "Relu"),
                 host = item(report::GraphItem::Kind::Host, "TopK");
  g.regions.push_back({7, 1200, 1.5e-3});
  for (uint32_t i : {conv, relu}) {
    g.items[i].region = 0;
    g.items[i].cycles = 600;
    g.items[i].seconds = 6e-7;
  }
  g.items[host].seconds = 2e-6;
  g.items[host].reason = "There is no layer for <TopK> & \"more\".";
  g.values = {{"x", "f32[1,4]", ""}, {"c", "f32[1,4]", "fp16"}, {"r", "f32[1,4]", "fp16"}};
  g.edges = {{in, conv, 0}, {conv, relu, 1}, {relu, host, 2}};
  return {"net", "cn10ka", {g}};
}

std::string json_of(const report::GraphDocument& d) {
  std::string text;
  JsonWriter out([&](std::string_view piece) { text += piece; });
  report::write_graph(out, d);
  out.finish();
  return text;
}

}  // namespace

TEST_CASE("a chain is drawn as a column, an edge a step down") {
  const Drawing d = chain(20);
  const report::Layout layout = lay_out(d.boxes, d.edges);
  for (size_t i = 0; i < d.boxes.size(); ++i) {
    CHECK(layout.rank[i] == static_cast<int32_t>(i));
    CHECK(layout.x[i] == layout.x[0]);
  }
  CHECK(layout.height == 20 * 40 + 19 * report::kRankGap);
  for (const report::Route& r : layout.routes) CHECK((r.via.empty() && !r.cut));
}

TEST_CASE("boxes of a rank never touch, edges lead down, and all of it is inside") {
  for (uint64_t seed = 1; seed <= 20; ++seed) {
    const Drawing d = network(120, seed);
    const report::Layout layout = lay_out(d.boxes, d.edges);
    check_apart(d, layout);
    REQUIRE(layout.routes.size() == d.edges.size());
    for (const report::Route& r : layout.routes) {
      const LayoutEdge& e = d.edges[r.edge];
      CHECK(layout.rank[e.to] > layout.rank[e.from]);
      if (!r.cut) CHECK(static_cast<int32_t>(r.via.size()) == layout.rank[e.to] - layout.rank[e.from] - 1);
    }
  }
}

TEST_CASE("branches that can be drawn without a crossing are") {
  // Two chains side by side whose edges are given crosswise.
  Drawing d;
  d.boxes.assign(8, {80, 30});
  for (uint32_t i = 0; i + 2 < 8; ++i) d.edges.push_back({i, i + 2, 0, 0, i});
  std::ranges::reverse(d.edges);
  const report::Layout layout = lay_out(d.boxes, d.edges);
  const bool left = layout.x[0] < layout.x[1];
  for (uint32_t i = 0; i < 8; i += 2) CHECK((layout.x[i] < layout.x[i + 1]) == left);
}

TEST_CASE("an edge over very many ranks is cut, and a cycle ends") {
  Drawing d = chain(100);
  d.edges.push_back({0, 99, 0, 0, 0});
  CHECK(lay_out(d.boxes, d.edges).routes.back().cut);
  d.edges = {{0, 1, 0, 0, 0}, {1, 2, 0, 0, 1}, {2, 0, 0, 0, 2}, {3, 3, 0, 0, 3}};
  const report::Layout layout = lay_out(d.boxes, d.edges);
  CHECK(layout.routes.size() == 3);
  CHECK(std::ranges::count(layout.routes, true, &report::Route::cut) == 1);
}

TEST_CASE("a large graph is laid out, and the same graph in the same way") {
  const Drawing d = network(20000, 3);
  const report::Layout a = lay_out(d.boxes, d.edges), b = lay_out(d.boxes, d.edges);
  CHECK(a.x == b.x);
  CHECK(a.rank == b.rank);
  CHECK(report::lay_out({}, {}).width == 0);
}

TEST_CASE("graph.json is read as it was written, and nothing else") {
  const report::GraphDocument d = example();
  const std::string text = json_of(d);
  const auto json = nlohmann::ordered_json::parse(text);
  CHECK(json_of(report::read_graph(json)) == text);
  CHECK(report::graph_svg(report::read_graph(json)) == report::graph_svg(d));
  auto wrong = [&](const char* pointer, nlohmann::ordered_json value) {
    auto changed = json;
    changed[nlohmann::ordered_json::json_pointer(pointer)] = std::move(value);
    CHECK_THROWS_AS(report::read_graph(changed), nlohmann::ordered_json::exception);
  };
  wrong("/graphs/0/edges/0/to", 4);
  wrong("/graphs/0/edges/0/value", 3);
  wrong("/graphs/0/items/1/region", 1);
  wrong("/graphs/0/items/1/kind", "thing");
  wrong("/graphs/0/items/1/bodies", {1});
  wrong("/graphs", nlohmann::ordered_json::array());
}

TEST_CASE("pictures name what they show and let no text out") {
  const report::GraphDocument d = example();
  const std::string svg = report::graph_svg(d), dot = report::graph_dot(d), html = report::graph_html(d);
  for (const char* part :
       {"n_Conv", "region 7, 1.50 ms", "600 cycles", "2.0 µs", "&lt;TopK&gt; &amp; &quot;more&quot;"})
    CHECK(svg.find(part) != std::string::npos);
  for (const char* part : {"digraph \"main\"", "subgraph cluster_7", "n0 -> n1", "Conv\\nn_Conv"})
    CHECK(dot.find(part) != std::string::npos);
  CHECK(svg.find("<TopK>") == std::string::npos);
  CHECK(html.find("<TopK>") == std::string::npos);
  CHECK(html.find("n_Conv") != std::string::npos);
}

namespace {

// `layers` layers of eight operators in a chain, called as exporters call them, or without a hierarchy.
report::GraphDocument deep(uint32_t layers, bool named) {
  report::Graph g;
  g.name = "main";
  g.items.resize(1);
  g.items[0].kind = report::GraphItem::Kind::Input;
  g.items[0].name = "x";
  for (uint32_t i = 0; i < 8 * layers; ++i) {
    report::GraphItem item;
    const std::string name = named ? fmt::format("/net/layer.{}/{}/Op_{}", i / 8, i % 8 < 4 ? "a" : "b", i)
                                   : fmt::format("op{}", i);
    item.nodes = {{fmt::format("main/{}", i), name, "Relu"}};
    item.macs = 1;
    g.items.push_back(item);
    g.values.push_back({fmt::format("v{}", i), "f32[4]", ""});
    g.edges.push_back({i, i + 1, i});
  }
  return {"net", "", {g}};
}

// Items of the model that one comes to from a graph by going into modules, each counted once.
void reach(const report::GraphDocument& d, uint32_t graph, std::map<std::string, int>& seen) {
  for (const report::GraphItem& item : d.graphs.at(graph).items) {
    for (uint32_t body : item.bodies) reach(d, body, seen);
    if (!item.nodes.empty()) ++seen[item.nodes.front().id];
  }
}

}  // namespace

TEST_CASE("a large graph folds by module, and every item is in one") {
  for (const bool named : {true, false}) {
    const report::GraphDocument whole = deep(200, named);
    const report::FoldedDocument folded = report::fold_by_module(whole);
    REQUIRE(folded.start == 1);
    for (size_t i = 1; i < folded.document.graphs.size(); ++i) {
      const report::Graph& g = folded.document.graphs[i];
      CHECK(g.items.size() <= report::kReadableModule + 2);
      for (const report::GraphEdge& e : g.edges) CHECK(e.from < e.to);  // no module reads from a later one
      CHECK(g.values.size() == g.edges.size());
    }
    std::map<std::string, int> seen;
    reach(folded.document, folded.start, seen);
    CHECK(seen.size() == 1600);
    CHECK(std::ranges::all_of(seen, [](const auto& s) { return s.second == 1; }));
    int64_t macs = 0;
    for (const report::GraphItem& item : folded.document.graphs[1].items) macs += item.macs;
    CHECK(macs == 1600);
    if (named) CHECK(folded.document.graphs[1].items[1].name.starts_with("layer.0 … layer."));
  }
  CHECK(report::fold_by_module(deep(4, true)).start == 0);
}

TEST_CASE("folding ends whatever the names are, and soon") {
  report::GraphDocument d = deep(2500, false);  // as large as pages take
  std::string deeper;
  for (size_t i = 1; i < d.graphs[0].items.size(); ++i) {
    if (i % 7 == 0) deeper = deeper.size() > 300 ? "" : deeper + "/a";
    d.graphs[0].items[i].nodes[0].name = deeper + "/" + std::string(i % 3, '/') + "n";
  }
  std::map<std::string, int> seen;
  const report::FoldedDocument folded = report::fold_by_module(d);
  reach(folded.document, folded.start, seen);
  CHECK(seen.size() == 20000);
}
