// What each layer needs of the engines and of DDR at least, and what follows for a region.
#include "bound/bound.h"

#include <algorithm>
#include <map>
#include <set>

#include "bound/bound_inputs.h"
#include "bound/read_strides.h"
#include "mrvlc/ops/op_kind.h"
#include "mrvlc/ops/params.h"
#include "mrvlc/ops/work.h"
#include "mrvlc/support/checked.h"

namespace mrvlc::accel {
namespace {

// The matrix unit takes 16 reduction elements and 16 output channels at a time.
constexpr int64_t kBlock = 16;

// Smaller than it is where int64 could not hold sums of such products: still a bound.
int64_t times(int64_t a, int64_t b) {
  constexpr int64_t kMost = int64_t{1} << 44;
  return std::min(kMost, checked_mul(a, b).value_or(kMost));
}

int64_t times(int64_t a, const std::vector<int64_t>& factors) {
  for (int64_t f : factors) a = times(a, f);
  return a;
}

struct Products {
  int64_t results = 0;
  int64_t reduction = 0;     // products summed in one result
  int64_t reuse = 0;         // results that each loaded weight takes part in
  int64_t uses = kBlock;     // results that an element of the input takes part in, at most
  bool one_channel = false;  // a result sees one channel of the input: Depthwise can do it
  bool depthwise = false;    // and an input channel has one result: nothing else is meant for it
  bool integers = false;     // of 8 bits
};

// Each result needs its reduction in runs of 16, and a cycle has one run for 16 results, of which only those
// count that use its elements.
int64_t pod_cycles(const Products& p, const target::Machine& m) {
  if (p.results == 0) return 0;
  const int64_t rate = p.integers ? m.int8_macs : m.fp16_macs, depth = p.integers ? 2 * kBlock : kBlock;
  int64_t macs = times(p.results, p.reduction);
  int64_t by_channel = macs / (p.integers ? m.int8_depthwise_macs : m.depthwise_macs);
  if (p.depthwise) return by_channel;
  int64_t runs = times(p.results, ceil_div(p.reduction, depth));
  int64_t compute = times(runs, depth) / rate;
  int64_t loads = times(runs, m.weight_block_cycles) / kBlock / std::max<int64_t>(1, p.reuse);
  int64_t few = times(macs, kBlock) / (rate * std::clamp<int64_t>(p.uses, 1, kBlock));
  int64_t dense = std::max({compute, loads, few});
  return p.one_channel ? std::min(dense, by_channel) : dense;
}

// Looks at the nodes of a region in order of execution.
class Reader {
 public:
  Reader(const ir::Graph& graph, const target::Machine& machine) : graph_(graph), m_(machine) {}

  RegionFacts run(const partition::Region& region) {
    read_strides_ = read_strides(graph_, region);
    reach_ = Reach(graph_, region, read_strides_);
    int64_t least = 2;  // an element
    for (ir::ValueId v : region.inputs) least = std::min(least, element_bytes(v));
    facts_.first_bytes = least * reach_.elements();
    for (const partition::Layer& layer : region.layers) {
      facts_.layers.emplace_back();
      chain_ = &layer;
      for (ir::NodeId id : layer.nodes) node(graph_.node(id));
    }
    for (const auto& [value, use] : weights_) facts_.layers[use.last].weight_bytes += use.bytes;
    TouchedElements touched(graph_, region);
    for (ir::ValueId v : region.inputs) facts_.input_bytes += element_bytes(v) * touched(v);
    for (ir::ValueId v : region.outputs) facts_.output_bytes += element_bytes(v) * elements(v);
    return std::move(facts_);
  }

 private:
  struct WeightUse {
    size_t last = 0;  // layer
    int64_t bytes = 0;
  };
  LayerFacts& layer() { return facts_.layers.back(); }
  // As it is stored: fp16, or a byte.
  int64_t element_bytes(ir::ValueId v) const { return is_byte(graph_.value(v).type.elem) ? 1 : 2; }
  int64_t elements(ir::ValueId v) const { return graph_.value(v).type.elements(); }

  void node(const ir::Node& n) {
    LayerFacts before = layer();
    compute(n);
    bool whole =
        std::any_of(n.inputs.begin(), n.inputs.end(), [&](ir::ValueId v) { return reach_.needs_all(v); });
    if (whole) {
      LayerFacts& l = layer();
      l.pod_after_input += l.pod_cycles + l.drain_cycles - before.pod_cycles - before.drain_cycles;
      l.pe_after_input += l.pe_cycles - before.pe_cycles;
    }
    reach_.add(n);
  }

  void compute(const ir::Node& n) {
    ops::InferContext context = ops::infer_context(graph_, n);
    if (n.is(Op::Conv))
      convolution(n, ops::conv_params(context), 1, false);
    else if (n.is(Op::ConvTranspose))
      convolution(n, ops::conv_transpose_params(context), 1, true);
    else if (n.is(Op::QLinearConv, Op::ConvInteger))
      integer_convolution(n);
    else if (n.is(Op::MatMul, Op::Gemm))
      matrix_product(n, reduction_of(graph_, n));
    else
      maximum(n, context);
  }

  void use_weights(ir::ValueId v, int64_t count) {
    if (!graph_.is_constant(v)) return;
    WeightUse& use = weights_[v];
    use = {facts_.layers.size() - 1, std::max(use.bytes, element_bytes(v) * count)};
  }

  // Four bytes a channel, as instructions read it. What else of the layer has constants may make it zeros,
  // which are not stored, and equal ones are stored once.
  void use_bias(const ir::Node& n, size_t index, int64_t channels) {
    const Tensor* bias = index < n.inputs.size() ? graph_.constant(n.inputs[index]) : nullptr;
    if (bias == nullptr || bias->elements() != channels || others_have_constants(n)) return;
    std::vector<double> values;
    for (int64_t i = 0; i < channels; ++i) values.push_back(bias->as_double(i));
    if (std::ranges::all_of(values, [](double v) { return v == 0; })) return;
    if (!biases_.insert(std::move(values)).second) return;
    weights_[n.inputs[index]] = {facts_.layers.size() - 1, 4 * channels};
  }

  bool others_have_constants(const ir::Node& n) const {
    return std::ranges::any_of(chain_->nodes, [&](ir::NodeId id) {
      const ir::Node& other = graph_.node(id);
      return &other != &n &&
             std::ranges::any_of(other.inputs, [&](ir::ValueId v) { return graph_.is_constant(v); });
    });
  }

  void integer_convolution(const ir::Node& n) {
    if (const auto p = ops::integer_conv_params(graph_, n); p.ok())
      convolution(n, ops::ConvParams(*p), p->weights, false);
  }

  // `weights`: position of the operand. A transposed one is counted from its input: every element meets the
  // taps whose result is kept.
  void convolution(const ir::Node& n, const Result<ops::ConvParams>& params, size_t weights,
                   bool transposed) {
    if (!params.ok()) return;
    ops::ConvParams p = *params;
    // Pixels that nobody reads need not be computed.
    if (auto unread = read_strides_.find(n.outputs[0]); unread != read_strides_.end() && !transposed)
      for (size_t d = 0; d < p.output.size(); ++d) {
        p.strides[d] *= unread->second;
        p.output[d] = ceil_div(p.output[d], unread->second);
      }
    int64_t in_pixels = times(p.batch, p.input), pixels = times(p.batch, p.output);
    if (transposed) std::swap(p.input, p.output);
    int64_t taps = 1, widest = 1, pairs = p.batch, uses = 1;
    for (size_t d = 0; d < p.kernel.size(); ++d) {
      Axis axis = axis_of(p, d);
      taps *= axis.taps;
      widest = std::max(widest, axis.taps);
      pairs = times(pairs, axis.pairs);
      bool spread = !transposed && p.dilations[d] == 1;  // windows that overlap share an element
      uses = times(uses, spread ? ceil_div(p.kernel[d], p.strides[d]) : p.kernel[d]);
    }
    int64_t group_in = p.in_channels / p.group, group_out = p.out_channels / p.group;
    Products q{
        times(pixels, p.out_channels), taps * group_in, pixels,
        times(uses, group_out),        group_in == 1,   group_in == 1 && group_out == 1 && p.group > 1};
    if (transposed) {
      q.results = times(times(pairs, group_in), p.out_channels) / kBlock;
      q.reduction = kBlock;
      q.reuse = std::max(pixels, in_pixels);
    }
    if (taps == 1) q.reuse = std::min(q.reuse, group_out);
    q.integers = n.is(Op::QLinearConv, Op::ConvInteger);
    layer().pod_cycles += pod_cycles(q, m_);
    use_weights(n.inputs[weights], taps * group_in * p.out_channels);
    if (n.is(Op::Conv, Op::ConvTranspose)) use_bias(n, 2, p.out_channels);
    if (!transposed && !q.depthwise && taps / widest * group_in >= kFewest)
      drain(n.inputs[0], pixels, p.out_channels);
  }

  void matrix_product(const ir::Node& n, int64_t k) {
    int64_t results = elements(n.outputs[0]), macs = times(results, k);
    if (macs == 0) return;
    int64_t columns = macs / elements(n.inputs[0]), rows = macs / elements(n.inputs[1]);
    Products q{results, k, std::min(rows, columns)};
    if (graph_.is_constant(n.inputs[1])) q.uses = columns;
    layer().pod_cycles += pod_cycles(q, m_);
    for (size_t i = 0; i < 2; ++i) use_weights(n.inputs[i], elements(n.inputs[i]));
    if (k >= kFewest && graph_.is_constant(n.inputs[1])) drain(n.inputs[0], rows, columns);
  }

  // Several outputs taken as channels of one would shorten the drain; with so many elements in a kernel row,
  // what that adds to the products is more.
  static constexpr int64_t kFewest = 4;

  // Convolutions of one input can be one instruction with the channels of all, so only the longest counts.
  void drain(ir::ValueId input, int64_t pixels, int64_t channels) {
    int64_t cycles = times(pixels, std::min(channels, kBlock)) / m_.pe_lanes, seen = 0;
    std::set<ir::ValueId> roots;
    collect_roots(input, roots, 0);
    for (ir::ValueId v : roots) {
      int64_t& longest = drained_[v];
      seen = std::max(seen, longest);
      longest = std::max(longest, cycles);
    }
    layer().drain_cycles += std::max<int64_t>(0, cycles - seen);
  }

  void collect_roots(ir::ValueId v, std::set<ir::ValueId>& out, int depth) const {
    out.insert(v);
    const ir::Value& value = graph_.value(v);
    if (depth == kDeepest || !value.producer.valid()) return;
    const ir::Node& n = graph_.node(value.producer);
    if (!rearranges(n) && !selects(n) && !copies(n)) return;
    for (ir::ValueId operand : n.inputs)
      if (operand.valid() && !graph_.is_constant(operand) && !out.contains(operand))
        collect_roots(operand, out, depth + 1);
  }

  // The maximum of n values in m results takes at least n - m pairs, and only the vector unit has it.
  void maximum(const ir::Node& n, const ops::InferContext& context) {
    int64_t used = 0;
    if (n.is(Op::MaxPool)) {
      auto p = ops::pool_params(context);
      if (!p.ok()) return;
      used = p->batch * p->channels;
      for (size_t d = 0; d < p->kernel.size(); ++d) used *= axis_of(*p, d).positions;
    } else if (n.is(Op::GlobalMaxPool, Op::ReduceMax, Op::ReduceMin)) {
      used = elements(n.inputs[0]);
    }
    if (used > 0) layer().pe_cycles += std::max<int64_t>(0, used - elements(n.outputs[0])) / m_.pe_lanes;
  }

  const ir::Graph& graph_;
  const target::Machine& m_;
  std::map<ir::ValueId, int64_t> read_strides_;
  Reach reach_;
  RegionFacts facts_;
  const partition::Layer* chain_ = nullptr;  // the layer at hand
  std::map<ir::ValueId, WeightUse> weights_;
  std::set<std::vector<double>> biases_;  // those that count
  std::map<ir::ValueId, int64_t> drained_;
};

}  // namespace

RegionFacts region_facts(const ir::Graph& graph, const partition::Region& region,
                         const target::Machine& machine) {
  return Reader(graph, machine).run(region);
}

uint64_t lower_bound(const RegionFacts& facts, const target::Machine& machine, uint32_t tiles) {
  int64_t on_chip = int64_t{tiles} * machine.ocm_bytes, links = int64_t{tiles} * machine.tile_link_bytes;
  const auto over_ddr = [&](int64_t bytes) {
    return bytes * 100 / (int64_t{machine.ddr_bytes} * machine.ddr_efficiency);
  };
  const auto loaded = [&](int64_t bytes) { return std::max(over_ddr(bytes), bytes / links); };
  int64_t rest = 0, pod = 0, pe = 0, pod_after = 0, pe_after = 0, bound = 0;
  for (const LayerFacts& l : facts.layers) rest += l.weight_bytes;
  // A copy has arrived so long after its last byte left.
  int64_t edge = int64_t{machine.ddr_latency} + machine.instruction_overhead;
  int64_t loads = rest + facts.input_bytes, moved = loads + facts.output_bytes;
  int64_t begin = loads > 0 ? edge : 0, end = facts.output_bytes > 0 ? edge : 0;
  for (const LayerFacts& l : facts.layers) {
    pod += l.pod_cycles + l.drain_cycles;
    pe += l.pe_cycles;
    rest -= l.weight_bytes;
    int64_t late = loaded(std::max<int64_t>(0, rest - on_chip));
    pod_after += l.pod_after_input;
    pe_after += l.pe_after_input;
    int64_t after = std::max(pod_after, pe_after) / tiles, arithmetic = std::max(pod, pe) / tiles;
    if (after > 0) arithmetic = std::max(arithmetic, loaded(facts.first_bytes) + after);
    bound = std::max(bound, begin + arithmetic + late + end);
  }
  bound = std::max(bound, over_ddr(moved) + std::max(begin, end));
  return static_cast<uint64_t>(std::max(bound, loaded(loads) + begin));
}

void fill_bounds(CompiledRegion& out, const ir::Graph& graph, const partition::Region& region,
                 const Lowered& lowered, const target::Machine& machine, uint32_t tiles) {
  RegionFacts facts = region_facts(graph, region, machine);
  for (uint32_t i = 0; i < region.layers.size(); ++i) {
    const LayerFacts& l = facts.layers[i];
    auto cycles = static_cast<uint64_t>(std::max(l.pod_cycles + l.drain_cycles, l.pe_cycles) / tiles);
    int64_t macs = 0;
    for (ir::NodeId n : region.layers[i].nodes) macs += ops::macs(graph, graph.node(n));
    out.layers.push_back({i, {}, macs, lowered.layer_weight_bytes[i], cycles});
    out.macs += macs;
  }
  out.lower_bound_cycles = lower_bound(facts, machine, tiles);
}

}  // namespace mrvlc::accel
