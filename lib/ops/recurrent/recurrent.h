// What RNN, GRU and LSTM (ONNX -22) share: sizes, layouts, directions, activations, the loops over
// directions, sequences and steps. An operator adds its cell: one step of one sequence.
#pragma once
#include <algorithm>
#include <functional>

#include "common/infer_util.h"

namespace mrvlc::ops {

// An activation of the recurrent operators with its parameters.
struct Activation {
  std::string name;  // lower case
  double alpha = 0, beta = 0;

  double apply(double x) const;
  // C expression of type `elem` of the variable `x`.
  std::string text(EmitContext& context, std::string_view x, ElementType elem) const;
};

// The attributes activations, activation_alpha and activation_beta: as many as `defaults` a direction.
Result<std::vector<Activation>> recurrent_activations(const InferContext& context,
                                                      const std::vector<std::string_view>& defaults,
                                                      int64_t directions);

struct RecurrentForm {
  int64_t gates = 1;
  std::vector<std::string_view> activations;  // the default ones
};

struct RecurrentParams {
  enum Input : size_t { kX, kW, kR, kB, kLengths, kInitialH, kInitialC, kPeepholes };
  enum Output : size_t { kY, kLastH, kLastC };

  int64_t steps = 0, batch = 0, input = 0, hidden = 0, directions = 1, gates = 1;
  bool batch_first = false, reverse = false;  // `reverse`: the first direction runs backwards
  double clip = 0;                            // 0: none
  std::vector<Activation> activations;        // of all directions, one after the other

  bool backwards(int64_t d) const { return reverse || d == 1; }
  const Activation& activation(int64_t d, size_t i) const {
    return activations[activations.size() / static_cast<size_t>(directions) * static_cast<size_t>(d) + i];
  }
  // What an activation is applied to.
  double clipped(double x) const { return clip > 0 ? std::min(std::max(x, -clip), clip) : x; }
  // Row of X of a step; row of Y of a step and direction; row of the states.
  int64_t x_row(int64_t t, int64_t b) const { return batch_first ? b * steps + t : t * batch + b; }
  int64_t y_row(int64_t t, int64_t d, int64_t b) const {
    return batch_first ? (b * steps + t) * directions + d : (t * directions + d) * batch + b;
  }
  int64_t state_row(int64_t d, int64_t b) const { return batch_first ? b * directions + d : d * batch + b; }
  Shape state_shape() const {
    return batch_first ? Shape{batch, directions, hidden} : Shape{directions, batch, hidden};
  }
};
Result<RecurrentParams> recurrent_params(const InferContext& context, const RecurrentForm& form);
// MRV0205 unless input i, if given, has the shape; MRV0202 unless it has the type of X.
Status check_recurrent_input(const InferContext& context, size_t i, const Shape& expected);
// Y and as many states as there are outputs.
std::vector<TensorType> recurrent_types(const InferContext& context, const RecurrentParams& p);

// -- reference

// One direction: its weights, and the state of one sequence.
struct RecurrentState {
  std::vector<double> w, r, b, peepholes, h, c, gates, x;
  // gates[first..first+count) = both biases + W x + R h, rows of the weights likewise.
  void sum_gates(const RecurrentParams& p, int64_t first, int64_t count, const std::vector<double>& with_h);
};
using RecurrentCell = std::function<void(int64_t direction, RecurrentState& state)>;
Status run_recurrent(const EvalContext& context, const RecurrentParams& p, const RecurrentCell& cell);

// -- C: variables x, h, c (states, in scratch memory), g (gates, `pitch` apart), q (one more row), y, d
// (direction). Where shapes are known and the weights of floats are constants, they are packed for
// kernels/recurrent.c: the input's part is made for kBlock steps at once (v), as one product.

class RecurrentCode {
 public:
  RecurrentCode(EmitContext& context, const RecurrentParams& p);
  EmitContext& c;
  const RecurrentParams& p;
  ElementType elem;
  std::string t, f;                 // C type; suffix of literals and <math.h> names
  std::string steps, batch, width;  // C text: numbers, or constants of sizes known at run time; width: of x
  bool lengths_fit = false;         // they are checked before
  bool packed = false;
  int64_t pitch = 0;         // from gate to gate in g
  bool scales_last = false;  // sum_scaled_gate makes the last gate, so its recurrent bias is no part of v

  // The loops around `cell`, which emits one step and leaves the new state in h (and c).
  void emit(const std::function<void()>& cell);
  // Gates [first, first + count) = biases + W x + R `with_h`.
  void sum_gates(int64_t first, int64_t count, std::string_view with_h);
  // Gate `gate` = W x + bias + gate `factor` * (R h + recurrent bias), element by element.
  void sum_scaled_gate(int64_t gate, int64_t factor);
  // TARGET = activation i, of the direction `d`, of the expression, which is clipped first.
  void activate(const std::string& target, const std::string& expression, size_t i, bool clips = true);

 private:
  static constexpr int64_t kBlock = 32;
  // The parts of a gate k: declares `name`.
  void declare_input_part(std::string_view name, bool recurrent_bias);
  void declare_product(std::string_view name, std::string_view weights, size_t input, std::string_view vector,
                       const std::string& length);
  // What kernel reads the weights; what they are, packed.
  std::string kernel(size_t input);
  std::string packed_weights(size_t input, int64_t first, int64_t count) const;
  // Of plain loops: declares row k of the weights, `length` long.
  void declare_row(std::string_view name, size_t input, const std::string& length);
  std::string packed_bias() const;
  std::string recurrent_bias(int64_t gate) const;
  void declare_memory();
  void emit_input_part(std::string_view length);
  void declare_sizes();
  void require_shape(size_t input, const std::vector<std::string>& dims);
  void emit_state(std::string_view name, size_t initial);
  void emit_steps(const std::function<void()>& cell);
};

std::vector<ir::AttrSpec> recurrent_attrs();
// Opset 1 said whether Y is wanted; its absence among the outputs says the same.
Status upgrade_recurrent(RawNode& node);

}  // namespace mrvlc::ops
