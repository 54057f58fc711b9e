// What is known of a program while it is generated: where every value is stored, the order of work, and the C
// functions with the values they read and write. Stages: groups (fusion) -> buffers (aliases) -> crossings ->
// functions -> arena -> text.
#pragma once
#include <functional>
#include <map>
#include <optional>
#include <set>
#include <span>
#include <string>
#include <vector>

#include "library.h"
#include "mrvlc/chost/chost.h"
#include "mrvlc/ops/dynamic_shapes.h"
#include "mrvlc/ops/op.h"
#include "mrvlc/partition/call.h"
#include "mrvlc/partition/crossings.h"
#include "mrvlc/partition/host_conv.h"
#include "names.h"
#include "weight_store.h"

namespace mrvlc::partition {
struct Partition;  // partition.h
}

namespace mrvlc::chost {

using ops::memory_bytes;
using ops::slot_bytes;
using BufferId = Id<struct BufferTag>;
// A value with its dimensions in another order: stored dimension i is dimension second[i].
using Form = std::pair<ir::ValueId, std::vector<int64_t>>;

// A piece of memory that holds a value (or scratch, or a value in the form of the device).
struct Buffer {
  enum class Kind : uint8_t { Arena, Input, Output, Weights, Strings };
  Kind kind = Kind::Arena;
  int64_t bytes = 0;
  uint32_t index = 0;     // Input, Output, Strings: which; Arena: buffer, once planned
  int64_t offset = 0;     // from the parent, or in the weights
  BufferId parent;        // part of another buffer
  bool kept = false;      // Arena: it is needed until the end of the run, and after it
  bool is_arena = false;  // Arena: it is that of another function
};

// An operand of products that is no value in memory: another one, read with strides.
struct OperandView {
  ir::ValueId source;
  std::vector<int64_t> strides;  // in elements, of each dimension of the operand
};

// One step of work: a region, or a node with the element-wise nodes fused behind it.
struct FusionGroup {
  std::vector<ir::NodeId> nodes;  // head first; of a region: its nodes
  int region = -1;
  int call = -1;         // index into Partition::calls: a library computes it
  bool no_code = false;  // the result is the operand's memory
};

// A parameter of a generated function and what NAME_run passes for it.
struct Param {
  std::string declaration;  // "const float* restrict x0"
  BufferId buffer;
  bool written = false;
  ir::ValueId view = {};  // the address of this value's view is passed, not that of its data
  std::string text = {};  // passed as it is
};

// Elements that NAME_run looks at before a call: one beyond its range is NAME_ERROR_VALUE.
struct ElementCheck {
  BufferId buffer;
  ElementType elem = ElementType::I64;
  ops::ElementRange range;
  std::string function;  // that tells
};

// One call of NAME_run.
struct Call {
  std::string function;
  std::vector<Param> params;
  bool fallible = false;  // it returns an error code
  bool reports = false;   // ... and has told which operator failed
  std::string task = {};  // not empty: it may be called in parts, by this mrvl_task
  std::vector<ElementCheck> checks = {};
};

// The host in the place of a region's device: a function like that of a body, between values as the host has
// them; calls around it bring these from, and to, ports that other regions make and read.
struct Fallback {
  std::string function;
  BufferId arena;  // of the function; invalid: it needs none
  std::vector<ir::ValueId> inputs, outputs;
  std::vector<Call> before, after;
};

// What NAME_run does for a group, in order. A CPU group is one call; a region converts, runs the device and
// converts back.
struct Step {
  FusionGroup group;
  std::vector<Call> before, after;  // calls; regions: conversions to and from the device's form
  std::vector<BufferId> device_inputs, device_outputs;
  std::optional<Fallback> fallback = {};
  std::vector<ir::ValueId> made = {};  // values that are complete then, aliases among them
};

// What the programs of one model share: that of the model's graph, and those of the bodies of its control
// flow.
struct Module {
  Module(std::string prefix, const partition::Partition& p, const std::vector<backend::RegionCode>& r)
      : placed(p), regions(r), library(std::move(prefix)), region_rows(r.size()) {}

  // Does the program of a body, or of one in it, run regions?
  bool uses_device(const ir::Graph& body) const;

  const partition::Partition& placed;               // of the model, its bodies included
  const std::vector<backend::RegionCode>& regions;  // all, by id
  Library library;
  Weights weights;
  std::vector<FunctionText> functions;
  std::vector<ir::ExprId> without_code;  // alias nodes, computed by addresses alone
  std::string names;                     // C text: the names of nodes
  std::vector<std::string> told_values;  // C text: rows of NAME_values, of --trace-values
  std::set<ir::ExprId> named;            // those whose names are there
  std::string error;                     // of the first helper asked for that does not exist
  std::string path;                      // common_path() of the model
  std::string strings;                   // C text: constants of type String
  std::vector<std::string> region_rows;  // C text, by id: NAME_regions
  std::string region_spans;              // C text: what the rows refer to
  std::vector<Conversion> conversions;   // at the borders of regions, as they were emitted
  std::vector<Transformed> transformed;  // convolutions, as they were emitted
  std::vector<LayerChoice> choices;      // as they were made
  int64_t half_bytes = 0;                // of weights of 16 bits in the blob
  uint32_t string_constants = 0;
  // Of the program that is being generated: texts may be made, as memory for those of every round can be
  // kept; and some are.
  bool texts_allowed = true, texts_made = false;
};

class Program {
 public:
  Program(const ir::Graph& g, const partition::Partition& p, const Options& o, Module& m);

  const ir::Graph& graph;
  const partition::Partition& partition;
  const std::span<const backend::RegionCode> regions;  // by index into partition.regions
  const Options& options;
  Module& module;
  Library& library;
  Weights& weights;
  std::vector<FunctionText>& functions;
  std::vector<ir::ExprId>& without_code;
  std::string& error;
  std::vector<Buffer> buffers;
  std::map<ir::ValueId, BufferId> value_buffers;
  // Forms of values on the device, by (value, type and permutation of the port).
  std::map<std::pair<ir::ValueId, std::pair<ElementType, std::vector<int64_t>>>, BufferId> device_buffers;
  std::map<Form, BufferId> forms;  // that libraries read and write
  std::map<ir::ValueId, OperandView> operand_views;
  std::vector<Step> steps;
  std::vector<ir::ValueId> aliases_of_inputs;                // made before the first step
  std::vector<std::pair<BufferId, uint32_t>> output_copies;  // to graph output
  // Inputs that are states, and what of the arena they are saved in before states are written at the end.
  std::vector<std::pair<BufferId, BufferId>> saved_states;
  std::vector<StateUse> states;                // as Options::states; settle_states()
  std::vector<partition::Crossing> crossings;  // what the host rewrites for regions: find_crossings()
  std::vector<std::string> call_symbols;       // by index of Partition::calls
  std::optional<bool> gathers_short_sums;      // which kernel takes them; conv/variants.cpp, once asked
  std::optional<partition::DepthwiseKernel> common_depthwise;  // what serves all; conv/depthwise.cpp
  std::optional<bool> winograd_pays;  // Winograd's algorithm saves enough; conv/winograd.cpp
  std::optional<int64_t>
      winograd_room;  // bytes by which weights may grow for it, as far as they are not taken

  BufferId add_buffer(Buffer buffer) {
    buffers.push_back(buffer);
    return BufferId(buffers.size() - 1);
  }
  // buffers.cpp. Gives a value a buffer unless it has one; the bytes of a constant enter the weights, or the
  // module's strings. For the stages that decide where values lie: assign_buffers(), and the functions, which
  // alone know whether they read a constant as it is, packed, as a table made of it, or not at all: what no
  // function reads takes no bytes, and packed panels lie between the constants in the order of their use.
  // What comes behind looks up.
  BufferId place(ir::ValueId value);
  BufferId buffer_of(ir::ValueId value) const { return value_buffers.at(value); }
  // The buffer without parent that holds it, and the offset in it.
  std::pair<BufferId, int64_t> resolve(BufferId buffer) const;
  const ir::Node& node(ir::NodeId id) const { return graph.node(id); }
  ir::ExprId expr(ir::NodeId id) const { return ir::expr_id(graph, id); }
  // Whether functions that read it, weights, find numbers of 16 bits: half_weights.cpp.
  bool stores_halves(ir::ValueId value) const;
  // The call that computes the node, or null.
  const partition::Call* call_of(ir::NodeId id) const {
    const auto it = calls_.find(id);
    return it == calls_.end() ? nullptr : it->second;
  }
  // The pair of Options::states whose output the node makes of its input, alone in its step and in the
  // input's memory where that is the output's (OpTraits::updates); or null. Valid once buffers are assigned.
  const StatePair* updates_state(const ir::Node& node) const;
  bool is_body() const { return graph.first_expr != 0 || !graph.exprs.empty(); }
  // C expression of type NAME_run_state*, in the function that runs the program.
  std::string_view state() const { return is_body() ? "state" : "&state"; }

 private:
  std::map<ir::NodeId, const partition::Call*> calls_;
};

// strings.cpp. Does a value of the program, or of its bodies, consist of texts?
bool uses_strings(const ir::Graph& graph);
// Defines the constant `NAME_strings<index>` in the module's text.
void define_strings(Program& program, const Tensor& tensor, uint32_t index);
// C expression: the bytes of a value of static shape, on the machine the code runs on.
std::string size_text(const TensorType& type);

// fusion_groups.cpp: fusion; decides the order of work.
std::vector<FusionGroup> make_fusion_groups(const Program& program);
// Operand `i` of a fused node reads how: relative to the result of the group's head.
enum class OperandKind : uint8_t { Scalar, Row, Column, Full, Other };
// Row: varies with dimension 1 only (channels); Column: with the last dimension only.
OperandKind operand_kind(const Shape& operand, const Shape& result);
bool all_f32(const ir::Graph& graph, const ir::Node& node);
bool is_elementwise(const ir::Node& node);
bool is_alias_op(const ir::Graph& graph, const ir::Node& node);
// Convolution by packed panels (1-D and 2-D, constant weights)?
bool is_packed_conv(const ir::Graph& graph, const ir::Node& node);
// Over three, which K_conv computes plane by plane.
bool is_plane_conv(const ir::Graph& graph, const ir::Node& node);
// Products of bytes with constant weights and parameters, by kernels/integer_*.c? integer/rows.cpp
bool is_packed_integer(const ir::Graph& graph, const ir::Node& node);
// ... which bound results as a Clip behind does.
bool takes_bounds(const ir::Graph& graph, const ir::Node& node, const ir::Node& clip);
// Conv-like kernels take row operands in their epilogue, matrix products column operands.
bool is_matrix_product(const ir::Node& node);
// A product of floats that the packed kernels take though shapes are known at run time only: a matrix
// product, or a convolution whose batch alone is dynamic.
bool is_dynamic_product(const ir::Graph& graph, const ir::Node& node);

// integer/chains.cpp: the nodes up to a QuantizeLinear that are one loop with it; `is_free`: on the CPU and
// in no group yet. Empty: it stays alone.
std::vector<ir::NodeId> quantised_chain(const ir::Graph& graph, const ir::Node& quantize,
                                        const std::function<bool(ir::NodeId)>& is_free);

// matmul/attention.cpp: what follows a product of queries and keys, up to the one with the values:
// element-wise nodes, Softmax, MatMul. Empty: it is none. `last`: of the nodes that the product takes as its
// epilogue; `only_reader`: the node that alone reads the result of one, on the CPU and in no group yet.
std::vector<ir::NodeId> attention_tail(const ir::Graph& graph, const ir::Node& product, ir::NodeId last,
                                       const std::function<ir::NodeId(ir::NodeId)>& only_reader);

// buffers.cpp: inputs, outputs, results; parts of concatenations; reshapes.
void assign_buffers(Program& program, std::vector<FusionGroup>& groups);

// border.cpp. The form in which a port takes or gives its value.
partition::DeviceForm form_of(const ir::Graph& graph, const backend::Port& port);
// What crosses between host and device, by these forms; MRV0602 for types that no port has.
Status find_crossings(Program& program);

// fallback.cpp: the host's functions for regions, behind all others.
Status emit_fallbacks(Program& program);

// memory/operand_views.cpp. Transposes whose readers are products: they make no code.
void find_operand_views(Program& program, std::vector<FusionGroup>& groups);

// memory/touches.cpp. What a run reads and writes, in order. A step has three moments: what comes before the
// device, or the CPU's work; the device; what comes behind it. At the end, the copies of outputs.
struct Touch {
  BufferId buffer;
  int64_t moment = 0;
  bool written = false;
};
inline constexpr int64_t kMomentsOfStep = 3;
int64_t end_of_steps(const Program& program);
void for_each_touch(const Program& program, const std::function<void(const Touch&)>& f);

// memory/states.cpp. Behind the functions: which states are worked on in place; outputs of others come to the
// arena.
void settle_states(Program& program);
// MRV0612: pairs whose types differ, or are not fixed.
Status check_states(const ir::Graph& graph, const std::vector<StatePair>& states);

// functions.cpp: all functions and calls.
Status emit_functions(Program& program, std::vector<FusionGroup> groups);

}  // namespace mrvlc::chost
