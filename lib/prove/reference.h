// The reference program: the layers of a region on symbols, with the roundings of docs/arithmetic.md.
#pragma once
#include <functional>
#include <set>

#include "constants.h"
#include "functions.h"
#include "products.h"
#include "program.h"

namespace mrvlc::prove {

// Elements in the order of ONNX.
struct Symbols {
  Shape shape;
  std::vector<Val> v;
};

// Sums by two hashes of all that they are made of.
using SumsMemo = std::map<std::pair<uint64_t, uint64_t>, std::vector<uint64_t>>;

class Reference {
 public:
  Reference(Values& values, Constants& constants, const RegionHints& region);
  // Instead of the layers of a region: what a value is that is read and has no reference. Claim B begins
  // there.
  void set(const std::string& name, Symbols s) { env_.insert_or_assign(name, std::move(s)); }
  // Of claim B: node by node, without rounding. Throws NotProved.
  void evaluate_exactly(const Node& n);
  void share(SumsMemo* memo) { memo_ = memo; }
  // Evaluates layer by layer; a layer that cannot be is noted.
  void run();
  const Symbols* find(const std::string& name) const;
  // By layer: why it has no reference; empty: it has one.
  const std::vector<std::string>& reasons() const { return reasons_; }
  const std::map<std::string, Symbols>& values() const { return env_; }
  Symbols fresh_input(const ProgramPort& port, size_t index) const;

 private:
  struct Epilogue {
    std::vector<float> scale, shift;  // of each channel; empty: 1 and 0
    size_t taken = 0;                 // nodes of the layer that are in it
    std::string residual;
    const Node* activation = nullptr;
  };
  void evaluate(const Layer& l);
  const Symbols& get(const std::string& name);
  Symbols constant(const std::string& name);
  Symbols operand(
      const std::string& name);  // an activation, or a constant as an element-wise layer stores it
  bool is_wide(const std::string& name) const;
  bool is_asked(const std::string& name) const;
  void put(const ValueInfo& info, Symbols s);  // rounded as it is stored

  void conv(const Layer& l);
  void transposed(const Layer& l);
  void product(const Layer& l);
  void product_of_activations(const Layer& l);
  void integer_conv(const Layer& l);
  Epilogue fold(const Layer& l, std::span<const float> p, std::span<const uint32_t> channel_of,
                uint32_t channels, bool allow_residual);
  std::optional<std::pair<std::vector<float>, std::vector<float>>> affine(const Node& n,
                                                                          const std::string& current,
                                                                          uint32_t channels,
                                                                          size_t channel_dim);
  // acc + bias, residual, activation, rounding; then the rest of the layer.
  void finish_product(const Layer& l, const Epilogue& e, Symbols sums, const std::vector<float>& bias,
                      size_t channel_dim);
  std::vector<int64_t> storage_order(const std::string& name, int64_t k) const;

  void elementwise(const Layer& l, size_t from);
  Symbols apply(const Node& n, const std::map<std::string, Symbols>& local, bool exact);
  Val unary(const Node& n, Val x, bool stored_half, bool large);
  Val activation(const Node& n, Val x);
  Symbols binary(const Node& n, const std::map<std::string, Symbols>& local, bool exact);
  Val exponential(Val x);
  Val table(const std::string& name, const std::function<double(double)>& f, Val x, bool steps = false);

  void pool(const Layer& l);
  void reduce(const Layer& l);
  // Divided by `over`: multiplied by fp32(1 / over).
  Symbols reduced(const Symbols& x, std::vector<int64_t> axes, const std::string& op, int64_t over,
                  float beta, bool parts);
  void exact_product(const Node& n);
  void exact_conv(const Node& n);
  std::vector<Val> exact_bias(const Node& n, size_t input);
  Symbols dequantized(const Node& n);
  void softmax(const Layer& l);
  void norm(const Layer& l);
  void move(const Layer& l);
  Symbols moved(const Node& n);
  template <class From>
  Symbols gathered(const Symbols& x, const Shape& y, From from) const;
  Symbols sliced(const Node& n, const Symbols& x);
  Symbols padded(const Node& n, const Symbols& x);
  Symbols blocks_moved(const Node& n, const Symbols& x) const;
  Symbols power(const Node& n, Symbols s);
  Symbols pooled(const Node& n, const Symbols& x, const Window& w, bool by_size);
  // One step of reduced(): rows along `over`, of `part` elements at most.
  Symbols combined(const Symbols& s, const std::vector<int64_t>& over, int64_t part, const std::string& step);
  Val combine(const std::string& step, Val v, Val e);
  void finish(const Layer& l, const Node& n, Symbols s);  // of a layer whose first node made s
  Quantum quantum(const Node& n, size_t scale, size_t zero);

  Values& v_;
  Constants& c_;
  const RegionHints& region_;
  std::map<std::string, Symbols> env_;
  std::map<std::string, Symbols> constant_symbols_;
  std::vector<std::string> reasons_;
  std::set<std::string> channels_last_;
  std::map<std::string, const Node*> producer_;
  std::map<const Node*, uint32_t> table_ids_;
  std::map<std::string, uint32_t> named_tables_;
  SumsMemo* memo_ = nullptr;
  Val pad_ = 0;  // what a Pad fills with
};

std::vector<int64_t> strides_of(const Shape& shape);
// Offsets into a tensor of `shape` for each element of `target`, broadcast.
std::vector<size_t> broadcast_offsets(const Shape& shape, const Shape& target);
std::set<std::string> channels_last_values(const RegionHints& region);

}  // namespace mrvlc::prove
