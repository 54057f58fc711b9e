// Values of one name are compared; where they differ, both sides go on with the model's.
#include "link.h"

#include <algorithm>

#include "model_program.h"
#include "mrvlc/support/hash.h"

namespace mrvlc::prove {
namespace {

// Why it cannot be evaluated, or empty.
template <class F>
std::string why_not(F evaluate) {
  try {
    evaluate();
    return "";
  } catch (const NotProved& e) {
    return e.reason;
  } catch (const Json::exception&) {
    return "proof.json has an attribute of another type";
  } catch (const std::out_of_range&) {
    return "proof.json leaves out an operand";
  }
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

Linker::Linker(const ir::Graph& model, const Field& field, const std::set<std::string>& taken)
    : g_(model), values_(field, true) {
  model_ = model_program(model);
  if (!has_integers(model_)) values_.forget_clips();
  constants_ = std::make_unique<Constants>(model, model_);
  reference_ = std::make_unique<Reference>(values_, *constants_, model_);
  reference_->share(&memo_);
  for (size_t i = 0; i < model.value_slots(); ++i)
    if (const ir::Value& v = model.value(ir::ValueId(static_cast<uint32_t>(i))); !v.type.is_static())
      open_.insert(v.name);
  for (ir::ValueId v : model.inputs())
    if (!open_.contains(model.value(v).name))
      reference_->set(model.value(v).name, fresh(model.value(v).name, model.value(v).type.shape));
  evaluate_model(taken);
  std::set<std::string> made;
  for (const Layer& l : model_.layers) made.insert(l.nodes[0].sources.begin(), l.nodes[0].sources.end());
  for (const ir::Source& s : model.sources())
    if (!made.contains(s.id) && s.op_type == "Constant") handed_on_.insert(s.id);
}

void Linker::evaluate_model(const std::set<std::string>& taken) {
  for (const Layer& l : model_.layers) {
    const Node& n = l.nodes[0];
    for (const std::string& source : n.sources)
      for (const ValueInfo& o : n.outputs) results_[source].push_back(o.name);
    if (n.is({"Identity", "Constant"})) handed_on_.insert(n.sources.begin(), n.sources.end());
    const auto is_open = [&](const ValueInfo& o) { return open_.contains(o.name); };
    const bool open = std::any_of(n.outputs.begin(), n.outputs.end(), is_open),
               known = !open && why_not([&] { reference_->evaluate_exactly(n); }).empty();
    for (const ValueInfo& o : n.outputs) {
      if (o.name.empty() || is_open(o) || (known && !taken.contains(o.name))) continue;
      if (const Symbols* s = reference_->find(o.name); known && s != nullptr) computed_[o.name] = *s;
      reference_->set(o.name, fresh(o.name, o.shape));
      fresh_.insert(o.name);
    }
  }
}

bool Linker::same(const Symbols* a, const Symbols* b) const {
  if (a == nullptr || b == nullptr || a->v.size() != b->v.size()) return false;
  for (size_t k = 0; k < a->v.size(); ++k)
    if (!values_.same(a->v[k], b->v[k])) return false;
  return true;
}

// A value that the model has no name for is a result of the ONNX nodes that it was made of.
const std::string* Linker::equal_source(const Symbols* own, const Node& node) const {
  for (const std::string& source : node.sources) {
    const auto names = results_.find(source);
    if (names == results_.end()) continue;
    for (const std::string& name : names->second)
      if (!fresh_.contains(name) && same(own, reference_->find(name))) return &name;
  }
  return nullptr;
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
  Linked out{std::vector<bool>(n, false), std::vector<std::string>(n), {}};
  std::set<std::string> differing;
  for (size_t i = 0; i < n; ++i) {
    for (const Node& node : region.layers[i].nodes) {
      std::string why = why_not([&] { program.evaluate_exactly(node); });
      for (const ValueInfo& o : node.outputs) {
        const Symbols *of_model = reference_->find(o.name),
                      *own = why.empty() ? program.find(o.name) : nullptr;
        if (of_model != nullptr && of_model->v.size() != static_cast<size_t>(element_count(o.shape)))
          of_model = nullptr;
        const auto computed = computed_.find(o.name);
        const bool taken = computed != computed_.end();
        const bool matches = same(own, taken ? &computed->second : of_model);
        if (matches) out.matched.emplace(o.name, o.name);
        if (of_model == nullptr && own != nullptr)
          if (const std::string* name = equal_source(own, node)) out.matched.emplace(o.name, *name);
        if (taken && of_model != nullptr) program.set(o.name, Symbols{o.shape, of_model->v});
        if (matches || (of_model == nullptr && why.empty())) continue;
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
  std::set<std::string> needed;
  for (const auto& [name, of_model] : out.matched) needed.insert(name);
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
