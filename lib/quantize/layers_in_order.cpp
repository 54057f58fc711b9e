// Both networks in step: sums over patches of a layer's input, its weights rounded by them, values let go.
#include "layers_in_order.h"

#include <algorithm>
#include <cmath>
#include <map>

#include "mrvlc/support/parallel.h"
#include "mrvlc/support/saturating.h"

namespace mrvlc::quantize {
namespace {

// Values of all samples that are held together, of both networks.
constexpr int64_t kMaxBytes = int64_t{2} << 30;
// Positions of a sample that are looked at, and patches over all samples that are enough for their sums.
constexpr int64_t kPositions = 256;
constexpr int64_t kEnough = 16;  // times the weights of a channel
constexpr int64_t kLeastPatches = 8192;
constexpr int64_t kShareOfLayer = 64;  // of the budget, what the sums of one layer may take

// The two networks on one sample, as far as they were computed.
struct State {
  std::map<ValueId, Tensor> floats, integers;
};

class Walk {
 public:
  Walk(const Graph& graph, const Plan& plan, const std::vector<Affine>& affines,
       const std::vector<Sample>& samples, const Options& options, InFront in_front)
      : g_(graph),
        plan_(plan),
        affines_(affines),
        o_(options),
        in_front_(in_front),
        order_(graph.topological_order()) {
    for (ValueId v : g_.outputs()) ++uses_[v];
    for (NodeId id : order_)
      for (ValueId v : g_.node(id).inputs)
        if (v.valid()) ++uses_[v];
    const int64_t fit = std::max<int64_t>(1, kMaxBytes / std::max<int64_t>(1, 2 * most_alive()));
    const size_t n = std::min(static_cast<size_t>(fit), samples.size());
    for (size_t i = 0; i < n; ++i) begin(samples[i * samples.size() / n]);
  }

  Result<std::vector<RoundedLayer>> run() {
    for (NodeId id : order_) {
      const auto at = std::ranges::find(plan_.layers, id, &Layer::node);
      if (at != plan_.layers.end()) round_layer(static_cast<size_t>(at - plan_.layers.begin()));
      MRVLC_TRY(for_each_index(states_.size(), o_.jobs, [&](size_t s) { return evaluate(id, states_[s]); }));
      release(g_.node(id));
    }
    return std::move(out_);
  }

 private:
  void begin(const Sample& sample) {
    State state;
    for (size_t i = 0; i < sample.size(); ++i) {
      state.floats[g_.inputs()[i]] = sample[i];
      state.integers[g_.inputs()[i]] = stored(g_.inputs()[i], sample[i]);
    }
    states_.push_back(std::move(state));
  }

  // Bytes of the values that are there at once.
  int64_t most_alive() const {
    std::map<ValueId, int64_t> left = uses_;
    int64_t alive = 0, most = 0;
    const auto add = [&](ValueId v, int64_t sign) { alive += sign * g_.value(v).type.bytes(); };
    for (ValueId v : g_.inputs()) add(v, 1);
    for (NodeId id : order_) {
      for (ValueId v : g_.node(id).outputs)
        if (v.valid()) add(v, 1);
      most = std::max(most, alive);
      for (ValueId v : g_.node(id).inputs)
        if (v.valid() && !g_.is_constant(v) && --left[v] == 0) add(v, -1);
    }
    return most;
  }

  Tensor stored(ValueId v, Tensor t) const {
    if (plan_.is_integer(v)) round_to(affines_[plan_.group_of[v.index()]], t);
    return t;
  }

  void release(const Node& n) {
    for (ValueId v : n.inputs) {
      if (!v.valid() || g_.is_constant(v) || --uses_[v] != 0) continue;
      for (State& s : states_) {
        s.floats.erase(v);
        s.integers.erase(v);
      }
    }
  }

  Status evaluate(NodeId id, State& state) const {
    MRVLC_TRY(evaluate(id, state.floats, false));
    if (in_front_ == InFront::Integers) return evaluate(id, state.integers, true);
    for (ValueId v : g_.node(id).outputs)
      if (v.valid()) state.integers[v] = stored(v, state.floats.at(v));
    return {};
  }

  Status evaluate(NodeId id, std::map<ValueId, Tensor>& values, bool integers) const {
    const Node& n = g_.node(id);
    std::vector<const Tensor*> inputs;
    for (ValueId v : n.inputs) {
      const auto replaced = replaced_.find({id, v});
      if (!v.valid()) {
        inputs.push_back(nullptr);
      } else if (integers && replaced != replaced_.end()) {
        inputs.push_back(&replaced->second);
      } else {
        inputs.push_back(g_.is_constant(v) ? g_.constant(v) : &values.at(v));
      }
    }
    auto results = interp::evaluate(g_, n, inputs);
    if (!results.ok()) return at_node(std::move(results).error(), n.name, n.op->name);
    for (size_t i = 0; i < n.outputs.size() && i < results->size(); ++i)
      if (const ValueId v = n.outputs[i]; v.valid())
        values[v] = integers ? stored(v, std::move((*results)[i])) : std::move((*results)[i]);
    return {};
  }

  void round_layer(size_t i) {
    if (o_.progress) o_.progress("weights", i + 1, plan_.layers.size());
    const Node& n = g_.node(plan_.layers[i].node);
    const ProductShape shape = product_shape(g_, n);
    const Matrix weights = weight_matrix(*g_.constant(n.inputs[1]), shape);
    const Moments m = moments_of(plan_.layers[i], shape);
    const Moments* known = m.patches > 0 ? &m : nullptr;
    const bool has_bias = n.inputs.size() > 2 && n.inputs[2].valid();
    Rounding rounding{o_.weights, o_.learn_rounding, has_bias && o_.correct_bias};
    if (has_bias) rounding.least_scales = least_scales(plan_.layers[i].data, *g_.constant(n.inputs[2]));
    RoundedLayer layer{round_weights(weights, shape, known, rounding), false};
    layer.learned = o_.learn_rounding && known != nullptr && m.has_products;
    replaced_[{n.id, n.inputs[1]}] =
        weight_tensor(real_weights(layer.weights), shape, g_.constant(n.inputs[1])->shape());
    if (has_bias) {
      Tensor bias = *g_.constant(n.inputs[2]);
      for (int64_t c = 0; c < shape.channels(); ++c)
        bias.set_double(c, bias.as_double(c) + layer.weights.bias[c]);
      replaced_[{n.id, n.inputs[2]}] = std::move(bias);
    }
    out_.push_back(std::move(layer));
  }

  // Sums have 32 bits; half of them are left to the products.
  std::vector<double> least_scales(ValueId data, const Tensor& bias) const {
    constexpr double kMostBias = 0x1p29;
    const auto unit = static_cast<double>(affines_[plan_.group_of[data.index()]].scale);
    std::vector<double> out = bias.to_doubles();
    for (double& b : out) b = std::fabs(b) / (unit * kMostBias);
    return out;
  }

  Moments moments_of(const Layer& layer, const ProductShape& s) const {
    Moments m;
    if (!o_.learn_rounding && !o_.correct_bias) return m;
    // x xT and y xT of each group for each patch.
    const int64_t each = saturating_mul(saturating_mul(s.depth, s.depth), 2 * s.groups);
    const int64_t work = o_.budget / kShareOfLayer, samples = static_cast<int64_t>(states_.size());
    m.has_products = o_.learn_rounding && saturating_mul(each, s.depth) <= work;
    const int64_t wanted = std::max<int64_t>(kEnough * s.depth, kLeastPatches);
    const int64_t patches = m.has_products ? std::min(wanted, work / std::max<int64_t>(each, 1)) : wanted;
    const Patches of(g_, g_.node(layer.node),
                     std::clamp<int64_t>((patches + samples - 1) / samples, 1, kPositions));
    if (!of.known()) return m;
    m.patches = of.of_sample() * samples;
    m.groups.resize(static_cast<size_t>(s.groups));
    for (int64_t g = 0; g < s.groups; ++g) add_group(layer, s, of, g, m);
    return m;
  }

  void add_group(const Layer& layer, const ProductShape& s, const Patches& patches, int64_t g,
                 Moments& m) const {
    GroupMoments& out = m.groups[static_cast<size_t>(g)];
    out.x = out.y = Eigen::VectorXd::Zero(s.depth);
    if (m.has_products) out.xx = out.yx = Matrix::Zero(s.depth, s.depth);
    for (size_t i = 0; i < states_.size(); ++i) {
      const Matrix x = patches.take(states_[i].integers.at(layer.data), static_cast<int64_t>(i), g);
      const Matrix y = patches.take(states_[i].floats.at(layer.data), static_cast<int64_t>(i), g);
      out.x += x.colwise().sum().transpose();
      out.y += y.colwise().sum().transpose();
      if (!m.has_products) continue;
      out.xx.noalias() += x.transpose() * x;
      out.yx.noalias() += y.transpose() * x;
    }
  }

  const Graph& g_;
  const Plan& plan_;
  const std::vector<Affine>& affines_;
  const Options& o_;
  const InFront in_front_;
  const std::vector<NodeId> order_;
  std::map<ValueId, int64_t> uses_;  // that are still to come
  std::vector<State> states_;        // by sample
  std::map<std::pair<NodeId, ValueId>, Tensor>
      replaced_;  // what layers of integers read in place of constants
  std::vector<RoundedLayer> out_;
};

}  // namespace

Result<std::vector<RoundedLayer>> round_layers(const Graph& graph, const Plan& plan,
                                               const std::vector<Affine>& affines,
                                               const std::vector<Sample>& samples, const Options& options,
                                               InFront in_front) {
  return Walk(graph, plan, affines, samples, options, in_front).run();
}

}  // namespace mrvlc::quantize
