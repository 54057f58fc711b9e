// The search for the smallest graph that still fails.
#include <algorithm>

#include "debug/part.h"
#include "mrvlc/driver/debug.h"

namespace mrvlc::driver {
namespace {

using Nodes = std::vector<ir::NodeId>;

class Reducer {
 public:
  Reducer(const ir::Graph& graph, const std::function<bool(const ir::Graph&)>& fails, size_t most,
          const std::function<void(size_t, size_t)>& progress)
      : graph_(graph), fails_(fails), most_(most), progress_(progress) {}

  Reduction run() {
    cut_behind();
    cut_in_front();
    for (bool smaller = true; smaller && !over();) {
      const size_t before = nodes().size();
      drop_nodes();
      bypass_nodes();
      smaller = nodes().size() < before;
    }
    drop_outputs();
    if (can_resize()) {
      shrink_sizes();
      clear_weights();
    }
    return {std::move(graph_), checks_};
  }

 private:
  Nodes nodes() const { return graph_.topological_order(); }
  bool over() const { return checks_ >= most_; }

  // Whether the part still fails, which it becomes then.
  bool take(const Part& part) {
    if (over()) return false;
    auto made = make_part(graph_, part);
    if (!made.ok()) return false;
    ++checks_;
    if (!fails_(*made)) return false;
    graph_ = *std::move(made);
    if (progress_) progress_(graph_.topological_order().size(), checks_);
    return true;
  }

  bool take_without(Nodes::const_iterator begin, Nodes::const_iterator end) {
    Part part;
    part.without.insert(begin, end);
    return take(part);
  }

  // The shortest beginning that fails, if longer ones do, too; wrong guesses are mended by what follows.
  void cut_behind() {
    for (size_t kept = nodes().size() / 2, step = kept; step > 0 && !over(); step /= 2) {
      const Nodes all = nodes();
      kept = std::min(all.size() > step ? all.size() - step : 1, all.size());
      if (kept < all.size()) take_without(all.begin() + static_cast<long>(kept), all.end());
    }
  }

  void cut_in_front() {
    for (size_t step = nodes().size() / 2; step > 0 && !over(); step /= 2) {
      const Nodes all = nodes();
      if (step < all.size()) take_without(all.begin(), all.begin() + static_cast<long>(step));
    }
  }

  // Delta debugging: pieces go that are not needed, smaller and smaller ones, down to single nodes.
  void drop_nodes() {
    for (size_t size = std::max<size_t>(nodes().size() / 2, 1); !over(); size /= 2) {
      for (size_t at = 0; at < nodes().size() && !over();) {
        const Nodes all = nodes();
        const size_t end = std::min(at + size, all.size());
        const bool whole = end - at == all.size();
        if (whole || !take_without(all.begin() + static_cast<long>(at), all.begin() + static_cast<long>(end)))
          at = end;
      }
      if (size <= 1) return;
    }
  }

  // A node in the middle of a chain, of whose inputs one has its type.
  bool bypass(const ir::Node& n) {
    const ir::ValueId out = n.outputs.empty() ? ir::ValueId() : n.outputs[0];
    if (!out.valid() || graph_.value(out).users.empty()) return false;
    for (ir::ValueId in : n.inputs) {
      if (!in.valid() || graph_.is_constant(in) || !(graph_.value(in).type == graph_.value(out).type))
        continue;
      Part part;
      part.without = {n.id};
      part.instead = {{out, in}};
      if (take(part)) return true;
    }
    return false;
  }

  void bypass_nodes() {
    for (size_t at = 0; at < nodes().size() && !over();)
      if (!bypass(graph_.node(nodes()[at]))) ++at;
  }

  void drop_outputs() {
    for (size_t at = 0; at < graph_.outputs().size() && !over();) {
      const size_t before = graph_.outputs().size();
      Part part;
      part.not_outputs = {graph_.outputs()[at]};
      if (graph_.value(graph_.outputs()[at]).users.empty() || !take(part) ||
          graph_.outputs().size() >= before)
        ++at;
    }
  }

  // Bodies have types of their own, and what is known at run time only is not shrunk by a number.
  bool can_resize() const {
    for (ir::NodeId id : graph_.topological_order())
      if (!ir::bodies_of(graph_.node(id)).empty()) return false;
    for (size_t i = 0; i < graph_.value_slots(); ++i) {
      const TensorType& t = graph_.value(ir::ValueId(i)).type;
      if (!t.is_static() || t.wrapper != Wrapper::None) return false;
    }
    return true;
  }

  // All dimensions of this size, of inputs and weights, become another; so do numbers in constants that say
  // sizes, when `numbers`.
  bool take_size(int64_t from, int64_t to, bool numbers) {
    Part part;
    const auto smaller = [=](TensorType t) {
      for (int64_t& d : t.shape)
        if (d == from) d = to;
      return t;
    };
    part.input = [=](const ir::Value& v) { return smaller(v.type); };
    part.constant = [=](const ir::Value& v) { return resized(v.constant(), from, to, numbers); };
    return take(part);
  }

  static Tensor resized(const Tensor& t, int64_t from, int64_t to, bool numbers) {
    if (t.elem() == ElementType::String) return t;
    if (t.elem() == ElementType::I64 && t.shape().size() <= 1) {
      if (!numbers) return t;
      std::vector<int64_t> values;
      for (int64_t i = 0; i < t.elements(); ++i) values.push_back(t.as_int(i) == from ? to : t.as_int(i));
      return Tensor::of(ElementType::I64, t.shape(), values);
    }
    TensorType type = t.type();
    for (int64_t& d : type.shape)
      if (d == from) d = to;
    if (type.shape == t.shape()) return t;
    // The values do not matter for a failure of shapes; those that do are at the beginning.
    const auto bytes = t.bytes();
    return Tensor(
        type, std::string(reinterpret_cast<const char*>(bytes.data()), static_cast<size_t>(type.bytes())));
  }

  std::set<int64_t, std::greater<>> sizes() const {
    std::set<int64_t, std::greater<>> out;
    for (size_t i = 0; i < graph_.value_slots(); ++i) {
      const ir::Value& v = graph_.value(ir::ValueId(i));
      if (v.kind == ir::ValueKind::Result) continue;
      for (int64_t d : v.type.shape)
        if (d > 1) out.insert(d);
    }
    return out;
  }

  bool shrink(int64_t size) {
    for (const bool numbers : {true, false})
      for (const int64_t to : {int64_t{1}, int64_t{2}, int64_t{4}, size / 4, size / 2, size - 1})
        if (to >= 1 && to < size && take_size(size, to, numbers)) return true;
    return false;
  }

  void shrink_sizes() {
    for (bool smaller = true; smaller && !over();) {
      smaller = false;
      for (int64_t size : sizes()) smaller = shrink(size) || smaller;
    }
  }

  static bool is_weights(const Tensor& t) { return is_float(t.elem()) && t.elements() > 0; }

  void clear_weights() {
    bool any = false;
    Part part;
    part.input = [](const ir::Value& v) { return v.type; };
    part.constant = [&any](const ir::Value& v) {
      if (!is_weights(v.constant())) return v.constant();
      any = true;
      return Tensor(v.type);
    };
    const bool taken = take(part);
    if (taken || !any) return;
    for (size_t i = 0; i < graph_.value_slots() && !over(); ++i) {
      const ir::ValueId cleared(i);
      if (!graph_.is_constant(cleared) || !is_weights(*graph_.constant(cleared))) continue;
      part.constant = [cleared](const ir::Value& v) {
        return v.id == cleared ? Tensor(v.type) : v.constant();
      };
      take(part);
    }
  }

  ir::Graph graph_;
  const std::function<bool(const ir::Graph&)>& fails_;
  size_t most_, checks_ = 0;
  const std::function<void(size_t, size_t)>& progress_;
};

}  // namespace

Reduction reduce_graph(const ir::Graph& graph, const std::function<bool(const ir::Graph&)>& fails,
                       size_t most_checks, const std::function<void(size_t, size_t)>& progress) {
  return Reducer(graph, fails, most_checks, progress).run();
}

}  // namespace mrvlc::driver
