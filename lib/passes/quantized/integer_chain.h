// What lies between DequantizeLinear and QuantizeLinear that is one product of integers, and what it is made
// of: of integer-products.
#pragma once
#include <cmath>
#include <optional>

#include "util.h"

namespace mrvlc::passes {

// Element k of a constant that has one, or one for each channel.
double number(const Graph& g, ValueId v, int64_t k);

// What becomes one product of integers, as far as it is known.
struct Chain {
  QuantizeStep x, w, y;                     // y: none where the results stay numbers
  NodeId product, adds;                     // adds: the bias, where an Add behind the product does
  double low = -INFINITY, high = INFINITY;  // what Relu and Clip leave of the results
  std::vector<NodeId> bounds;               // these, the last first
  ValueId terms;                            // of the product or the Add: the bias, or none
  int64_t channels = 0;
  bool transposed = false;     // weights of Gemm and MatMul: [K, N]
  std::vector<int32_t> bias;   // in units of the sums; empty: none
  std::vector<float> addend;   // a bias of numbers: added to the scaled sums
  std::vector<NodeId> from;    // what it is made of
  std::vector<NodeId> folded;  // and the DequantizeLinear of its constants

  // The last node before what bounds or quantises.
  NodeId last() const { return adds.valid() ? adds : product; }
};

// Whether a chain ends in this QuantizeLinear.
bool find_chain(const Graph& g, const PassContext& context, const Node& quantize, Chain& c);
// A product of integers whose results are numbers; `c.y` and `c.bias` are none.
bool find_chain_of_numbers(const Graph& g, const PassContext& context, const Node& product, Chain& c);
}  // namespace mrvlc::passes
