// graph.json, written and read.
#include <nlohmann/json.hpp>

#include "mrvlc/report/graph.h"

namespace mrvlc::report {
namespace {

using Json = nlohmann::ordered_json;

constexpr size_t kMostText = 1u << 20;  // as all writers of names have it

class GraphWriter {
 public:
  explicit GraphWriter(JsonWriter& out) : out_(out) {}

  void document(const GraphDocument& d) {
    out_.object();
    out_.member("schema", "mrvlc-graph-1");
    text("model", d.model);
    text("target", d.target);
    list("graphs", d.graphs, [&](const Graph& g) { graph(g); });
    out_.end();
  }

 private:
  void text(const char* key, const std::string& value) { out_.key(key).printable_value(value, kMostText); }
  void some(const char* key, const std::string& value) {
    if (!value.empty()) text(key, value);
  }
  template <class T>
  void some(const char* key, const std::optional<T>& value) {
    if (value) out_.member(key, *value);
  }
  template <class List, class F>
  void list(const char* key, const List& items, F each) {
    out_.key(key).array();
    for (const auto& item : items) each(item);
    out_.end();
  }

  void graph(const Graph& g) {
    out_.object();
    text("name", g.name);
    list("items", g.items, [&](const GraphItem& i) { item(i); });
    list("values", g.values, [&](const GraphValue& v) { value(v); });
    list("edges", g.edges, [&](const GraphEdge& e) {
      out_.object();
      out_.member("from", e.from);
      out_.member("to", e.to);
      out_.member("value", e.value);
      out_.end();
    });
    list("regions", g.regions, [&](const GraphRegion& r) {
      out_.object();
      out_.member("id", r.id);
      some("cycles", r.cycles);
      some("seconds", r.seconds);
      out_.end();
    });
    out_.end();
  }

  void value(const GraphValue& v) {
    out_.object();
    text("name", v.name);
    text("type", v.type);
    some("precision", v.precision);
    out_.end();
  }

  void item(const GraphItem& i) {
    out_.object();
    out_.member("kind", name(i.kind));
    if (!i.nodes.empty())
      list("nodes", i.nodes, [&](const GraphNode& n) {
        out_.object();
        text("id", n.id);
        text("name", n.name);
        text("op_type", n.op_type);
        some("location", n.location);
        out_.end();
      });
    some("name", i.name);
    some("region", i.region);
    some("layer", i.layer);
    some("expr_id", i.expression);
    some("rule", i.rule);
    some("layer_kind", i.layer_kind);
    some("cut", i.cut);
    some("target", i.target);
    some("reason", i.reason);
    some("type", i.type);
    some("precision", i.precision);
    some("cycles", i.cycles);
    some("seconds", i.seconds);
    if (i.macs != 0) out_.member("macs", i.macs);
    if (i.weights_bytes != 0) out_.member("weights_bytes", i.weights_bytes);
    if (!i.bodies.empty()) list("bodies", i.bodies, [&](uint32_t b) { out_.value(b); });
    out_.end();
  }

  JsonWriter& out_;
};

template <class T>
void take(const Json& from, const char* key, T& to) {
  if (from.contains(key)) to = from.at(key).get<T>();
}
template <class T>
void take(const Json& from, const char* key, std::optional<T>& to) {
  if (from.contains(key)) to = from.at(key).get<T>();
}

// at() of a list throws where there is no such element, as everything here does.
void check(uint32_t index, size_t count) {
  if (index >= count) Json::array().at(index);
}

GraphItem::Kind kind_of(const std::string& text) {
  for (int k = 0;; ++k) {
    check(static_cast<uint32_t>(k), 6);
    if (text == name(static_cast<GraphItem::Kind>(k))) return static_cast<GraphItem::Kind>(k);
  }
}

GraphItem read_item(const Json& j, size_t regions, size_t graphs) {
  GraphItem i;
  i.kind = kind_of(j.at("kind").get<std::string>());
  if (j.contains("nodes"))
    for (const Json& n : j.at("nodes"))
      i.nodes.push_back({n.at("id").get<std::string>(), n.at("name").get<std::string>(),
                         n.at("op_type").get<std::string>(), n.value("location", "")});
  take(j, "name", i.name);
  take(j, "region", i.region);
  take(j, "layer", i.layer);
  take(j, "expr_id", i.expression);
  take(j, "rule", i.rule);
  take(j, "layer_kind", i.layer_kind);
  take(j, "cut", i.cut);
  take(j, "target", i.target);
  take(j, "reason", i.reason);
  take(j, "type", i.type);
  take(j, "precision", i.precision);
  take(j, "cycles", i.cycles);
  take(j, "seconds", i.seconds);
  take(j, "macs", i.macs);
  take(j, "weights_bytes", i.weights_bytes);
  take(j, "bodies", i.bodies);
  if (i.region) check(*i.region, regions);
  for (uint32_t b : i.bodies) check(b, graphs);
  return i;
}

Graph read_one(const Json& j, size_t graphs) {
  Graph g;
  g.name = j.at("name").get<std::string>();
  for (const Json& r : j.at("regions")) {
    GraphRegion region{r.at("id").get<uint32_t>(), {}, {}};
    take(r, "cycles", region.cycles);
    take(r, "seconds", region.seconds);
    g.regions.push_back(region);
  }
  for (const Json& i : j.at("items")) g.items.push_back(read_item(i, g.regions.size(), graphs));
  for (const Json& v : j.at("values")) {
    GraphValue value{v.at("name").get<std::string>(), v.at("type").get<std::string>(), {}};
    take(v, "precision", value.precision);
    g.values.push_back(std::move(value));
  }
  for (const Json& e : j.at("edges")) {
    const GraphEdge edge{e.at("from").get<uint32_t>(), e.at("to").get<uint32_t>(),
                         e.at("value").get<uint32_t>()};
    check(edge.from, g.items.size());
    check(edge.to, g.items.size());
    check(edge.value, g.values.size());
    g.edges.push_back(edge);
  }
  return g;
}

}  // namespace

void write_graph(JsonWriter& out, const GraphDocument& document) {
  GraphWriter(out).document(document);
}

GraphDocument read_graph(const Json& json) {
  GraphDocument d;
  d.model = json.at("model").get<std::string>();
  d.target = json.at("target").get<std::string>();
  const Json& graphs = json.at("graphs");
  graphs.at(0);
  for (const Json& g : graphs) d.graphs.push_back(read_one(g, graphs.size()));
  return d;
}

}  // namespace mrvlc::report
