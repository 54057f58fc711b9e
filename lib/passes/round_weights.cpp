#include "mrvlc/passes/round_weights.h"

#include <algorithm>
#include <array>
#include <bit>
#include <cstring>

#include "util.h"

namespace mrvlc::passes {
namespace {

// Weights seen as rows of one output channel: element (o, k) at o * row + k * step.
struct Rows {
  int64_t count = 0, length = 0, row = 0, step = 0;
};

Rows rows_of(const Node& n, const Shape& w) {
  if (n.is("Conv") && !w.empty()) {
    int64_t length = w[0] == 0 ? 0 : element_count(w) / w[0];
    return {w[0], length, length, 1};
  }
  if (w.size() != 2) return {};
  if (n.is("Gemm") && n.int_attr("transB") != 0) return {w[0], w[1], w[1], 1};
  if (n.is("Gemm") || n.is("MatMul")) return {w[1], w[0], 1, w[1]};
  return {};
}

// The nearest half, ties to even, as a float; infinity beyond 65504 and its like. Without branches, and all
// comparisons signed: this is the inner loop over every weight of a model, and compilers turn it into
// vectors.
inline float round_to_half(float x) {
  auto bits = std::bit_cast<uint32_t>(x);
  auto mag = static_cast<int32_t>(bits & 0x7fffffffu);
  int32_t normal = (mag + 0xfff + (mag >> 13 & 1)) & ~0x1fff;
  // Below 2^-14 halves are multiples of 2^-24, which is what a float next to 0.5 is.
  auto small = std::bit_cast<int32_t>(std::bit_cast<float>(mag) + 0.5f - 0.5f);
  int32_t rounded = mag < 0x38800000 ? small : normal;
  rounded = mag >= 0x477ff000 ? 0x7f800000 : rounded;
  return std::bit_cast<float>(static_cast<uint32_t>(rounded) | (bits & 0x80000000u));
}

bool is_finite(float x) {
  return (std::bit_cast<uint32_t>(x) & 0x7f800000u) != 0x7f800000u;
}

// Rows do not depend on each other, elements of a row do: each takes over what the one before lost. So
// several rows go side by side, a piece at a time.
class RowRounder {
 public:
  RowRounder(std::span<float> w, const Rows& rows) : w_(w), rows_(rows) {}

  void run() {
    for (int64_t first = 0; first < rows_.count; first += kLanes) {
      lanes_ = static_cast<size_t>(std::min<int64_t>(kLanes, rows_.count - first));
      carry_.fill(0), live_.fill(1);
      for (int64_t k = 0; k < rows_.length; k += kPiece) {
        auto length = static_cast<size_t>(std::min<int64_t>(kPiece, rows_.length - k));
        int64_t at = first * rows_.row + k * rows_.step;
        move(at, length, [](float& in_memory, float& here) { here = in_memory; });
        round(length);
        move(at, length, [](float& in_memory, float& here) { in_memory = here; });
      }
    }
  }

 private:
  static constexpr int64_t kLanes = 8, kPiece = 64;

  template <class Copy>
  void move(int64_t at, size_t length, Copy copy) {
    for (size_t lane = 0; lane < lanes_; ++lane) {
      float* row = w_.data() + at + static_cast<int64_t>(lane) * rows_.row;
      for (size_t k = 0; k < length; ++k) copy(row[static_cast<int64_t>(k) * rows_.step], piece_[k][lane]);
    }
  }

  // A row ends at the first weight beyond fp16, which the back end reports; zeros stay zeros.
  void round(size_t length) {
    for (size_t k = 0; k < length; ++k) {
      for (size_t lane = 0; lane < kLanes; ++lane) {
        float x = piece_[k][lane], wanted = x + carry_[lane], rounded = round_to_half(wanted);
        int32_t zero = x == 0;
        live_[lane] &= zero | static_cast<int32_t>(is_finite(rounded));
        bool taken = (live_[lane] & (zero ^ 1)) != 0;
        carry_[lane] = taken ? wanted - rounded : carry_[lane];
        piece_[k][lane] = taken ? rounded : x;
      }
    }
  }

  std::span<float> w_;
  Rows rows_;
  size_t lanes_ = 0;
  std::array<float, kLanes> carry_{};
  std::array<int32_t, kLanes> live_{};
  std::array<std::array<float, kLanes>, kPiece> piece_{};  // lanes past the last row hold zeros or old values
};

bool all_half(const Tensor& t) {
  auto bytes = t.bytes();
  for (size_t i = 0; i < bytes.size(); i += sizeof(float)) {
    float x = 0;
    std::memcpy(&x, bytes.data() + i, sizeof x);
    if (round_to_half(x) != x) return false;
  }
  return true;
}

}  // namespace

void round_weights(ir::Graph& graph, const std::function<bool(const ir::Node&)>& chosen) {
  Rewriter rw(graph, "round-weights");
  for (NodeId id : graph.topological_order()) {
    const Node& n = graph.node(id);
    if (n.inputs.size() < 2 || !chosen(n)) continue;
    const Tensor* w = graph.constant(n.inputs[1]);
    if (w == nullptr || w->elem() != ElementType::F32) continue;
    Rows rows = rows_of(n, w->shape());
    if (rows.count == 0 || all_half(*w)) continue;
    // What nobody else reads is rounded where it is.
    Tensor rounded = single_use(graph, n.inputs[1]) ? rw.take(n.inputs[1]) : *w;
    RowRounder(rounded.mutable_data<float>(), rows).run();
    NodeId from[] = {id};
    ValueId now = rw.constant(std::move(rounded), from);
    rw.set_input(id, 1, now);
  }
}

}  // namespace mrvlc::passes
