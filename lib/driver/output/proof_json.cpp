// proof.json: of each region the layers as operators on named values, what is stored and how, and where
// constants come from. Values are named as in the model; those that a pass made are named after its ONNX
// nodes.
#include "output/proof_json.h"

#include <unordered_set>

#include "mrvlc/ir/lineage.h"
#include "mrvlc/support/base64.h"

namespace mrvlc::driver {
namespace {

// Folded constants up to here are written down; larger ones the prover computes from the model.
constexpr size_t kMostInline = 16384;

using Texts = std::vector<std::string>;

class ProofWriter {
 public:
  ProofWriter(JsonWriter& out, const CompiledModel& m) : out_(out), m_(m) {
    for (const ir::Source& s : m.model.graph.sources()) outputs_.insert(s.outputs.begin(), s.outputs.end());
  }

  void write() {
    out_.object();
    out_.member("schema", "mrvlc-proof-1");
    out_.member("model", m_.model.sha256);
    out_.key("inputs").array();
    for (ir::ValueId v : m_.model.graph.inputs()) input(m_.model.graph.value(v));
    out_.end();
    out_.key("regions").array();
    for (const auto& [graph, region] : partition::all_regions(m_.model.graph, m_.partition))
      write_region(*graph, *region);
    out_.end();
    out_.end();
  }

 private:
  void input(const ir::Value& v) {
    out_.object();
    out_.member("name", v.name);
    shape(v.type);
    out_.end();
  }

  void shape(const TensorType& type) {
    out_.member("type", mrvlc::name(type.elem));
    numbers("shape", type.shape);
    if (!type.is_static()) out_.member("open", true);
  }

  template <class T>
  void numbers(std::string_view key, const std::vector<T>& list) {
    out_.key(key).array();
    for (const T& x : list) {
      if constexpr (std::is_floating_point_v<T>)
        out_.value(static_cast<double>(x));
      else
        out_.value(x);
    }
    out_.end();
  }

  Texts sources(const ir::Graph& g, std::span<const ir::NodeId> nodes) const {
    Texts ids;
    for (ir::SourceId s : ir::sources_of(g, nodes)) ids.push_back(g.sources()[s.index()].id);
    return ids;
  }

  std::string name_of(const ir::Graph& g, ir::ValueId id) const {
    const ir::Value& v = g.value(id);
    const bool folded = v.kind == ir::ValueKind::Constant && !v.made_from.empty();
    if (folded) return fmt::format("constant#{}", id.index());
    if (v.kind != ir::ValueKind::Result || outputs_.contains(v.name)) return v.name;
    const ir::NodeId node[] = {v.producer};
    const auto& made = g.node(v.producer).outputs;
    const auto at = std::find(made.begin(), made.end(), id) - made.begin();
    // Several values can be made of the same nodes: the number tells them apart.
    return fmt::format("{}#{}.{}", fmt::join(sources(g, node), "+"), at, id.index());
  }

  void write_region(const ir::Graph& g, const partition::Region& region) {
    const backend::RegionCode& code = m_.regions[region.id];
    constants_.clear();
    out_.object();
    out_.member("id", region.id);
    out_.member("file",
                code.bytes.empty() ? std::string() : fmt::format("{}.region{}.mrvl", m_.name, region.id));
    if (&g != &m_.model.graph) out_.member("body", true);
    ports("inputs", g, code.inputs);
    ports("outputs", g, code.outputs);
    stored(g, region, code);
    places(g, code);
    out_.key("layers").array();
    for (size_t i = 0; i < region.layers.size(); ++i) layer(g, region.layers[i]);
    out_.end();
    out_.key("constants").array();
    for (ir::ValueId v : constants_) constant(g, v);
    out_.end();
    instructions(code);
    out_.end();
  }

  void ports(std::string_view key, const ir::Graph& g, const std::vector<backend::Port>& list) {
    out_.key(key).array();
    for (const backend::Port& p : list) {
      out_.object();
      out_.member("value", name_of(g, p.value));
      out_.member("stored", mrvlc::name(p.type));
      numbers("perm", p.perm);
      shape(g.value(p.value).type);
      out_.end();
    }
    out_.end();
  }

  void stored(const ir::Graph& g, const partition::Region& region, const backend::RegionCode& code) {
    out_.key("values").array();
    for (const backend::StoredValue& s : code.stored) {
      out_.object();
      out_.member("value", name_of(g, s.value));
      out_.member("stored", mrvlc::name(s.type));
      out_.end();
    }
    out_.end();
    out_.key("precisions").array();
    for (const auto& [value, precision] : region.precisions) {
      if (precision.plain()) continue;
      out_.object();
      out_.member("value", name_of(g, value));
      out_.member("pair", precision.kind == partition::Precision::Kind::Pair);
      out_.member("shift", precision.shift);
      out_.end();
    }
    out_.end();
  }

  // Where stored values lie, as backend::PlacedValue says: pieces are [begin, end, space, address, row0,
  // row1, byte0, byte1, local].
  void places(const ir::Graph& g, const backend::RegionCode& code) {
    out_.key("places").array();
    for (const backend::PlacedValue& p : code.places) {
      out_.object();
      out_.member("value", name_of(g, p.value));
      out_.member("stored", mrvlc::name(p.type));
      out_.member("offset", p.offset);
      out_.member("pitch", p.pitch);
      numbers("strides", p.strides);
      out_.key("pieces").array();
      for (const auto& [begin, end, space, address, row0, row1, byte0, byte1, local] : p.pieces) {
        out_.array();
        for (int64_t n :
             {int64_t{begin}, int64_t{end}, int64_t{space}, address, row0, row1, byte0, byte1, local})
          out_.value(n);
        out_.end();
      }
      out_.end();
      out_.end();
    }
    out_.end();
  }

  void layer(const ir::Graph& g, const partition::Layer& l) {
    out_.object();
    out_.member("kind", mrvlc::name(l.kind));
    out_.member("rule", l.rule);
    out_.member("anchor", std::find(l.nodes.begin(), l.nodes.end(), l.anchor) - l.nodes.begin());
    out_.key("nodes").array();
    for (ir::NodeId n : l.nodes) node(g, g.node(n));
    out_.end();
    out_.end();
  }

  void node(const ir::Graph& g, const ir::Node& n) {
    out_.object();
    out_.member("op", n.op->name);
    if (!n.op->domain.empty()) out_.member("domain", n.op->domain);
    const ir::NodeId id[] = {n.id};
    out_.key("sources").array();
    for (const std::string& s : sources(g, id)) out_.value(s);
    out_.end();
    out_.key("inputs").array();
    for (ir::ValueId v : n.inputs) {
      out_.value(v.valid() ? name_of(g, v) : std::string());
      if (g.is_constant(v)) note_constant(v);
    }
    out_.end();
    out_.key("outputs").array();
    for (ir::ValueId v : n.outputs) result(g, v);
    out_.end();
    attributes(n);
    out_.end();
  }

  void result(const ir::Graph& g, ir::ValueId v) {
    out_.object();
    out_.member("value", v.valid() ? name_of(g, v) : std::string());
    if (v.valid()) shape(g.value(v).type);
    out_.end();
  }

  void note_constant(ir::ValueId v) {
    if (std::find(constants_.begin(), constants_.end(), v) == constants_.end()) constants_.push_back(v);
  }

  void attributes(const ir::Node& n) {
    out_.key("attributes").object();
    for (size_t i = 0; i < n.attrs.size(); ++i) {
      const std::string_view key = n.op->attrs[i].name;
      if (const auto* v = std::get_if<int64_t>(&n.attrs[i])) out_.member(key, *v);
      if (const auto* f = std::get_if<float>(&n.attrs[i])) out_.member(key, static_cast<double>(*f));
      if (const auto* s = std::get_if<std::string>(&n.attrs[i])) out_.member(key, *s);
      if (const auto* v = std::get_if<std::vector<int64_t>>(&n.attrs[i])) numbers(key, *v);
      if (const auto* v = std::get_if<std::vector<float>>(&n.attrs[i])) numbers(key, *v);
    }
    out_.end();
  }

  void constant(const ir::Graph& g, ir::ValueId id) {
    const ir::Value& v = g.value(id);
    out_.object();
    out_.member("value", name_of(g, id));
    shape(v.type);
    if (!v.made_from.empty()) {
      out_.key("folded").array();
      for (const std::string& s : sources(g, v.made_from)) out_.value(s);
      out_.end();
      const auto bytes = v.constant().bytes();
      // Code generation gives large ones back.
      const bool there = static_cast<int64_t>(bytes.size()) == v.type.bytes();
      if (there && bytes.size() <= kMostInline)
        out_.member("data", base64({reinterpret_cast<const char*>(bytes.data()), bytes.size()}));
    }
    out_.end();
  }

  // For messages: which layer an instruction belongs to.
  void instructions(const backend::RegionCode& code) {
    out_.key("instructions").array();
    for (const backend::CodeRange& r : code.instructions) {
      out_.array();
      out_.value(static_cast<int>(r.section));
      out_.value(r.begin);
      out_.value(r.end);
      out_.value(r.layer);
      out_.end();
    }
    out_.end();
  }

  JsonWriter& out_;
  const CompiledModel& m_;
  std::unordered_set<std::string> outputs_;  // names that ONNX nodes give
  std::vector<ir::ValueId> constants_;       // of the region, in order of first use
};

}  // namespace

void write_proof(JsonWriter& out, const CompiledModel& m) {
  ProofWriter(out, m).write();
}

}  // namespace mrvlc::driver
