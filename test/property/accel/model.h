// The documented arithmetic of the accelerator (docs/arithmetic.md) in plain loops, one layer after the
// other: no blocks, no tiles, no memory. Elements of a value are float16 numbers held in float, where
// nothing wants more.
#pragma once
#include <functional>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "mrvlc/ops/params.h"
#include "mrvlc/partition/region.h"
#include "storage.h"
#include "wide.h"

namespace mrvlc::accel_random {

// To float16 and back.
float narrow(float v);
Tensor narrowed(const Tensor& t);

// What the vector unit looks up: docs/arithmetic.md, "Tables".
std::vector<float> segments(const std::function<double(double)>& f);
float look_up(const std::vector<float>& table, float x);

// A function of one operand, applied in float.
using Unary = std::function<float(float)>;
using Binary = std::function<float(float, float)>;
inline float maximum(float a, float b) {
  return a != a ? a : b != b ? b : a > b ? a : b;
}
inline float minimum(float a, float b) {
  return a != a ? a : b != b ? b : a < b ? a : b;
}
// Functions that come directly out of an epilogue (by instruction or by table); nullopt: `node` is none.
std::optional<Unary> activation_of(const ir::Graph& graph, const ir::Node& node);

enum class Fold { Sum, Squares, Max, Min, Product };
// Reduced along `axes` (rising), in float; `parts`: long dimensions in parts. fma(alpha, v, beta) at the end.
Tensor reduced(Tensor x, std::vector<int64_t> axes, Fold fold, bool parts, float alpha = 1, float beta = 0);

// What is applied to the sums of a convolution or matrix product before the one rounding, and what is left.
struct Tail {
  std::vector<float> scale, shift;  // per channel; empty: 1 and 0
  std::vector<float> of_weights;    // the scale with what the operand is kept without; empty: 1
  int after = 0;                    // or the sums are multiplied by 2 to that
  ir::ValueId residual;             // invalid: none
  Unary activation;                 // empty: none
  size_t taken = 1;                 // nodes of the layer, the anchor included
  ir::ValueId value;                // the result of the last of them
};
class Model {
 public:
  Model(const ir::Graph& graph, const partition::Region& region)
      : graph_(graph),
        region_(region),
        storage_(graph, region),
        wide_(wide_values(graph, region)),
        asked_(asked_values(graph, region)) {
    for (ir::ValueId v : asked_) wide_.erase(v);
  }

  void set(ir::ValueId v, const Tensor& t) { store(v, t); }
  const Tensor& get(ir::ValueId v);  // constants are rounded to float16
  // Constant operands of the vector unit stay float32 when float16 does not fit, or the layer is asked for
  // more.
  const Tensor& operand(ir::ValueId v, const partition::Layer& layer);
  // Computes the results of a layer whose operands are set. Errors: the layer's arithmetic is not documented.
  Status run(const partition::Layer& layer);

 private:
  friend class Chain;
  Status conv(const partition::Layer& layer);
  Status product(const partition::Layer& layer);
  Status product_order(ir::ValueId value, std::vector<int64_t>& order) const;
  Status pool(const partition::Layer& layer);
  Status global_pool(const ir::Node& node, const ops::PoolParams& p);
  Status reduce(const partition::Layer& layer);
  Status softmax(const partition::Layer& layer);
  Status log_sum_exp(const ir::Node& node);
  Status norm(const partition::Layer& layer);
  Status normalise(const ir::Node& node, const std::vector<int64_t>& axes, size_t parameters_from);
  Status batch_norm(const ir::Node& node);
  Status resize(const partition::Layer& layer);
  Status concat(const partition::Layer& layer);
  Status move(const partition::Layer& layer);
  Status reshape(const partition::Layer& layer);
  // Nodes layer.nodes[from..], the first of which reads `value`, in float; the last result is rounded.
  Status chain(const partition::Layer& layer, size_t from, ir::ValueId value);

  const Shape& shape(ir::ValueId v) const { return graph_.value(v).type.shape; }
  void store(ir::ValueId v, const Tensor& t) {
    values_[v] = wide_.contains(v) || asked_.contains(v) ? t : narrowed(t);
  }
  partition::Precision precision(ir::ValueId v) const {
    auto p = region_.precisions.find(v);
    return p == region_.precisions.end() ? partition::Precision{} : p->second;
  }
  bool is_pair(ir::ValueId v) const { return precision(v).kind == partition::Precision::Kind::Pair; }
  // Halves of an operand of a product.
  Tensor high(ir::ValueId v);
  Tensor low(ir::ValueId v);
  // Of the left operand, in the order in which a product sums them up for each element of the right one; that
  // one's half is its low one at times.
  struct Term {
    Tensor halves;
    bool right_low = false;
  };
  std::vector<Term> left_terms(ir::ValueId left, ir::ValueId right);
  // Where operands are kept times powers of two; `p` are the weights without the tail's factors.
  void take_power(const partition::Layer& layer, size_t channel, const Tensor* p,
                  const std::function<int64_t(int64_t)>& channel_of, Tail& tail);
  // What an operand of a product is before it is taken apart.
  Tensor unrounded(ir::ValueId v);

  const ir::Graph& graph_;
  const partition::Region& region_;
  Storage storage_;
  std::set<ir::ValueId> wide_, asked_;  // no value is in both
  std::map<ir::ValueId, Tensor> values_, operands_;
};

// Weights as they are stored: scaled in float, then rounded to float16, each taking over what the one before
// it in its output channel lost.
class WeightRounding {
 public:
  explicit WeightRounding(bool carries) : carries_(carries) {}
  float operator()(float scaled, int64_t channel);

 private:
  bool carries_;
  std::map<int64_t, float> lost_;
};

// `constants_only`: as far as weights and bias take it. Operators with a wide value are left, and so are
// residuals in `asked`.
Tail tail_of(const ir::Graph& graph, const partition::Layer& layer, size_t channel, bool constant_weights,
             bool residual_allowed, bool constants_only = false, const std::set<ir::ValueId>& wide = {},
             const std::set<ir::ValueId>& asked = {});

// Index arithmetic on dense tensors.
Tensor zeros(Shape shape);
// Calls f(index, flat position) for every element in row-major order.
template <class F>
void each_index(const Shape& dims, F f) {
  Shape index(dims.size(), 0);
  for (int64_t i = 0, n = element_count(dims); i < n; ++i) {
    f(index, i);
    for (size_t d = dims.size(); d-- > 0 && ++index[d] == dims[d];) index[d] = 0;
  }
}
int64_t position(const Shape& index, const Shape& strides);

}  // namespace mrvlc::accel_random
