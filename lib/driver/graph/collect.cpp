// What pictures of the graph show, read off a model and what was made of it.
#include "graph/collect.h"

#include <functional>
#include <set>

#include "mrvlc/idmap/idmap.h"
#include "mrvlc/ir/metadata.h"
#include "mrvlc/ops/op.h"
#include "mrvlc/ops/work.h"
#include "mrvlc/partition/costs.h"
#include "mrvlc/support/saturating.h"

namespace mrvlc::driver {
namespace {

using Item = report::GraphItem;

using Precisions = std::map<ir::ValueId, std::string>;

// One graph of the document; the bodies of its nodes follow it there.
class GraphCollector {
 public:
  // Adds the items of a graph, the model's or a body.
  using Fill = std::function<Precisions(GraphCollector&, const ir::Graph&)>;

  static void collect(const ir::Graph& graph, const std::string& name, const Fill& fill,
                      report::GraphDocument& document) {
    GraphCollector collector(graph, name, fill, document);
    collector.finish(fill(collector, graph));
  }

  void add_region(const report::GraphRegion& region) { out_.regions.push_back(region); }

  // Items in the order in which they are computed; `nodes` are computed at once.
  Item& add(Item::Kind kind, const std::vector<ir::NodeId>& nodes) {
    Item item;
    item.kind = kind;
    item.expression = g_.expr_id(nodes.front());
    std::set<ir::SourceId> seen;
    for (ir::NodeId id : nodes) {
      item_of_[id.index()] = static_cast<uint32_t>(out_.items.size());
      item.macs = saturating_add(item.macs, ops::macs(g_, g_.node(id)));
      for (ir::SourceId s : g_.lineage(id).sources)
        if (seen.insert(s).second) add_source(item, g_.sources()[s.index()]);
    }
    const ir::Node& last = g_.node(nodes.back());
    item.name = readable_name(g_, last.outputs.front());
    item.type = to_string(g_.value(last.outputs.front()).type);
    nodes_.resize(out_.items.size());
    nodes_.push_back(nodes);
    out_.items.push_back(std::move(item));
    return out_.items.back();
  }

 private:
  GraphCollector(const ir::Graph& graph, const std::string& name, const Fill& fill,
                 report::GraphDocument& document)
      : g_(graph),
        fill_(fill),
        document_(document),
        at_(document.graphs.size()),
        item_of_(graph.node_slots(), kNone) {
    document_.graphs.emplace_back();
    out_.name = name;
    for (ir::ValueId id : g_.inputs()) {
      input_of_[id] = static_cast<uint32_t>(out_.items.size());
      add_end(Item::Kind::Input, id);
    }
  }

  // When all items are there.
  void finish(const Precisions& precisions) {
    nodes_.resize(out_.items.size());
    for (uint32_t i = 0; i < nodes_.size(); ++i)
      for (ir::NodeId id : nodes_[i]) read_operands(i, g_.node(id));
    for (ir::ValueId id : g_.outputs()) {
      const auto item = static_cast<uint32_t>(out_.items.size());
      add_end(Item::Kind::Output, id);
      read(item, id);
    }
    for (const auto& [id, number] : value_of_)
      if (auto p = precisions.find(id); p != precisions.end()) out_.values[number].precision = p->second;
    add_bodies();
    document_.graphs[at_] = std::move(out_);
  }

  static constexpr uint32_t kNone = UINT32_MAX;

  static void add_source(Item& item, const ir::Source& s) {
    const std::string& name = s.name.empty() && !s.outputs.empty() ? s.outputs[0] : s.name;
    item.nodes.push_back({s.id, name, s.op_type, ir::to_string(ir::origin_of(s))});
  }
  void add_end(Item::Kind kind, ir::ValueId id) {
    Item item;
    item.kind = kind;
    item.name = readable_name(g_, id);
    item.type = to_string(g_.value(id).type);
    out_.items.push_back(std::move(item));
  }

  void read_operands(uint32_t item, const ir::Node& node) {
    for (ir::ValueId id : node.inputs) {
      if (!id.valid()) continue;
      if (g_.is_constant(id)) {
        int64_t& bytes = out_.items[item].weights_bytes;
        bytes = saturating_add(bytes, g_.value(id).type.bytes());
      } else {
        read(item, id);
      }
    }
  }
  void read(uint32_t item, ir::ValueId id) {
    const ir::Value& v = g_.value(id);
    uint32_t from = kNone;
    if (v.kind == ir::ValueKind::Input) from = input_of_.at(id);
    if (v.kind == ir::ValueKind::Result) from = item_of_[v.producer.index()];
    if (from == kNone || from == item) return;  // a constant that is an output
    const uint32_t value = value_number(id);
    if (seen_.emplace(item, value).second) out_.edges.push_back({from, item, value});
  }
  uint32_t value_number(ir::ValueId id) {
    auto [it, fresh] = value_of_.emplace(id, static_cast<uint32_t>(out_.values.size()));
    if (fresh) out_.values.push_back({readable_name(g_, id), to_string(g_.value(id).type), {}});
    return it->second;
  }

  void add_bodies() {
    for (uint32_t i = 0; i < nodes_.size(); ++i)
      for (ir::NodeId id : nodes_[i])
        for (const ir::Graph* body : ir::bodies_of(g_.node(id))) {
          out_.items[i].bodies.push_back(static_cast<uint32_t>(document_.graphs.size()));
          collect(*body, body_name(*body, g_.node(id), body->topological_order()), fill_, document_);
        }
  }
  // "main/17.then_branch", as its nodes are called.
  static std::string body_name(const ir::Graph& body, const ir::Node& node,
                               const std::vector<ir::NodeId>& order) {
    if (order.empty()) return node.name.empty() ? std::string(node.op->name) : node.name;
    const std::string& id = body.sources()[body.lineage(order.front()).sources.front().index()].id;
    return id.substr(0, id.rfind('/'));
  }

  const ir::Graph& g_;
  const Fill& fill_;
  report::GraphDocument& document_;
  size_t at_;
  report::Graph out_;
  std::vector<uint32_t> item_of_;               // by node
  std::vector<std::vector<ir::NodeId>> nodes_;  // by item
  std::map<ir::ValueId, uint32_t> input_of_, value_of_;
  std::set<std::pair<uint32_t, uint32_t>> seen_;
};

// Fills in what a partition, of the model or of a body, made of its graph.
class PlacedGraph {
 public:
  PlacedGraph(const CompiledModel& m, const Report& report, const std::vector<report::Region>& regions,
              const ir::Graph& graph, const partition::Partition& partition, GraphCollector& out)
      : m_(m), report_(report), regions_(regions), g_(graph), partition_(partition), out_(out) {
    seconds_ = node_seconds(graph, m.inputs.host_model);
    time_calls(partition.calls, seconds_);
    for (const auto& d : partition.decisions) decision_[d.node] = &d;
  }

  void run() {
    for (const partition::Region& r : partition_.regions) out_.add_region(region(r));
    for (const partition::Step& step : partition_.steps) {
      if (step.kind == partition::Step::Kind::Region)
        add_layers(step.region);
      else
        add_on_host(step);
    }
  }
  Precisions precisions() const {
    Precisions out;
    for (const partition::Region& region : partition_.regions)
      for (const partition::Layer& layer : region.layers)
        for (ir::NodeId id : layer.nodes)
          for (ir::ValueId v : g_.node(id).outputs) out[v] = precision(region, v);
    return out;
  }

 private:
  report::GraphRegion region(const partition::Region& r) const {
    report::GraphRegion out{r.id, {}, {}};
    if (regions_[r.id].cycles() == 0) return out;
    out.cycles = regions_[r.id].cycles();
    out.seconds = report_.regions[r.id].seconds;
    return out;
  }

  void add_layers(uint32_t r) {
    const partition::Region& region = partition_.regions[r];
    const report::Region& told = regions_[region.id];
    for (size_t l = 0; l < region.layers.size(); ++l) {
      const partition::Layer& layer = region.layers[l];
      Item& item = out_.add(Item::Kind::Layer, layer.nodes);
      item.region = r;
      item.layer = static_cast<uint32_t>(l);
      item.rule = layer.rule;
      item.layer_kind = name(layer.kind);
      item.reason = decision_.at(layer.anchor)->reason.str();
      item.precision = precision(region, g_.node(layer.nodes.back()).outputs.front());
      if (m_.accelerators.size() > 1) item.target = m_.accelerators[region.accelerator].name;
      if (l >= told.layers.size()) continue;
      item.cut = told.layers[l].cut;
      if (told.cycles() == 0) continue;
      item.cycles = told.layers[l].cycles;
      item.seconds = static_cast<double>(*item.cycles) /
                     (1e9 * m_.backend_of(m_.regions[region.id]).machine().clock_ghz);
    }
  }

  void add_on_host(const partition::Step& step) {
    const bool call = step.kind == partition::Step::Kind::Call;
    const auto nodes = nodes_of(step, partition_);
    Item& item = out_.add(call ? Item::Kind::Call : Item::Kind::Host, nodes);
    const auto decision = decision_.find(step.node);
    if (decision != decision_.end()) item.reason = decision->second->reason.str();
    if (call) item.target = partition_.calls[step.call].target;
    double seconds = 0;
    for (ir::NodeId id : nodes) seconds += seconds_[id.index()];
    item.seconds = seconds;
  }

  std::string precision(const partition::Region& region, ir::ValueId value) const {
    if (auto p = region.precisions.find(value); p != region.precisions.end()) return to_text(p->second);
    const ElementType type = g_.value(value).type.elem;
    const bool half = m_.backend->part(region.accelerator).half();
    return half && is_float(type) ? "fp16" : std::string(name(type));
  }

  const CompiledModel& m_;
  const Report& report_;
  const std::vector<report::Region>& regions_;
  const ir::Graph& g_;
  const partition::Partition& partition_;
  GraphCollector& out_;
  std::vector<double> seconds_;
  std::map<ir::NodeId, const partition::NodeDecision*> decision_;
};

// Each node by itself.
Precisions add_nodes(GraphCollector& out, const ir::Graph& graph, Item::Kind kind) {
  for (ir::NodeId id : graph.topological_order()) out.add(kind, {id});
  return {};
}

size_t nodes_in(const ir::Graph& graph) {
  size_t count = 0;
  for (size_t i = 0; i < graph.node_slots(); ++i) count += graph.node(ir::NodeId(i)).erased ? 0 : 1;
  return count;
}

// With those in bodies; no more are counted than tell that it is too large.
bool fits_a_picture(const ir::Graph& graph) {
  size_t count = nodes_in(graph);
  if (count > report::kMostGraphItems) return false;
  ir::for_each_body(graph, [&](const ir::Graph& body) { count += nodes_in(body); });
  return count <= report::kMostGraphItems;
}

}  // namespace

report::GraphDocument graph_of(const onnx::Model& model, const std::string& name) {
  report::GraphDocument out{name, "", {}};
  const auto fill = [](GraphCollector& to, const ir::Graph& graph) {
    return add_nodes(to, graph, Item::Kind::Node);
  };
  GraphCollector::collect(model.graph, "main", fill, out);
  return out;
}

std::optional<report::GraphDocument> graph_of(const CompiledModel& m, const Report& report,
                                              const std::vector<report::Region>& regions) {
  if (!fits_a_picture(m.model.graph)) return std::nullopt;
  report::GraphDocument out{m.name, report.target.name, {}};
  const auto fill = [&](GraphCollector& to, const ir::Graph& graph) {
    const bool body = &graph != &m.model.graph;
    const partition::Partition* placed = body ? partition_of(m.partition, graph) : &m.partition;
    if (placed == nullptr) return add_nodes(to, graph, Item::Kind::Host);
    PlacedGraph items(m, report, regions, graph, *placed, to);
    items.run();
    return items.precisions();
  };
  GraphCollector::collect(m.model.graph, "main", fill, out);
  return out;
}

}  // namespace mrvlc::driver
