// Which integer products have packed weights; zero points folded into biases, scales and bounds of results.
#include "integer/rows.h"

#include <algorithm>

#include "conv/plan.h"
#include "mrvlc/ops/op_kind.h"
#include "mrvlc/ops/params.h"
#include "mrvlc/ops/quantized.h"

namespace mrvlc::chost {
namespace {

using enum ops::QlinearInput::Position;

bool is_scaled(const ir::Node& node) {
  return node.is(Op::QLinearConv, Op::QLinearMatMul);
}

bool is_conv(const ir::Node& node) {
  return node.is(Op::QLinearConv, Op::ConvInteger);
}

// Of x, w and their zero points.
struct Positions {
  size_t x, zero_x, w, zero_w;
};

Positions positions(const ir::Node& node) {
  return is_scaled(node) ? Positions{kA, kZeroA, kB, kZeroB} : Positions{0, 2, 1, 3};
}

bool is_given(const ir::Node& node, size_t input) {
  return input < node.inputs.size() && node.inputs[input].valid();
}

// A constant of the type, or no operand; `one`: of one element.
bool known(const ir::Graph& graph, const ir::Node& node, size_t input, ElementType elem, bool one) {
  if (!is_given(node, input)) return true;
  const Tensor* t = graph.constant(node.inputs[input]);
  return t != nullptr && t->elem() == elem && (!one || t->elements() == 1);
}

bool known_parameters(const ir::Graph& graph, const ir::Node& node) {
  const Positions at = positions(node);
  const ElementType x = graph.value(node.inputs[at.x]).type.elem,
                    w = graph.value(node.inputs[at.w]).type.elem;
  auto is_byte = [](ElementType e) { return e == ElementType::I8 || e == ElementType::U8; };
  if (!is_byte(x) || !is_byte(w) || !graph.is_constant(node.inputs[at.w])) return false;
  if (!known(graph, node, at.zero_x, x, true) || !known(graph, node, at.zero_w, w, false)) return false;
  if (!is_scaled(node)) return true;
  const ElementType y = graph.value(node.outputs[0]).type.elem;
  return is_byte(y) && known(graph, node, kScaleA, ElementType::F32, true) &&
         known(graph, node, kScaleB, ElementType::F32, false) &&
         known(graph, node, kScaleY, ElementType::F32, true) && known(graph, node, kZeroY, y, true) &&
         known(graph, node, kBias, ElementType::I32, false);
}

std::string literal(float v) {
  return ops::c_literal(static_cast<double>(v), ElementType::F32);
}

// Bounds of results less their zero point: those of the type, and of a Clip behind.
struct Bounds {
  int64_t zero = 0, low = 0, high = 0;
};

Bounds bounds_of(Function& f) {
  const ir::Graph& graph = f.program().graph;
  const ir::Node& node = f.head();
  const ops::IntRange all = ops::range_of(graph.value(node.outputs[0]).type.elem);
  Bounds b{graph.constant(node.inputs[kZeroY])->as_int(0), all.low, all.high};
  if (f.nodes().size() > 1) {
    const ir::Node& clip = f.program().node(f.nodes()[1]);
    for (size_t i = 1; i < clip.inputs.size(); ++i) {
      if (!clip.inputs[i].valid()) continue;
      const int64_t v = graph.constant(clip.inputs[i])->as_int(0);
      i == 1 ? b.low = std::max(b.low, v) : b.high = std::min(b.high, v);
    }
    b.low = std::min(b.low, b.high);  // the upper one is applied last
  }
  return b;
}

template <class T>
void append(std::vector<std::byte>& bytes, const std::vector<T>& values) {
  const auto view = std::as_bytes(std::span(values));
  bytes.insert(bytes.end(), view.begin(), view.end());
}

}  // namespace

bool is_packed_integer(const ir::Graph& graph, const ir::Node& node) {
  if (!node.is(Op::QLinearConv, Op::ConvInteger, Op::QLinearMatMul, Op::MatMulInteger)) return false;
  if (ops::has_dynamic_shapes(graph, node) || !known_parameters(graph, node)) return false;
  if (graph.value(node.outputs[0]).type.elements() == 0) return false;
  return is_conv(node) ? fits_integer_conv(graph, node) : fits_integer_matrix(graph, node);
}

bool takes_bounds(const ir::Graph& graph, const ir::Node& node, const ir::Node& clip) {
  if (!is_scaled(node) || !clip.is(Op::Clip) || !is_packed_integer(graph, node)) return false;
  for (size_t i = 1; i < clip.inputs.size(); ++i) {
    if (!clip.inputs[i].valid()) continue;
    const Tensor* t = graph.constant(clip.inputs[i]);
    if (t == nullptr || t->elements() != 1) return false;
  }
  return true;
}

IntegerRows::IntegerRows(const ir::Graph& graph, const ir::Node& node, Layout layout)
    : graph_(graph), node_(node), layout_(layout), scaled_(is_scaled(node)) {
  const Positions at = positions(node);
  w_ = at.w;
  zero_w_ = at.zero_w;
  unsigned_x_ = graph.value(node.inputs[at.x]).type.elem == ElementType::U8;
  unsigned_w_ = constant(w_).elem() == ElementType::U8;
  if (is_given(node, at.zero_x)) zero_x_ = static_cast<int>(constant(at.zero_x).as_int(0));
}

int IntegerRows::number(int64_t row, int64_t k) const {
  const int64_t v = constant(w_).as_int(row * layout_.stride + k * layout_.step);
  return static_cast<int>(v) - (unsigned_w_ ? 128 : 0);
}

int IntegerRows::zero_of(int64_t row) const {
  int64_t zero = 0;
  if (is_given(node_, zero_w_)) zero = constant(zero_w_).as_int(constant(zero_w_).elements() == 1 ? 0 : row);
  return static_cast<int>(zero) - (unsigned_w_ ? 128 : 0);
}

// Rounded as the operator's definition has it.
float IntegerRows::scale_of(int64_t row) const {
  auto element = [&](size_t input, int64_t k) {
    const Tensor& t = constant(input);
    return t.data<float>()[static_cast<size_t>(t.elements() == 1 ? 0 : k)];
  };
  return element(kScaleA, 0) * element(kScaleB, row) / element(kScaleY, 0);
}

std::byte IntegerRows::weight(int64_t row, int64_t k) const {
  if (row >= layout_.rows) return {};
  // Filled up with the zero point: w - zw is 0, whatever x is read there.
  const int w = k < layout_.depth ? number(row, k) : zero_of(row);
  return static_cast<std::byte>(static_cast<uint8_t>(w));
}

void IntegerRows::add_row(int64_t row) {
  const bool filler = row >= layout_.rows;
  int64_t bias = 0;
  if (!filler) {
    if (scaled_ && is_given(node_, kBias)) bias = constant(kBias).as_int(row);
    // sum((x - zx) (w - zw)) = sum(x (w - zw)) - zx sum(w - zw): the last sum is known here.
    const int64_t zero = zero_x_ + (unsigned_x_ ? 0 : 128), centre = zero_of(row);
    for (int64_t k = 0; k < layout_.depth; ++k) bias -= zero * (number(row, k) - centre);
  }
  bias_.push_back(static_cast<uint32_t>(bias));
  centre_.push_back(filler ? 0 : static_cast<uint32_t>(zero_of(row)));
  if (scaled_) scale_.push_back(filler ? 0.0f : scale_of(row));
}

std::string IntegerRows::declare(Function& f, const std::vector<std::byte>& weights) const {
  std::vector<std::byte> bytes;
  append(bytes, bias_);
  append(bytes, scale_);
  const size_t centres = bytes.size();
  const bool centred = std::ranges::any_of(centre_, [](uint32_t c) { return c != 0; });
  if (centred) append(bytes, centre_);
  const size_t at = bytes.size();
  bytes.insert(bytes.end(), weights.begin(), weights.end());
  constexpr int64_t kAlignment = 16;  // a vector's would cost small layers more than it gains
  const auto size = static_cast<int64_t>(bytes.size());
  f.put("const unsigned char* const c = {};",
        f.table(Tensor::of(ElementType::U8, {size}, bytes), kAlignment));
  auto part = [](std::string_view type, size_t offset) {
    return fmt::format("(const {}*)(const void*)(c + {})", type, offset);
  };
  Bounds b;
  if (scaled_) b = bounds_of(f);
  f.put_struct("e", structs::Scales{.scale = scaled_ ? part("float", bias_.size() * 4) : "NULL",
                                    .bias = part("uint32_t", 0),
                                    .centre = centred ? part("uint32_t", centres) : "NULL",
                                    .lo = literal(static_cast<float>(b.low - b.zero)),
                                    .hi = literal(static_cast<float>(b.high - b.zero)),
                                    .zero = b.zero});
  return fmt::format("c + {}", at);
}

}  // namespace mrvlc::chost
