// Streams of values whose channels share a factor; factors from ranges and weights; weights scaled by them.
#include "equalise.h"

#include <algorithm>
#include <cmath>
#include <set>

#include "disjoint_sets.h"
#include "mrvlc/ir/rewriter.h"
#include "mrvlc/ops/attributes.h"
#include "mrvlc/ops/op_kind.h"

namespace mrvlc::quantize {
namespace {

constexpr double kMost = 64;  // of a factor: weights are no more spread than that

// Values whose channels (dimension 1) have the same factors, and the layers at either end.
struct Stream {
  std::vector<ValueId> values;
  std::vector<NodeId> makers, readers;
  std::vector<double> reach;  // by channel: the largest magnitude seen, of the largest of its tensor
  bool usable = true;
};

bool is_depthwise(const Graph& g, const Node& n) {
  const Shape& w = g.value(n.inputs[1]).type.shape;
  return n.is(Op::Conv) && ops::attr::group(n) == w[0] && w[1] == 1;
}

// f(c x) = c f(x) for c > 0, channel by channel.
bool passes_factors(const Graph& g, const Node& n) {
  if (n.is(Op::Relu, Op::LeakyRelu, Op::MaxPool, Op::AveragePool, Op::GlobalAveragePool, Op::GlobalMaxPool))
    return true;
  if (n.is(Op::Add, Op::Sub))
    return g.value(n.inputs[0]).type == g.value(n.outputs[0]).type &&
           g.value(n.inputs[1]).type == g.value(n.outputs[0]).type;
  // [N, C, 1, 1] to [N, C].
  const TensorType &x = g.value(n.inputs[0]).type, &y = g.value(n.outputs[0]).type;
  return n.is(Op::Reshape, Op::Flatten, Op::Squeeze) && y.rank() == 2 && x.rank() > 2 &&
         x.elements() == y.elements() && x.shape[0] == y.shape[0] && x.shape[1] == y.shape[1];
}

// Dimension 1 holds what a layer's weights tell apart.
bool has_channels(const Graph& g, ValueId v, bool images) {
  const TensorType& t = g.value(v).type;
  return t.is_static() && (images ? t.rank() > 2 : t.rank() == 2);
}

bool owned(const Graph& g, const Node& n) {
  return g.use_count(n.inputs[1]) == 1 &&
         (n.inputs.size() < 3 || !n.inputs[2].valid() || g.use_count(n.inputs[2]) == 1);
}

class Streams {
 public:
  Streams(const Graph& graph, const Plan& plan) : g_(graph), alike_(graph.value_slots()) {
    for (const Layer& l : plan.layers) layers_.insert(l.node);
    const std::vector<NodeId> order = graph.topological_order();
    for (NodeId id : order)
      if (is_inside(g_.node(id))) join(g_.node(id));
    for (ValueId v : graph.inputs()) add(v);
    for (NodeId id : order)
      for (ValueId v : graph.node(id).outputs)
        if (v.valid()) add(v);
  }

  // Those that have layers at every end, in program order.
  std::vector<Stream> take() {
    std::vector<Stream> out;
    for (Stream& s : streams_)
      if (s.usable && !s.makers.empty() && !s.readers.empty()) out.push_back(std::move(s));
    return out;
  }

 private:
  bool is_inside(const Node& n) const { return !layers_.contains(n.id) && passes_factors(g_, n); }

  void join(const Node& n) {
    for (ValueId v : n.inputs)
      if (v.valid() && (v == n.inputs[0] || n.is(Op::Add, Op::Sub)))
        alike_.join(v.index(), n.outputs[0].index());
  }

  void add(ValueId v) {
    const auto [at, is_new] = at_.emplace(alike_.leader(v.index()), streams_.size());
    if (is_new) streams_.emplace_back();
    Stream& s = streams_[at->second];
    s.values.push_back(v);
    const ir::Value& value = g_.value(v);
    s.usable = s.usable && !g_.is_output(v) && value.type.rank() >= 2 && value.type.is_static();
    if (!value.producer.valid()) {
      s.usable = false;
    } else if (const Node& by = g_.node(value.producer); layers_.contains(by.id)) {
      s.makers.push_back(by.id);
      s.usable = s.usable && owned(g_, by) && has_channels(g_, v, by.is(Op::Conv));
    } else {
      s.usable = s.usable && is_inside(by) && v == by.outputs[0];
    }
    for (NodeId user : value.users) add_reader(s, v, g_.node(user));
    s.reach.assign(s.usable ? static_cast<size_t>(value.type.shape[1]) : 0, 0);
  }

  void add_reader(Stream& s, ValueId v, const Node& n) {
    if (is_inside(n)) return;
    const bool plain = n.is(Op::Conv) ? ops::attr::group(n) == 1 || is_depthwise(g_, n) : true;
    s.usable = s.usable && layers_.contains(n.id) && n.inputs[0] == v && owned(g_, n) && plain &&
               has_channels(g_, v, n.is(Op::Conv));
    s.readers.push_back(n.id);
  }

  const Graph& g_;
  DisjointSets alike_;  // values with the same factors
  std::set<NodeId> layers_;
  std::map<size_t, size_t> at_;  // stream by leader
  std::vector<Stream> streams_;
};

class Equaliser {
 public:
  Equaliser(Graph& graph, const Plan& plan) : g_(graph), streams_(Streams(graph, plan).take()) {
    for (size_t i = 0; i < streams_.size(); ++i)
      for (ValueId v : streams_[i].values)
        if (plan.is_integer(v)) of_[v] = i;
  }

  Status observe(const std::vector<Sample>& samples, const Progress& progress) {
    std::map<ValueId, std::vector<double>> reach;
    const auto look = [&](ValueId v, Tensor& t) {
      if (const auto at = of_.find(v); at != of_.end()) note(t, reach[v]);
    };
    MRVLC_TRY(visit_samples(g_, samples, "channels", progress, look));
    for (const auto& [v, channels] : reach) {
      const double whole = *std::ranges::max_element(channels);
      std::vector<double>& of = streams_[of_[v]].reach;
      for (size_t c = 0; c < of.size() && whole > 0; ++c) of[c] = std::max(of[c], channels[c] / whole);
    }
    return {};
  }

  std::map<NodeId, double> apply() {
    std::map<NodeId, double> out;
    for (const Stream& s : streams_) {
      const std::vector<double> factors = factors_of(s);
      double most = 1;
      for (double f : factors) most = std::max({most, f, 1 / f});
      if (most == 1) continue;
      for (NodeId n : s.makers) scale_results(g_.node(n), factors);
      for (NodeId n : s.readers) {
        scale_data(g_.node(n), factors);
        out[n] = most;
      }
    }
    return out;
  }

 private:
  static void note(const Tensor& t, std::vector<double>& reach) {
    const auto data = t.data<float>();
    const int64_t batch = t.shape()[0], channels = t.shape()[1];
    const int64_t inner = t.elements() / std::max<int64_t>(1, channels * batch);
    reach.resize(static_cast<size_t>(channels), 0);
    for (int64_t i = 0; i < t.elements(); ++i) {
      double& most = reach[static_cast<size_t>(i / inner % channels)];
      const double x = std::fabs(static_cast<double>(data[static_cast<size_t>(i)]));
      if (std::isfinite(x)) most = std::max(most, x);
    }
  }

  // The largest weight that each channel of the data is multiplied by, of the largest of all.
  std::vector<double> weights_reach(const Node& n, size_t channels) const {
    const Matrix w = weight_matrix(*g_.constant(n.inputs[1]), product_shape(g_, n));
    std::vector<double> out(channels, 0);
    const Eigen::Index taps = w.cols() / static_cast<Eigen::Index>(channels);
    for (Eigen::Index m = 0; m < w.rows(); ++m)
      for (Eigen::Index k = 0; k < w.cols(); ++k) {
        double& most = out[static_cast<size_t>(k / taps)];
        most = std::max(most, std::fabs(w(m, k)));
      }
    const double whole = *std::ranges::max_element(out);
    for (double& most : out) most = whole > 0 ? most / whole : 0;
    return out;
  }

  // What channels are divided by: ranges become equal where nothing speaks against it, and meet half way
  // where the weights behind them would become as unequal.
  std::vector<double> factors_of(const Stream& s) const {
    std::vector<double> out(s.reach.size(), 1), against(s.reach.size(), 0);
    bool free = true;  // each channel has weights of its own, with a scale of their own
    for (NodeId n : s.readers) {
      if (is_depthwise(g_, g_.node(n))) continue;
      free = false;
      const std::vector<double> weights = weights_reach(g_.node(n), out.size());
      for (size_t c = 0; c < out.size(); ++c) against[c] = std::max(against[c], weights[c]);
    }
    for (size_t c = 0; c < out.size(); ++c) {
      if (!(s.reach[c] > 0) || !(free || against[c] > 0)) continue;
      const double wanted = free ? s.reach[c] : std::sqrt(s.reach[c] / against[c]);
      // A power of two changes no digit of the weights.
      out[c] = std::exp2(std::round(std::log2(std::clamp(wanted, 1 / kMost, kMost))));
    }
    return out;
  }

  void scale_results(const Node& n, const std::vector<double>& factors) {
    const NodeId id = n.id;
    const ProductShape s = product_shape(g_, n);
    Matrix w = weight_matrix(*g_.constant(n.inputs[1]), s);
    for (Eigen::Index m = 0; m < w.rows(); ++m) w.row(m) /= factors[static_cast<size_t>(m)];
    replace(id, 1, weight_tensor(w, s, g_.constant(n.inputs[1])->shape()));
    const std::vector<ValueId>& inputs = g_.node(id).inputs;
    if (inputs.size() < 3 || !inputs[2].valid()) return;
    Tensor bias = *g_.constant(inputs[2]);
    for (size_t c = 0; c < factors.size(); ++c)
      bias.set_double(static_cast<int64_t>(c), bias.as_double(static_cast<int64_t>(c)) / factors[c]);
    replace(id, 2, std::move(bias));
  }

  void scale_data(const Node& n, const std::vector<double>& factors) {
    const ProductShape s = product_shape(g_, n);
    const bool depthwise = is_depthwise(g_, n);
    Matrix w = weight_matrix(*g_.constant(n.inputs[1]), s);
    const Eigen::Index taps = w.cols() / static_cast<Eigen::Index>(depthwise ? 1 : factors.size());
    for (Eigen::Index m = 0; m < w.rows(); ++m)
      for (Eigen::Index k = 0; k < w.cols(); ++k)
        w(m, k) *= factors[static_cast<size_t>(depthwise ? m : k / taps)];
    replace(n.id, 1, weight_tensor(w, s, g_.constant(n.inputs[1])->shape()));
  }

  void replace(NodeId node, size_t i, Tensor tensor) {
    const NodeId from[] = {node};
    ir::Rewriter rw(g_, "equalise");
    const std::string name = ir::readable_name(g_, g_.node(node).inputs[i]);
    rw.set_input(node, i, rw.constant(std::move(tensor), from, name));
  }

  Graph& g_;
  std::vector<Stream> streams_;
  std::map<ValueId, size_t> of_;  // stream of a value that becomes integers
};

}  // namespace

Result<std::map<NodeId, double>> equalise(Graph& graph, const Plan& plan, const std::vector<Sample>& samples,
                                          const Progress& progress) {
  Equaliser equaliser(graph, plan);
  MRVLC_TRY(equaliser.observe(samples, progress));
  return equaliser.apply();
}

}  // namespace mrvlc::quantize
