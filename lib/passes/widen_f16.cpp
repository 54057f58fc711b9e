// widen-f16
//   before  input %x : f16[8]    %1 = Relu(%x) : f16[8]    output %1
//   after   input %x : f16[8]    %2 = Cast(%x) : f32[8]    %3 = Relu(%2) : f32[8]    %1 = Cast(%3) : f16[8]
//   output %1
// bf16 likewise, but every result is rounded to bf16 before it is read: of eight bits each counts, and models
// are trained with them. Preconditions: none; nodes for which on_cpu is false, nodes that only move elements
// that are narrow, and the types of the model's interface, stay; so do sequences, optionals and what control
// flow passes to bodies, which are widened by themselves.
// Safe because f32 holds every f16 exactly, and computing in it is at least as precise. Values change in
// place where no attribute names the type, so most nodes keep their ids. Casts to a narrow type are left
// alone, those of the model because they round, those at a border because they are done, which makes the pass
// idempotent.
#include "mrvlc/passes/widen_f16.h"

#include <algorithm>
#include <unordered_map>

#include "mrvlc/ir/pass_names.h"
#include "mrvlc/ops/op_kind.h"
#include "passes.h"
#include "util.h"

namespace mrvlc::passes {
namespace {

bool is_half(ElementType elem) {
  return elem == ElementType::F16 || elem == ElementType::BF16;
}

Tensor to_f32(const Tensor& t) {
  Tensor out(t.type().with_elem(ElementType::F32));
  for (int64_t i = 0; i < t.elements(); ++i) out.set_double(i, t.as_double(i));
  return out;
}

class Widener {
 public:
  Widener(Graph& graph, const std::function<bool(const Node&)>& on_cpu)
      : g_(graph), rw_(graph, ir::kWidenF16) {
    cpu_.resize(graph.node_slots(), false);
    for (size_t i = 0; i < cpu_.size(); ++i) {
      const Node& n = graph.node(NodeId(i));
      cpu_[i] = !n.erased && on_cpu(n) && !keeps_types(n);
      bodies_ = bodies_ || (!n.erased && has_body(n));
    }
  }

  bool run() {
    bool changed = false;
    for (NodeId id : g_.topological_order()) {
      if (is_cpu(id)) changed = widen(id) || changed;
    }
    return (bodies_ && widen_bodies()) || changed;
  }

 private:
  bool is_cpu(NodeId id) const { return id.index() >= cpu_.size() || cpu_[id.index()]; }
  bool narrow(ValueId v) const { return v.valid() && is_half(type_of(g_, v).elem); }

  // Sequences and optionals hold what they hold, bodies take what they take, CastLike looks at a type and
  // BitCast at the bits.
  bool keeps_types(const Node& n) const {
    auto wrapped = [&](ValueId v) { return v.valid() && type_of(g_, v).wrapper != Wrapper::None; };
    return n.is(Op::CastLike, Op::BitCast) || has_body(n) ||
           std::any_of(n.inputs.begin(), n.inputs.end(), wrapped) ||
           std::any_of(n.outputs.begin(), n.outputs.end(), wrapped);
  }
  static bool has_body(const Node& n) { return !ir::bodies_of(n).empty(); }

  // Bodies run on the CPU, whole. They are changed where they are, as the pass manager does.
  bool widen_bodies() {
    bool changed = false;
    for (NodeId id : g_.topological_order()) {
      for (Graph* body : ir::mutable_bodies_of(g_, id)) {
        changed = Widener(*body, [](const Node&) { return true; }).run() || changed;
      }
    }
    return changed;
  }

  // Narrow operands that nobody widened are moved as they are.
  bool stays(const Node& n) const {
    bool any = false, wide = false;
    for (ValueId v : n.inputs) {
      any = any || narrow(v);
      wide = wide || (v.valid() && type_of(g_, v).elem == ElementType::F32);
    }
    return any && !wide && ops::traits(n).moves != ops::Moves::None;
  }

  bool widen(NodeId id) {
    if (g_.node(id).is(Op::Cast)) return widen_cast(id);
    if (stays(g_.node(id))) return false;
    const std::vector<ValueId> inputs = g_.node(id).inputs, outputs = g_.node(id).outputs;
    bool changed = false;
    for (size_t i = 0; i < inputs.size(); ++i) {
      if (!narrow(inputs[i])) continue;
      rw_.set_input(id, i, wide(inputs[i], id));
      changed = true;
    }
    if (std::none_of(outputs.begin(), outputs.end(), [&](ValueId v) { return narrow(v); })) return changed;
    for (ValueId v : outputs) {
      if (narrow(v)) widen_result(v, id);
    }
    widen_attrs(id);
    return true;
  }

  // The f32 form of a narrow value that is a constant or comes from outside the CPU; made once.
  ValueId wide(ValueId v, NodeId reader) {
    auto it = wide_.find(v.index());
    if (it != wide_.end()) return it->second;
    ValueId w;
    if (const Tensor* t = g_.constant(v)) {
      w = rw_.constant(to_f32(*t), g_.value(v).made_from);
    } else {
      w = cast(v, ElementType::F32, reader);
    }
    wide_.emplace(v.index(), w);
    return w;
  }

  ValueId cast(ValueId v, ElementType to, NodeId from) {
    return make(rw_, Op::Cast, {v}, type_of(g_, v).with_elem(to), {from}, {{"to", Attr(to)}});
  }

  // Readers outside the CPU, and the model's outputs, get the narrow form through a Cast; of bf16 every
  // reader.
  void widen_result(ValueId v, NodeId id) {
    const std::vector<NodeId> users = g_.value(v).users;
    const ElementType elem = type_of(g_, v).elem;
    const bool rounded = elem == ElementType::BF16 && !users.empty();
    bool border = rounded || g_.is_output(v) ||
                  std::any_of(users.begin(), users.end(), [&](NodeId u) { return !is_cpu(u); });
    if (border) {
      ValueId narrow_form = cast(v, elem, id);
      rw_.replace_all_uses(v, narrow_form);  // moves the Cast's own use, too
      rw_.set_input(g_.value(narrow_form).producer, 0, v);
      for (NodeId user : users) {
        if (is_cpu(user) && !rounded) redirect(user, narrow_form, v);
      }
    }
    rw_.set_type(v, type_of(g_, v).with_elem(ElementType::F32));
  }

  void redirect(NodeId user, ValueId from, ValueId to) {
    for (size_t i = 0; i < g_.node(user).inputs.size(); ++i) {
      if (g_.node(user).inputs[i] == from) rw_.set_input(user, i, to);
    }
  }

  // A Cast from a narrow type at a border is what other readers can use, too. One to a narrow type is an
  // operation of the model: it rounds, and overflows; readers on the CPU widen its result.
  bool widen_cast(NodeId id) {
    ValueId in = g_.node(id).inputs[0], out = g_.node(id).outputs[0];
    ElementType from = type_of(g_, in).elem, to = type_of(g_, out).elem;
    if (to != ElementType::F32) return false;
    if (from == ElementType::F32) return bypass(rw_, id, in, "computed in f32 already");
    if (is_half(from)) wide_.emplace(in.index(), out);
    return false;
  }

  // Attributes that name the type of the result, or hold its value.
  void widen_attrs(NodeId id) {
    std::vector<Attr> attrs = g_.node(id).attrs;
    bool changed = false;
    for (Attr& a : attrs) {
      if (auto* t = std::get_if<ElementType>(&a); t != nullptr && is_half(*t)) {
        *t = ElementType::F32;
        changed = true;
      } else if (auto* v = std::get_if<Tensor>(&a); v != nullptr && is_half(v->elem())) {
        *v = to_f32(*v);
        changed = true;
      }
    }
    if (changed) remake(id, std::move(attrs));
  }

  void remake(NodeId id, std::vector<Attr> attrs) {
    const std::vector<ValueId> outputs = g_.node(id).outputs;
    std::vector<TensorType> types;
    for (ValueId v : outputs) types.push_back(type_of(g_, v));
    NodeId now = rw_.create(*g_.node(id).op, g_.node(id).inputs, std::move(attrs), std::move(types),
                            std::span(&id, 1));
    for (size_t i = 0; i < outputs.size(); ++i) rw_.replace_all_uses(outputs[i], rw_.output(now, i));
    rw_.erase(id, "computed in f32");
  }

  Graph& g_;
  Rewriter rw_;
  std::vector<bool> cpu_;
  bool bodies_ = false;
  std::unordered_map<uint32_t, ValueId> wide_;  // looked up only
};

}  // namespace

namespace {

// Most models have nothing to widen. A Cast from f32 to f32 is taken away, too.
bool may_widen(const Graph& graph) {
  for (size_t i = 0; i < graph.value_slots(); ++i)
    if (is_half(type_of(graph, ValueId(i)).elem)) return true;
  return has_anchor(graph, [](const Node& n) { return n.is(Op::Cast) || !ir::bodies_of(n).empty(); });
}

}  // namespace

Status widen_f16(ir::Graph& graph, const std::function<bool(const ir::Node&)>& on_cpu, bool& changed) {
  changed = may_widen(graph) && Widener(graph, on_cpu).run();
  return {};
}

Status widen_f16(ir::Graph& graph, const PassContext&, bool& changed) {
  return widen_f16(
      graph, [](const ir::Node&) { return true; }, changed);
}

}  // namespace mrvlc::passes
