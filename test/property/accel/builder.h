// Random layers on random values. A grower adds one layer that reads a value, or says that it cannot.
#pragma once
#include <string>
#include <vector>

#include "../../e2e/accel/harness.h"
#include "../dice.h"

namespace mrvlc::accel_random {

using random::Dice;
using Ints = std::vector<int64_t>;
using accel_test::AttrList;

class Builder {
 public:
  // `budget`: about how many multiplications and elements the case may have.
  Builder(uint64_t seed, int64_t budget) : dice(seed), net(static_cast<uint32_t>(seed)), left_(budget) {}

  const Shape& shape(ir::ValueId v) const { return net.graph.value(v).type.shape; }
  int64_t dim(ir::ValueId v, size_t d) const { return shape(v)[d]; }
  int64_t rank(ir::ValueId v) const { return static_cast<int64_t>(shape(v).size()); }
  int64_t elements(ir::ValueId v) const { return net.graph.value(v).type.elements(); }
  ir::ValueId add(const std::string& op, std::vector<ir::ValueId> inputs, AttrList attrs = {},
                  size_t outputs = 1);
  std::vector<ir::ValueId> outputs_of(ir::ValueId v) const {
    return net.graph.node(net.graph.value(v).producer).outputs;
  }
  ir::ValueId constant(Shape s, double low, double high) { return net.constant(std::move(s), low, high); }
  ir::ValueId scalar(double v) { return net.values({}, {v}); }
  ir::ValueId ints(const Ints& v);
  // Whether `work` more is within the budget; takes it if so.
  bool spend(int64_t work);
  int64_t left() const { return left_; }

  Dice dice;
  accel_test::Net net;

 private:
  int64_t left_;
};

// Window layers on an image [n, c, h, w] or a signal [n, c, l].
ir::ValueId conv(Builder& b, ir::ValueId x);
ir::ValueId conv_to(Builder& b, ir::ValueId x, int64_t channels, int64_t kernel, int64_t stride,
                    int64_t group = 1);
ir::ValueId depthwise(Builder& b, ir::ValueId x);
ir::ValueId conv_transpose(Builder& b, ir::ValueId x);
ir::ValueId pool(Builder& b, ir::ValueId x);
ir::ValueId global_pool(Builder& b, ir::ValueId x);
ir::ValueId resize(Builder& b, ir::ValueId x);
ir::ValueId depth_space(Builder& b, ir::ValueId x);
// Of any rank.
ir::ValueId fully_connected(Builder& b, ir::ValueId x);
ir::ValueId matrix_product(Builder& b, ir::ValueId x);
ir::ValueId unary(Builder& b, ir::ValueId x);
ir::ValueId binary(Builder& b, ir::ValueId x);
ir::ValueId reduce(Builder& b, ir::ValueId x);
ir::ValueId softmax(Builder& b, ir::ValueId x);
ir::ValueId norm(Builder& b, ir::ValueId x);
ir::ValueId concat(Builder& b, ir::ValueId x);
ir::ValueId slice(Builder& b, ir::ValueId x);
ir::ValueId split(Builder& b, ir::ValueId x);
ir::ValueId pad(Builder& b, ir::ValueId x);
ir::ValueId transpose(Builder& b, ir::ValueId x);
ir::ValueId repeat(Builder& b, ir::ValueId x);
ir::ValueId change_shape(Builder& b, ir::ValueId x);
// Functions of one operand.
ir::ValueId activation(Builder& b, ir::ValueId x);
// Up to four element-wise operators as they follow a convolution or product: constants of each channel (along
// `channel`), one other activation, functions.
ir::ValueId epilogue(Builder& b, ir::ValueId x, size_t channel);

struct Grower {
  const char* name;
  ir::ValueId (*grow)(Builder&, ir::ValueId);
  int weight;       // how often
  int64_t rank[2];  // of the operand, from and to
};
const std::vector<Grower>& growers();

// A new input of the network.
ir::ValueId random_input(Builder& b, int64_t rank);
// One layer, sometimes with an epilogue; the result is the output.
void single_layer(Builder& b);
// 2 to 15 layers; several outputs at times.
void network(Builder& b);

}  // namespace mrvlc::accel_random
