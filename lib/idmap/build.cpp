#include <algorithm>
#include <deque>
#include <map>
#include <set>

#include "mrvlc/idmap/idmap.h"

namespace mrvlc::idmap {
namespace {

constexpr const char* kSections[] = {"init", "main", "finish"};

class Builder {
 public:
  Builder(const ir::Graph& graph, const partition::Partition& partition,
          const std::vector<accel::CompiledRegion>& regions, const chost::HostCode& host)
      : graph_(graph), partition_(partition), regions_(regions), host_(host) {}

  Json run() {
    index_code();
    Json map;
    map["schema"] = "mrvlc-idmap-1";
    map["sources"] = sources();
    map["expressions"] = expressions();
    map["layers"] = layers();
    map["instructions"] = instructions();
    map["host_functions"] = host_functions();
    return map;
  }

 private:
  // Which live expressions have code of their own, are part of a layer or function that has, or have a reason
  // for none.
  void index_code() {
    for (const auto& region : regions_) {
      for (const auto& range : region.instructions) has_code_.insert(range.expr);
    }
    for (size_t r = 0; r < regions_.size(); ++r) {
      std::set<uint32_t> with_instructions;
      for (const auto& range : regions_[r].instructions) with_instructions.insert(range.layer);
      const auto& region_layers = partition_.regions[r].layers;
      for (size_t l = 0; l < region_layers.size(); ++l) {
        if (!with_instructions.contains(static_cast<uint32_t>(l))) continue;
        has_code_.insert(region_layers[l].nodes.begin(), region_layers[l].nodes.end());
      }
    }
    for (const auto& f : host_.functions) {
      has_code_.insert(f.expr);
      has_code_.insert(f.fused.begin(), f.fused.end());
    }
    for (const auto& d : partition_.decisions) {
      for (ir::SourceId s : graph_.lineage(d.node).sources) by_source_[s].push_back(&d);
    }
    index_erased(graph_);
    ir::for_each_body(graph_, [&](const ir::Graph& body) {
      index_erased(body);
      index_body(body);
    });
  }

  void index_erased(const ir::Graph& graph) {
    for (size_t i = 0; i < graph.node_slots(); ++i) {
      const ir::Lineage& lineage = graph.lineage(ir::NodeId(i));
      if (lineage.erased_because.empty()) continue;
      for (ir::SourceId s : lineage.sources) erased_[s].push_back(&lineage);
    }
  }

  // Nodes of bodies are on the CPU with their control flow.
  void index_body(const ir::Graph& body) {
    for (ir::NodeId id : body.topological_order()) {
      partition::NodeDecision d;
      d.node = ir::NodeId(size_t{body.expr_id(id)});
      d.reason = "It is in a body of control flow, which runs on the CPU as a whole.";
      in_bodies_.push_back(std::move(d));
      for (ir::SourceId s : body.lineage(id).sources) by_source_[s].push_back(&in_bodies_.back());
    }
  }

  Json sources() const {
    Json list = Json::array();
    for (size_t i = 0; i < graph_.sources().size(); ++i) {
      const ir::Source& s = graph_.sources()[i];
      Json entry;
      entry["id"] = s.id;
      entry["name"] = json_text(s.name);
      entry["op_type"] = json_text(s.op_type);
      entry["domain"] = json_text(s.domain);
      Json outputs = Json::array();
      for (const std::string& o : s.outputs) outputs.push_back(json_text(o));
      entry["outputs"] = std::move(outputs);
      auto [fate, reason] = fate_of(ir::SourceId(i));
      entry["fate"] = fate;
      entry["reason"] = reason;
      list.push_back(std::move(entry));
    }
    return list;
  }

  std::pair<std::string, std::string> fate_of(ir::SourceId source) const {
    auto live = by_source_.find(source);
    if (live == by_source_.end()) return fate_of_erased(source);
    bool accelerator = false, cpu = false, code = false;
    const partition::NodeDecision* main = live->second.front();
    for (const auto* d : live->second) {
      (d->accelerator ? accelerator : cpu) = true;
      code = code || has_code_.contains(d->node);
      // What a reader asks for is why it is on the CPU, if any part is.
      if (main->accelerator && !d->accelerator) main = d;
    }
    std::string reason = main->reason;
    if (!code) reason = "needs no code: its result is the same bytes as its operand (" + reason + ")";
    return {accelerator && cpu ? "both" : accelerator ? "accelerator" : "cpu", json_text(reason)};
  }

  std::pair<std::string, std::string> fate_of_erased(ir::SourceId source) const {
    auto it = erased_.find(source);
    if (it == erased_.end())
      return {"removed",
              "not compiled: control does not reach it, or it cannot run with the shapes of the model"};
    // The last reason is that of the newest node made from it.
    const std::string& reason = it->second.back()->erased_because;
    bool folded = std::any_of(it->second.begin(), it->second.end(), [](const ir::Lineage* lineage) {
      return lineage->erased_because.starts_with("folded");
    });
    return {folded ? "folded" : "removed", json_text(reason)};
  }

  Json expressions() const {
    Json list = Json::array();
    add_expressions(graph_, list);
    ir::for_each_body(graph_, [&](const ir::Graph& body) { add_expressions(body, list); });
    return list;
  }

  static void add_expressions(const ir::Graph& graph, Json& list) {
    for (size_t i = 0; i < graph.node_slots(); ++i) {
      const ir::Node& n = graph.node(ir::NodeId(i));
      const ir::Lineage& lineage = graph.lineage(n.id);
      Json entry;
      entry["expr_id"] = graph.expr_id(n.id);
      entry["op"] = n.op->name;
      Json sources = Json::array(), from = Json::array();
      for (ir::SourceId s : lineage.sources) sources.push_back(graph.sources()[s.index()].id);
      for (ir::NodeId f : lineage.from) from.push_back(graph.expr_id(f));
      entry["sources"] = std::move(sources);
      entry["from"] = std::move(from);
      entry["pass"] = lineage.pass;
      if (n.erased) entry["erased"] = lineage.erased_because;
      list.push_back(std::move(entry));
    }
  }

  Json layers() const {
    Json list = Json::array();
    for (const auto& region : partition_.regions) {
      for (size_t l = 0; l < region.layers.size(); ++l) {
        const partition::Layer& layer = region.layers[l];
        Json exprs = Json::array();
        for (ir::NodeId n : layer.nodes) exprs.push_back(n.index());
        list.push_back({{"layer", l},
                        {"region", region.id},
                        {"rule", layer.rule},
                        {"kind", name(layer.kind)},
                        {"exprs", std::move(exprs)}});
      }
    }
    return list;
  }

  Json instructions() const {
    Json list = Json::array();
    for (size_t r = 0; r < regions_.size(); ++r) {
      for (const auto& range : regions_[r].instructions) {
        list.push_back({{"region", partition_.regions[r].id},
                        {"section", kSections[static_cast<size_t>(range.section)]},
                        {"begin", range.begin},
                        {"end", range.end},
                        {"layer", range.layer},
                        {"expr_id", range.expr.index()}});
      }
    }
    return list;
  }

  Json host_functions() const {
    Json list = Json::array();
    for (const auto& f : host_.functions) {
      Json fused = Json::array();
      for (ir::NodeId n : f.fused) fused.push_back(n.index());
      list.push_back({{"symbol", f.symbol},
                      {"file", f.file},
                      {"first_line", f.first_line},
                      {"last_line", f.last_line},
                      {"expr_id", f.expr.index()},
                      {"fused", std::move(fused)}});
    }
    return list;
  }

  const ir::Graph& graph_;
  const partition::Partition& partition_;
  const std::vector<accel::CompiledRegion>& regions_;
  const chost::HostCode& host_;
  std::set<ir::NodeId> has_code_;
  std::map<ir::SourceId, std::vector<const partition::NodeDecision*>> by_source_;
  std::map<ir::SourceId, std::vector<const ir::Lineage*>> erased_;
  std::deque<partition::NodeDecision> in_bodies_;
};

}  // namespace

std::string json_text(std::string_view text) {
  return printable(text, 1u << 20);
}

Json build(const ir::Graph& graph, const partition::Partition& partition,
           const std::vector<accel::CompiledRegion>& regions, const chost::HostCode& host) {
  return Builder(graph, partition, regions, host).run();
}

}  // namespace mrvlc::idmap
