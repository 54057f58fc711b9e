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

struct ConvShape;

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
  // Layer by layer, in order. Why the layer has no reference; empty: it has one.
  std::string run(size_t layer);
  const Symbols* find(const std::string& name) const;
  // What an activation is stored as.
  ElementType stored_type(const ValueInfo& v) const;
  const std::map<std::string, Symbols>& values() const { return env_; }
  Symbols fresh_input(const ProgramPort& port, size_t index) const;

 private:
  struct Term {
    bool left = false, right = false;  // low halves
  };
  // Weights of a product before factors and rounding, and the output channel of each; of activations none.
  struct Factors {
    std::vector<float> p;
    std::vector<uint32_t> channel_of;
    uint32_t channels = 0;
  };
  struct Powers {
    std::vector<float> of_weights;  // scale of each channel with the shift of the operand
    int32_t after = 0;              // or the sums are multiplied by 2^after
  };
  struct Tap {
    int64_t low = 0, high = 0;
    float weight = 0;  // of high
  };
  struct Epilogue {
    std::vector<float> scale, shift;  // of each channel; empty: 1 and 0
    Powers powers;
    size_t taken = 0;  // nodes of the layer that are in it
    std::string residual;
    const Node* activation = nullptr;
  };
  void evaluate(const Layer& l);
  const Symbols& get(const std::string& name);
  const Symbols& constant(const std::string& name);
  // Weights are read once: they are not kept.
  Symbols weights(const std::string& name);
  Symbols operand(
      const std::string& name);  // an activation, or a constant as an element-wise layer stores it
  // Stored as fp32: wide, or asked for.
  bool is_wide(const std::string& name) const { return wide_.contains(name) || asked_.contains(name); }
  bool is_asked(const std::string& name) const { return asked_.contains(name); }
  void note_asked();
  Precision precision(const std::string& name) const;
  std::vector<Term> terms(const std::string& left, const std::string& right) const;
  Val half_of(Val v, int32_t shift, bool low);
  Symbols halves(const std::string& name, const Symbols& x, size_t d, int64_t groups,
                 const std::vector<bool>& low);
  Symbols left_halves(const std::string& name, const Symbols& x, size_t d, int64_t groups,
                      const std::vector<Term>& terms);
  Symbols right_halves(const std::string& name, const Symbols& w, const std::vector<Term>& terms);
  static std::vector<float> remainders(std::span<const float> p, std::span<const float> high);
  static Powers powers(int32_t shift, const Factors& f, const std::vector<float>& scale);
  void put(const ValueInfo& info, Symbols s);  // rounded as it is stored

  void conv(const Layer& l);
  void product(const Layer& l);
  void product_of_activations(const Layer& l);
  void integer_conv(const Layer& l);
  void quantized_conv(const Layer& l);
  void scaled_conv(const Layer& l);
  std::vector<uint64_t> integer_sums(const Node& n, size_t weights, size_t zero_x, size_t zero_w);
  // Functions of one value of integers: a table of 256.
  bool code_table(const Layer& l);
  std::optional<double> value_of(const Node& n, double x);
  void resize(const Layer& l);
  Symbols resized(const Node& n);
  Symbols along(const Symbols& x, size_t d, const std::vector<Tap>& taps);
  Symbols with_bias_matrix(const Layer& l, Symbols y);
  Factors factors(const Layer& l);
  Epilogue steps(const Layer& l, const Factors& f);  // step 1 of the epilogue alone
  size_t folded(const Layer& l);
  bool has_bias_matrix(const Layer& l);
  Epilogue fold(const Layer& l, const Factors& f, bool allow_residual, int32_t shift);
  void take_rest(const Layer& l, bool allow_residual, Epilogue& e);
  // Weights of each term, in their own order.
  std::vector<std::vector<float>> stored_weights(const Factors& f, bool carry, const Epilogue& e,
                                                 const std::vector<Term>& terms) const;
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
  // What an operator makes of each value, so that it is looked at once.
  using Function = std::function<Val(Val)>;
  Function unary(const Node& n, bool stored_half, bool large);
  bool widens(const Node& n) const;
  Function activation(const Node& n);
  Symbols binary(const Node& n, const std::map<std::string, Symbols>& local, bool exact);
  using Binary = Val (Values::*)(Val, Val);
  static Binary operation(const Node& n);
  Function exponential();
  Function logarithm(bool large);
  Function hyperbolic(bool sine);
  Function table(const std::string& name, const std::function<double(double)>& f, bool steps = false);

  void pool(const Layer& l);
  void reduce(const Layer& l);
  // Divided by `over`: multiplied by fp32(1 / over).
  Symbols reduced(const Symbols& x, std::vector<int64_t> axes, const std::string& op, int64_t over,
                  float beta, bool parts);
  void exact_product(const Node& n);
  void exact_conv(const Node& n);
  void exact_integer_conv(const Node& n);
  std::vector<Val> exact_bias(const Node& n, size_t input);
  Symbols dequantized(const Node& n);
  void dequantize(const Layer& l);
  std::vector<int64_t> axes_of(const Node& n, size_t rank);
  void softmax(const Layer& l);
  void log_sum_exp(const Layer& l);
  void norm(const Layer& l);
  std::vector<std::pair<Val, Val>> batch_norm(const Node& n);
  void move(const Layer& l);
  void where(const Node& n);
  const Node* softmax_alone(const std::string& name) const;
  void mask_scores(const ValueInfo& info, std::vector<bool> chosen, Symbols& s);
  void keep_codes(const Node& n);
  Symbols moved(const Node& n);
  template <class From>
  Symbols gathered(const Symbols& x, const Shape& y, From from) const;
  Symbols sliced(const Node& n, const Symbols& x);
  Symbols picked(const Node& n, const Symbols& x);
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
  std::set<std::string> channels_last_, asked_, wide_, last_;
  std::map<std::string, const Node*> producer_;
  std::map<std::string, std::pair<Type, Quantum>> codes_;  // numbers that are stored as integers
  std::map<std::string, uint32_t> named_tables_;
  SumsMemo* memo_ = nullptr;
  Val pad_ = 0;  // what a Pad fills with
};

std::vector<int64_t> strides_of(const Shape& shape);
// Offsets into a tensor of `shape` for each element of `target`, broadcast.
std::vector<size_t> broadcast_offsets(const Shape& shape, const Shape& target);
std::set<std::string> channels_last_values(const RegionHints& region);

}  // namespace mrvlc::prove
