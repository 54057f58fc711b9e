// Values of one name are compared; where they differ, both sides go on with the model's.
#include "link.h"

#include <algorithm>

#include "mrvlc/support/hash.h"

namespace mrvlc::prove {
namespace {

Json attributes_of(const ir::Node& n) {
  Json j = Json::object();
  for (size_t i = 0; i < n.attrs.size(); ++i) {
    const std::string key(n.op->attrs[i].name);
    if (const auto* v = std::get_if<int64_t>(&n.attrs[i])) j[key] = *v;
    if (const auto* f = std::get_if<float>(&n.attrs[i])) j[key] = static_cast<double>(*f);
    if (const auto* s = std::get_if<std::string>(&n.attrs[i])) j[key] = *s;
    if (const auto* v = std::get_if<std::vector<int64_t>>(&n.attrs[i])) j[key] = *v;
    if (const auto* v = std::get_if<std::vector<float>>(&n.attrs[i])) j[key] = *v;
  }
  return j;
}

ValueInfo info_of(const ir::Graph& g, ir::ValueId id) {
  if (!id.valid()) return {};
  const ir::Value& v = g.value(id);
  return {v.name, v.type.elem, v.type.shape};
}

// SAME_UPPER and SAME_LOWER written out.
void write_pads(Node& n, const Shape& x, const Shape& kernel) {
  const std::string mode = n.text("auto_pad", "NOTSET");
  if (mode == "NOTSET" || x.size() < 3) return;
  const size_t d = x.size() - 2;
  std::vector<int64_t> pads(2 * d, 0), strides = n.integers("strides"), dilations = n.integers("dilations");
  strides.resize(d, 1);
  dilations.resize(d, 1);
  for (size_t i = 0; i < d && mode != "VALID"; ++i) {
    const int64_t in = x[i + 2], out = (in + strides[i] - 1) / strides[i];
    const int64_t all =
        std::max<int64_t>(0, (out - 1) * strides[i] + dilations[i] * (kernel.at(i) - 1) + 1 - in);
    pads[i] = mode == "SAME_UPPER" ? all / 2 : all - all / 2;
    pads[i + d] = all - pads[i];
  }
  n.attributes["pads"] = pads;
  n.attributes["auto_pad"] = "NOTSET";
}

Layer layer_of(const ir::Graph& g, ir::NodeId id) {
  const ir::Node& from = g.node(id);
  Node n{std::string(from.op->name), std::string(from.op->domain), {}, {}, {}, attributes_of(from)};
  for (ir::SourceId s : g.lineage(id).sources) n.sources.push_back(g.sources()[s.index()].id);
  for (ir::ValueId v : from.inputs) n.inputs.push_back(v.valid() ? g.value(v).name : "");
  for (ir::ValueId v : from.outputs) n.outputs.push_back(info_of(g, v));
  if (n.attributes.contains("auto_pad") && !from.inputs.empty()) {
    const Shape& x = g.value(from.inputs[0]).type.shape;
    Shape kernel = n.integers("kernel_shape");
    if (n.op == "Conv" || n.op == "QLinearConv") {
      const Shape& w = g.value(from.inputs.at(n.op == "Conv" ? 1 : 3)).type.shape;
      if (w.size() > 2) kernel.assign(w.begin() + 2, w.end());
    }
    if (kernel.size() + 2 == x.size()) write_pads(n, x, kernel);
  }
  Layer l;
  l.nodes.push_back(std::move(n));
  return l;
}

}  // namespace

Symbols Linker::fresh(const std::string& name, const Shape& shape) const {
  const std::string digest = sha256_hex(name);
  const uint64_t key = std::stoull(digest.substr(0, 15), nullptr, 16);
  Symbols s{shape, {}};
  for (int64_t i = 0; i < element_count(shape); ++i)
    s.v.push_back(values_.symbol(3, key, static_cast<uint64_t>(i)));
  return s;
}

Linker::Linker(const ir::Graph& model, const Field& field) : g_(model), values_(field, true) {
  for (size_t i = 0; i < model.value_slots(); ++i) {
    const ir::ValueId id(static_cast<uint32_t>(i));
    if (model.is_constant(id))
      model_.constants.emplace(model.value(id).name, FoldedConstant{info_of(model, id), false, {}, {}});
  }
  for (ir::NodeId n : model.topological_order()) model_.layers.push_back(layer_of(model, n));
  if (!has_integers(model_)) values_.forget_clips();
  constants_ = std::make_unique<Constants>(model, model_);
  reference_ = std::make_unique<Reference>(values_, *constants_, model_);
  reference_->share(&memo_);
  for (ir::ValueId v : model.inputs())
    reference_->set(model.value(v).name, fresh(model.value(v).name, model.value(v).type.shape));
  for (const Layer& l : model_.layers) {
    const Node& n = l.nodes[0];
    for (const std::string& source : n.sources)
      for (const ValueInfo& o : n.outputs) results_[source].push_back(o.name);
    if (n.is({"Identity", "Constant"})) handed_on_.insert(n.sources.begin(), n.sources.end());
    try {
      reference_->evaluate_exactly(n);
      continue;
    } catch (const NotProved&) {
    } catch (const Json::exception&) {
    } catch (const std::out_of_range&) {
    }
    for (const ValueInfo& o : n.outputs)
      if (!o.name.empty()) reference_->set(o.name, fresh(o.name, o.shape));
  }
  std::set<std::string> made;
  for (const Layer& l : model_.layers) made.insert(l.nodes[0].sources.begin(), l.nodes[0].sources.end());
  for (const ir::Source& s : model.sources())
    if (!made.contains(s.id) && s.op_type == "Constant") handed_on_.insert(s.id);
}

// A value that the model has no name for is a result of the ONNX nodes that it was made of.
bool Linker::equals_source(const Symbols* own, const Node& node) const {
  if (own == nullptr) return false;
  for (const std::string& source : node.sources) {
    const auto names = results_.find(source);
    if (names == results_.end()) continue;
    for (const std::string& name : names->second) {
      const Symbols* s = reference_->find(name);
      bool same = s != nullptr && s->v.size() == own->v.size();
      for (size_t k = 0; same && k < own->v.size(); ++k) same = values_.same(own->v[k], s->v[k]);
      if (same) return true;
    }
  }
  return false;
}

std::vector<std::string> Linker::users_of(const std::string& source) const {
  std::vector<std::string> out;
  const auto names = results_.find(source);
  if (names == results_.end()) return out;
  for (const Layer& l : model_.layers)
    for (const std::string& in : l.nodes[0].inputs)
      if (std::find(names->second.begin(), names->second.end(), in) != names->second.end())
        out.insert(out.end(), l.nodes[0].sources.begin(), l.nodes[0].sources.end());
  return out;
}

Linked Linker::link(const RegionHints& region) {
  Constants constants(g_, region);
  Reference program(values_, constants, region);
  program.share(&memo_);
  for (const ProgramPort& p : region.inputs) {
    const Symbols* s = reference_->find(p.value.name);
    const bool same = s != nullptr && s->v.size() == static_cast<size_t>(element_count(p.value.shape));
    program.set(p.value.name, same ? Symbols{p.value.shape, s->v} : fresh(p.value.name, p.value.shape));
  }
  const size_t n = region.layers.size();
  Linked out{std::vector<bool>(n, false), std::vector<std::string>(n)};
  std::set<std::string> matched, differing;
  for (size_t i = 0; i < n; ++i) {
    for (const Node& node : region.layers[i].nodes) {
      std::string why;
      try {
        program.evaluate_exactly(node);
      } catch (const NotProved& e) {
        why = e.reason;
      } catch (const Json::exception&) {
        why = "proof.json has an attribute of another type";
      } catch (const std::out_of_range&) {
        why = "proof.json leaves out an operand";
      }
      for (const ValueInfo& o : node.outputs) {
        const Symbols* of_model = reference_->find(o.name);
        if (of_model == nullptr && why.empty() && equals_source(program.find(o.name), node))
          matched.insert(o.name);
        const Symbols* own = why.empty() ? program.find(o.name) : nullptr;
        if (of_model != nullptr && of_model->v.size() != static_cast<size_t>(element_count(o.shape)))
          of_model = nullptr;
        bool same = own != nullptr && of_model != nullptr;
        for (size_t k = 0; same && k < own->v.size(); ++k) same = values_.same(own->v[k], of_model->v[k]);
        if (same) matched.insert(o.name);
        if (same || (of_model == nullptr && why.empty())) continue;
        differing.insert(o.name);
        if (why.empty())
          why =
              "its result '" + o.name + "' is not what the model says, but for lemmas that are not there yet";
        program.set(o.name, of_model != nullptr ? *of_model : fresh(o.name, o.shape));
      }
      if (!why.empty() && out.why_not[i].empty()) out.why_not[i] = why;
    }
  }
  // A layer has a value that was compared, or one that needs it has.
  std::set<std::string> needed = matched;
  for (size_t i = n; i-- > 0;) {
    if (!out.why_not[i].empty()) continue;
    for (const Node& node : region.layers[i].nodes)
      for (const ValueInfo& o : node.outputs)
        out.declared[i] = out.declared[i] || (needed.contains(o.name) && !differing.contains(o.name));
    if (!out.declared[i]) {
      out.why_not[i] = "no value of the model that could be compared needs it";
      continue;
    }
    for (const Node& node : region.layers[i].nodes) needed.insert(node.inputs.begin(), node.inputs.end());
  }
  return out;
}

}  // namespace mrvlc::prove
