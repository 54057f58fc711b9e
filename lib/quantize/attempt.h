// A network of integers, and what was decided for it.
#pragma once
#include <algorithm>
#include <map>

#include "choose_ranges.h"
#include "insert.h"
#include "judge.h"
#include "layers_in_order.h"

namespace mrvlc::quantize {

struct Attempt {
  Graph graph, floats;         // floats: the same, equalised, before it became integers
  std::vector<bool> is_float;  // by node of `floats`: it is none of the plan, whatever it is
  Plan plan;
  std::vector<ChosenRange> ranges;     // by group
  std::vector<RoundedLayer> layers;    // of the plan
  std::map<NodeId, NodeId> became;     // layers of the model that are other nodes here
  std::map<NodeId, double> equalised;  // layers here
  Judgement judgement;

  std::vector<Affine> affines() const {
    std::vector<Affine> out;
    for (const ChosenRange& r : ranges) out.push_back(r.affine);
    return out;
  }
  // Whether the layer is one of integers.
  bool has(NodeId layer) const {
    return std::ranges::find(plan.layers, layer, &Layer::node) != plan.layers.end();
  }
};

// QuantizeLinear and DequantizeLinear into `graph`, which is as `floats`, by plan, ranges and layers.
inline void insert(Attempt& a, const Options& options) {
  const std::vector<Affine> affines = a.affines();
  insert_activations(a.graph, a.plan, affines);
  for (size_t i = 0; i < a.plan.layers.size(); ++i) {
    const Affine& data = affines[a.plan.group_of[a.plan.layers[i].data.index()]];
    insert_weights(a.graph, a.plan.layers[i], a.layers[i].weights, options.weights, data);
  }
}

}  // namespace mrvlc::quantize
