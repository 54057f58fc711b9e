// Layers to primitive operations. Lowering keeps, for every value of the region, where it is stored; one file
// a family of layers does the rest (lower_*.cpp).
#pragma once
#include <functional>
#include <map>
#include <optional>
#include <set>
#include <string_view>
#include <tuple>

#include "mrvlc/accel/accel.h"
#include "mrvlc/ops/op.h"
#include "primitive/program.h"
#include "primitive/view.h"

namespace mrvlc::accel {

struct Lowered {
  Program program;
  std::vector<backend::Port> inputs, outputs;
  std::vector<uint32_t> input_buffers, output_buffers;
  std::vector<int64_t> layer_weight_bytes;
  std::vector<Diag> warnings;
  std::map<ir::ValueId, View> activations;  // where results lie, of those that have a place
};

// Values stored as fp32 (wide.cpp).
struct WideValues {
  std::set<ir::ValueId> values;
  std::set<ir::ValueId>
      asked;  // of these, because of a precision: the matrix unit reads and writes them, too
  std::vector<ir::NodeId>
      strained;  // of which a constant says that fp16 may not hold the result, but it must
};
WideValues choose_wide(const ir::Graph& graph, const partition::Region& region);

struct RoundedWeights {
  std::vector<uint16_t> high, low;  // low: what rounding lost, of weights that are pairs; else empty
};

class Lowering {
 public:
  Lowering(const ir::Graph& graph, const partition::Region& region, const target::Machine& machine);
  Result<Lowered> run();

  const ir::Graph& graph() const { return graph_; }
  const target::Machine& machine() const { return machine_; }
  const partition::Layer& layer() const { return region_.layers[layer_]; }
  Owner owner(ir::NodeId expr) const { return {layer_, expr}; }
  const Dims& shape(ir::ValueId v) const { return graph_.value(v).type.shape; }

  // Where a value is stored. Constants are packed as fp16 when first asked for.
  View read(ir::ValueId value);
  // The same for an operand of the vector unit: constants that do not fit fp16 are fp32.
  View read_operand(ir::ValueId value);
  // Where a layer shall write a value: its own buffer, or its place in the result of a concatenation.
  View result(ir::ValueId value);
  // The same for the last result of the layer: numbers that a QuantizeLinear makes integers of are stored as
  // such.
  View last_result();
  // The value needs no work: it is this view of another one (copied if it is an output of the region).
  void bind(ir::ValueId value, const View& view, ir::NodeId expr);
  View scratch(const Dims& dims, std::span<const int64_t> perm, isa::DataType type = isa::DataType::F16);

  // Appends to the weights; returns the byte offset, aligned to a burst.
  int64_t append_weights(std::string_view bytes);
  int64_t reserve_weights(int64_t bytes);  // zero-filled; write through weights_at
  char* weights_at(int64_t offset) { return program_.weights.data() + offset; }
  // A dense constant; equal ones are stored once.
  View constant(const std::vector<float>& values, const Dims& dims, isa::DataType type);
  View constant(const Tensor& tensor, std::span<const int64_t> perm, isa::DataType type = isa::DataType::F16);
  int64_t table(const std::vector<float>& segments);
  // Constant weights of a product as they are stored, in their own order; `scale` per output channel, or
  // none.
  RoundedWeights rounded_weights(const ir::Node& node, std::span<const float> scale);

  // PeGroups are made to fit: split into single stages, reductions in parts, when their smallest block is too
  // large.
  Status add(PeGroup group);
  void add(WindowOp op) { program_.primitives.emplace_back(std::move(op)); }
  void copy(const View& from, const View& to, ir::NodeId expr);
  void fill(const View& to, float value, ir::NodeId expr);
  // Remembers the first error of work that has no result to report it through; run() returns it.
  void keep(Status status) {
    if (failed_.ok()) failed_ = std::move(status);
  }
  // `view` with dimension `dim` contiguous: itself or a copy.
  View with_inner(const View& view, size_t dim, ir::NodeId expr);
  // Halves of view * 2^-shift, dimension `dim` contiguous: in each of its `groups` equal parts the elements
  // once for each of `low`, the low halves or the high ones. Made once.
  struct HalvesOf {
    View view;
    size_t dim = 0;
    int64_t groups = 1;
    std::vector<bool> low;
    int32_t shift = 0;
    auto key() const {
      return std::tie(view.buffer, view.offset, view.dims, view.strides, dim, groups, low, shift);
    }
    bool operator<(const HalvesOf& o) const { return key() < o.key(); }
  };
  View halves(const HalvesOf& of, ir::NodeId expr);

  std::optional<View> deferred(ir::ValueId value) const;
  void defer(ir::ValueId value, const View& source) { deferred_.emplace(value, source); }
  bool is_wide(ir::ValueId value) const { return wide_.values.contains(value); }
  bool is_asked(ir::ValueId value) const { return wide_.asked.contains(value); }
  partition::Precision precision(ir::ValueId value) const;
  // The last result of the layer.
  ir::ValueId last() const { return graph_.node(layer().nodes.back()).outputs[0]; }
  void warn(Diag diag, const ir::Node& node) {
    lowered_.warnings.push_back(at_node(std::move(diag), node.name, node.op->name));
  }
  bool channels_last(ir::ValueId value) const { return channels_last_.contains(value); }
  std::vector<int64_t> perm_of(ir::ValueId value) const;
  isa::DataType type_of(ir::ValueId value) const;  // that it is stored as
  bool is_region_output(ir::ValueId value) const { return output_index_.contains(value); }
  // The layer of this region that `node` belongs to, or nullptr.
  const partition::Layer* layer_of(ir::NodeId node) const;

 private:
  struct Place {
    ir::ValueId whole;
    size_t axis = 0;
    int64_t at = 0;
  };
  void count_images();
  void place_concats();
  void make_ports();
  void reserve_for_constants();
  Status lower_layer();
  Status unfuse(const PeGroup& group);
  Status split_reduction(const PeGroup& group);

  const ir::Graph& graph_;
  const partition::Region& region_;
  const target::Machine& machine_;
  uint32_t layer_ = 0;
  Status failed_;
  Program program_;
  Lowered lowered_;
  std::set<ir::ValueId> channels_last_;
  WideValues wide_;
  std::map<ir::ValueId, View> views_, deferred_, wide_constants_;
  std::map<HalvesOf, View> halves_;
  std::map<ir::ValueId, Place> places_;
  std::map<ir::ValueId, uint32_t> output_index_;
  std::map<std::string, int64_t> shared_constants_;
  std::map<ir::NodeId, uint32_t> layer_of_;
};

// Builds a PeGroup stage by stage.
class PeBuilder {
 public:
  PeBuilder(Lowering& lowering, Dims dims, ir::NodeId expr);
  const Dims& dims() const { return group_.dims; }
  PeOperand view(const View& v) const;  // broadcast to the group's dims
  PeOperand temp(isa::DataType type = isa::DataType::F32);
  PeOperand reduced_temp(const std::vector<int64_t>& axes);
  void apply(isa::EwOp op, const PeOperand& dst, const PeOperand& a, const PeOperand& b = {}, float alpha = 0,
             float beta = 0, const EpilogueSpec& epilogue = {});
  void reduce(isa::ReduceOp op, const PeOperand& dst, const PeOperand& a, float alpha = 1, float beta = 0,
              const EpilogueSpec& epilogue = {});
  // The activation as epilogue of the stage that made `x`, if it has none; else a stage of its own.
  PeOperand activate(const PeOperand& x, const EpilogueSpec& epilogue);
  void set_expr(ir::NodeId expr) { expr_ = expr; }
  // The last stage writes `x`: it shall write there instead. Copies when x is no such temporary.
  // The operand's value goes to the view; a group may write several.
  void write(const PeOperand& x, const View& to);
  Status finish(const PeOperand& x, const View& to);  // written last
  Status finish();

 private:
  Lowering& lowering_;
  PeGroup group_;
  ir::NodeId expr_;
};

// Element-wise nodes (lower_elementwise.cpp): `current` holds the value `current_value`; returns the node's
// result.
Result<PeOperand> append_node(Lowering& lowering, PeBuilder& builder, const ir::Node& node,
                              ir::ValueId current_value, const PeOperand& current);
// nodes[from..] of the layer after value `v`, as element-wise groups.
Status lower_chain(Lowering& lowering, ir::ValueId v, size_t from);
// What follows a layer's first node, if anything does.
Status finish_layer(Lowering& lowering, ir::ValueId v);
// Activation of a unary node, as epilogue; nullopt when it is not one.
std::optional<EpilogueSpec> activation_of(Lowering& lowering, const ir::Node& node, ir::ValueId operand);
// 2048 segments that interpolate f, and 2048 steps: f of each segment's first number (tables.cpp).
std::vector<float> make_table(const std::function<double(double)>& f);
std::vector<float> make_steps(const std::function<double(double)>& f);

// Of integers that stand for themselves; nothing for other types.
isa::Quantization as_they_are(isa::DataType type);
ElementType element_type(isa::DataType type);

// Families of layers.
Status lower_conv(Lowering& lowering);
Status lower_integer_conv(Lowering& lowering);
Status lower_dequantize(Lowering& lowering);
// Functions of one operand that is stored as integers of 8 bits, the last a QuantizeLinear: one table of 256
// bytes.
bool maps_codes(Lowering& lowering);
Status lower_codes(Lowering& lowering);
// Scale and zero point of a QuantizeLinear or DequantizeLinear of one scale.
isa::Quantization quantization_of(const ir::Graph& graph, const ir::Node& node);
Status lower_matmul(Lowering& lowering);
Status lower_pool(Lowering& lowering);
Status lower_elementwise(Lowering& lowering);
Status lower_reduce(Lowering& lowering);
Status lower_softmax(Lowering& lowering);
Status lower_norm(Lowering& lowering);
Status lower_resize(Lowering& lowering);
Status lower_concat(Lowering& lowering);
Status lower_move(Lowering& lowering);
Status lower_reshape(Lowering& lowering);

}  // namespace mrvlc::accel
