// A mixing hash over attributes, inputs and types; floats compared bit by bit.
#include "structure.h"

#include <algorithm>
#include <bit>
#include <cstring>

namespace mrvlc::passes {
namespace {

using ir::Attr;

// Multiply and fold (the mixing step of wyhash): fast, and good enough to look up by; equality is always
// checked.
class Hasher {
 public:
  void add(uint64_t v) {
    __extension__ using Wide = unsigned __int128;
    Wide product = static_cast<Wide>(state_ ^ v) * 0x9e3779b97f4a7c15u;
    state_ = static_cast<uint64_t>(product) ^ static_cast<uint64_t>(product >> 64) ^ (v << 1 | v >> 63);
  }
  void add(std::string_view s) {
    add(s.size());
    for (size_t i = 0; i < s.size(); i += 8) {
      uint64_t word = 0;
      std::memcpy(&word, s.data() + i, std::min<size_t>(8, s.size() - i));
      add(word);
    }
  }
  void add(const TensorType& t) {
    add(static_cast<uint64_t>(t.elem));
    add(t.shape.size());
    for (int64_t d : t.shape) add(static_cast<uint64_t>(d));
    if (t.is_static()) return;
    add(t.dynamic);
    add(static_cast<uint64_t>(t.capacity));
    add(static_cast<uint64_t>(t.wrapper));
    add(static_cast<uint64_t>(t.length));
  }
  uint64_t value() const { return state_; }

 private:
  // Digits of pi; those of the factor above are of the golden ratio.
  uint64_t state_ = 0x243f6a8885a308d3u;
};

void add_tensor(Hasher& h, const Tensor& t) {
  h.add(t.type());
  if (t.elem() == ElementType::String) {
    for (const std::string& s : t.string_data()) h.add(s);
    return;
  }
  auto bytes = t.bytes();
  h.add(std::string_view(reinterpret_cast<const char*>(bytes.data()), bytes.size()));
}

struct AttrHash {
  Hasher& h;
  void operator()(std::monostate) const {}
  void operator()(int64_t v) const { h.add(static_cast<uint64_t>(v)); }
  void operator()(float v) const { h.add(std::bit_cast<uint32_t>(v)); }
  void operator()(const std::string& v) const { h.add(v); }
  void operator()(ElementType v) const { h.add(static_cast<uint64_t>(v)); }
  void operator()(const Tensor& v) const { add_tensor(h, v); }
  void operator()(const TensorType& v) const { h.add(v); }
  // Bodies are the same graph or count as different.
  void operator()(const std::shared_ptr<ir::Graph>& v) const {
    h.add(static_cast<uint64_t>(v->node_slots()));
    h.add(static_cast<uint64_t>(v->value_slots()));
  }
  template <class T>
  void operator()(const std::vector<T>& v) const {
    h.add(v.size());
    for (const T& e : v) (*this)(e);
  }
};

void add_node(Hasher& h, const ir::Node& n) {
  h.add(static_cast<uint64_t>(n.op->kind));
  for (const Attr& a : n.attrs) {
    h.add(a.index());
    std::visit(AttrHash{h}, a);
  }
  h.add(n.inputs.size());
  for (ir::ValueId v : n.inputs) h.add(v.index());
}

bool same_bits(float a, float b) {
  return std::bit_cast<uint32_t>(a) == std::bit_cast<uint32_t>(b);
}

struct AttrEqual {
  const Attr& other;
  bool operator()(float v) const { return same_bits(v, std::get<float>(other)); }
  bool operator()(const std::vector<float>& v) const {
    const auto& w = std::get<std::vector<float>>(other);
    return std::equal(v.begin(), v.end(), w.begin(), w.end(), same_bits);
  }
  template <class T>
  bool operator()(const T& v) const {
    return v == std::get<T>(other);
  }
};

}  // namespace

bool equal_attrs(const Attr& a, const Attr& b) {
  return a.index() == b.index() && std::visit(AttrEqual{b}, a);
}

uint64_t hash_tensor(const Tensor& tensor) {
  Hasher h;
  add_tensor(h, tensor);
  return h.value();
}

uint64_t hash_node(const ir::Node& node) {
  Hasher h;
  add_node(h, node);
  return h.value();
}

uint64_t fingerprint(const ir::Graph& graph) {
  Hasher h;
  for (size_t i = 0; i < graph.node_slots(); ++i) {
    const ir::Node& n = graph.node(ir::NodeId(i));
    h.add(n.erased ? 1u : 0u);
    if (n.erased) continue;
    add_node(h, n);
    for (ir::ValueId v : n.outputs) {
      h.add(v.index());
      h.add(graph.value(v).type);
    }
  }
  for (ir::ValueId v : graph.inputs()) h.add(graph.value(v).type);
  for (ir::ValueId v : graph.outputs()) {
    h.add(v.index());
    h.add(graph.value(v).name);
  }
  return h.value();
}

}  // namespace mrvlc::passes
