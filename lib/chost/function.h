// Builds the text of one C function of the program, and what NAME_run has to pass to it.
#pragma once
#include <fmt/format.h>

#include <limits>
#include <optional>
#include <set>

#include "mrvlc/ops/kernel_structs.h"
#include "mrvlc/ops/run_time_shapes.h"
#include "mrvlc/ops/strings.h"
#include "program.h"

namespace mrvlc::chost {

namespace structs = ops::structs;

class Function {
 public:
  // `nodes`: what it computes, head first.
  Function(Program& program, std::vector<ir::NodeId> nodes, std::string_view what);

  Program& program() { return program_; }
  const Program& program() const { return program_; }
  // Parameters become views (`v0` of `x0`, `w0` of `y0`), and the function returns an error code.
  void use_views();
  bool has_views() const { return views_; }
  // Declares the view of a value without its data.
  std::string view(ir::ValueId value, std::string name, bool written);
  const ir::Node& head() const { return program_.node(nodes_.front()); }
  const std::vector<ir::NodeId>& nodes() const { return nodes_; }
  const std::string& symbol() const { return symbol_; }

  void line(std::string_view text);
  template <class... Args>
  void put(fmt::format_string<Args...> format, Args&&... args) {
    line(fmt::format(format, std::forward<Args>(args)...));
  }
  // Declares a struct of a kernel, or a view: "const net_gemm_shape p = {.m = 2};"
  template <class Struct>
  void put_struct(std::string_view name, const Struct& members, std::string_view qualifier = "const ") {
    line(structs::declaration(program_.options.name, name, members, qualifier));
  }
  void open(std::string_view head);
  void close();
  void loop(std::string_view var, int64_t n) {
    open(fmt::format("for (ptrdiff_t {0} = 0; {0} < {1}; ++{0})", var, n));
  }

  // Declares a parameter on first use and returns `name`.
  std::string read(ir::ValueId value, std::string name);
  std::string write(ir::ValueId value, std::string name);
  std::string read_buffer(BufferId buffer, std::string_view c_type, std::string name);
  std::string write_buffer(BufferId buffer, std::string_view c_type, std::string name);
  // `kept`: until the end of the run.
  std::string scratch(int64_t bytes, bool kept = false);
  // That of a function which this one calls.
  std::string arena(int64_t bytes, bool kept);
  // Memory that is kept: see TextMemory.
  std::string characters(int64_t bytes);
  // A parameter for which NAME_run, or the body around, passes `argument`.
  void pass(std::string declaration, std::string argument);
  // The function returns an error code, which it has reported: it has `error`.
  void use_errors();
  // The function may be called in parts, by as many threads as the program may have, when `operations` (about
  // as many multiply-adds) pay for that: its last parameters are `part` and `parts`, and what it does for one
  // part must be the same whatever the others are. Ask before scratch memory, which each part has for itself.
  bool cut(int64_t operations);
  // A loop over `n` that is all the work of the function, in runs of `grain`; cut if that pays.
  void cut_loop(std::string_view var, int64_t n, int64_t operations, int64_t grain = 1);
  // What is looked at before it is called, so that it cannot fail itself and may still be cut.
  void check(ir::ValueId value, const ops::ElementRange& range);
  // It returns NAME_ERROR_VALUE when the C condition holds.
  void fail_if(std::string_view condition);
  // Its errors have been reported where they came up.
  void set_reports() { reports_ = true; }
  // Constant data in the weights blob, as an expression of type const T*.
  std::string weights(const std::vector<float>& values);
  // The same of 16 bits, of type const uint16_t*; the values are such.
  std::string halves(const std::vector<float>& values);
  // What kernels that unpack panels (K_panel_at) take: floats, or pairs of 16 bits, both as const float*.
  std::string panels(const std::vector<float>& values, bool halves);
  std::string table(const Tensor& tensor, int64_t alignment = 64);
  // Makes sure a library piece is there and returns the prefixed name.
  std::string need(Piece piece);
  // The first of the weights' bytes: NAME_weights, which is a parameter where the caller has them. What asks
  // for it mentions it in a line of the body.
  std::string weights_base();
  std::string prefixed(std::string_view text) const { return with_prefix(text, program_.options.name); }

  // Products are rounded before they are added to anything.
  void round_each() { attributes_ = need(Piece::round_each) + " "; }

  const std::string& body() const { return body_; }
  // Text of another function in front of this one (epilogues).
  void add_front(FunctionText text) { front_.push_back(std::move(text)); }
  // The comment above it, where it is no layer.
  void describe(std::string comment) { comment_ = std::move(comment); }
  // Hands the function over to the program and returns the call.
  Call finish();

 private:
  std::string data_of(ir::ValueId value, std::string name, bool written);
  bool declare_name(const std::string& name) { return mentioned_.try_emplace(name, false).second; }
  std::string declare(BufferId buffer, std::string declaration, std::string name, bool written);
  std::optional<std::string> parameter_at(BufferId buffer, const std::string& type) const;
  void unrestrict_equal();
  void unrestrict_state();
  std::string part_scratch(Buffer buffer);
  std::string declare_scratch(const Buffer& buffer);
  int64_t add_halves(const std::vector<float>& values);
  FunctionText task() const;
  std::string origin_comment() const;
  Program& program_;
  std::vector<ir::NodeId> nodes_;
  std::string symbol_, body_, attributes_, front_lines_;  // declarations in front of the body
  std::vector<Piece> needed_;
  std::string comment_;
  bool views_ = false, fallible_ = false, reports_ = false, cut_ = false;
  int depth_ = 1, scratches_ = 0;
  std::vector<Param> params_;
  std::vector<ElementCheck> checks_;
  std::map<std::string, bool, std::less<>> mentioned_;  // names declared; whether a line of the body has them
  std::vector<FunctionText> front_;
};

// What an operator's emission sees: one node of a function.
class NodeContext : public ops::EmitContext, public ops::TextMemory, public ops::RunTimeShapes {
 public:
  NodeContext(Function& function, ir::NodeId node)
      : function_(function), node_(function.program().node(node)) {}
  const ir::Node& node() const override { return node_; }
  bool has(size_t i) const override { return i < node_.inputs.size() && node_.inputs[i].valid(); }
  const TensorType& in_type(size_t i) const override { return value(node_.inputs[i]).type; }
  const TensorType& out_type(size_t i) const override { return value(node_.outputs[i]).type; }
  const Tensor* constant(size_t i) const override {
    return has(i) ? function_.program().graph.constant(node_.inputs[i]) : nullptr;
  }
  std::string in(size_t i) const override { return function_.read(node_.inputs[i], fmt::format("x{}", i)); }
  std::string out(size_t i) const override {
    return function_.write(node_.outputs[i], fmt::format("y{}", i));
  }
  bool is_dynamic() const override { return function_.has_views(); }
  std::string in_dim(size_t i, int64_t d) const override;
  std::string out_dim(size_t i, int64_t d) const override;
  void set_dims(size_t i, const std::vector<std::string>& dims) override;
  void fail_if(std::string_view condition) override;
  bool check_elements(const ops::ElementRange& range) override;
  bool fail_on_value(std::string_view condition) override;
  void line(std::string_view text) override { function_.line(text); }
  void open(std::string_view head) override { function_.open(head); }
  void close() override { function_.close(); }
  void shared_loop(std::string_view var, const std::string& n, int64_t operations) override;
  std::string helper(std::string_view name) override;
  bool wants_little_text() const override { return function_.program().options.optimize == Optimize::Size; }
  bool may_share() const override { return function_.program().updates_state(node_) != nullptr; }
  std::string scratch(int64_t bytes) override { return function_.scratch(bytes); }
  std::string table(const Tensor& tensor) override { return function_.table(tensor); }
  bool stores_halves(size_t i) const override {
    return has(i) && function_.program().stores_halves(node_.inputs[i]);
  }
  std::string halves(const std::vector<float>& values) override { return function_.halves(values); }
  int64_t bytes_of_texts(int64_t elements) const override;
  std::string characters(int64_t bytes) override;

 private:
  const ir::Value& value(ir::ValueId id) const { return function_.program().graph.value(id); }
  void return_when_empty();
  Function& function_;
  const ir::Node& node_;
  std::set<size_t> sized_ = {};  // results whose dimensions are set
};

// Epilogue of a kernel: what could be folded into bias and clamp, and a function for the rest.
struct Epilogue {
  std::vector<float> bias;  // of rows (convolutions) or columns (matrix products); empty: none
  float lo = -std::numeric_limits<float>::infinity(), hi = std::numeric_limits<float>::infinity();
  size_t next = 1;                                   // first node of the group that is left for the function
  size_t past = std::numeric_limits<size_t>::max();  // behind its last node, where the group has others
};
// Takes Add of constants and a first Relu or Clip; `channels`: number of rows or columns of the bias.
void fold_epilogue(Function& f, int64_t channels, Epilogue& epilogue);
// Emits the rest as a function of its own, and the local variable `e` of type K_epilogue.
void declare_epilogue(Function& f, const Epilogue& epilogue);

// The function that takes the dimensions of a value from elsewhere, and a call of it, without prefix; not 0
// when its type does not admit them.
inline Piece set_dims_piece(const TensorType& type) {
  if (type.wrapper == Wrapper::None) return Piece::set_dims;
  return type.wrapper == Wrapper::Optional ? Piece::set_optional : Piece::set_sequence;
}
std::string set_dims_text(const TensorType& type, const std::string& view, const std::string& dims);

// If, Loop and Scan: the bodies become functions of their own. control_flow.cpp
Status emit_control_flow(Function& f);
// The text of a body's function, from the finished program; source.cpp.
struct BodyFunction {
  std::string symbol;
  int64_t arena_bytes = 0;
};
Result<BodyFunction> emit_body(Module& module, const ir::Graph& body, const Options& options,
                               std::string_view what);

// One emission each; they return the call after finish().
void emit_elementwise(Function& f);
Status emit_conv(Function& f);
Status emit_conv_transpose(Function& f);
Status emit_generic_conv(Function& f);
Status emit_generic_conv_transpose(Function& f);
Status emit_matmul(Function& f);
// A group of attention_tail().
bool is_attention(const Function& f);
void emit_attention(Function& f);
void emit_concat(Function& f);
// A chain of quantised_chain().
bool is_quantised_chain(const Function& f);
Status emit_quantised_chain(Function& f);
// The number that an integer stands for, behind DequantizeLinear or Cast; the line that stores one as such.
std::string dequantized_text(const Function& f, const ir::Node& node, const std::string& x);
void put_quantized(Function& f, const ir::Node& node, const std::string& v, const std::string& y);
// A call of a library, with what it takes to have the values in their forms.
void emit_library_call(Program& program, Step& step);
// Whether the dimensions in this order are the same bytes: those of one element may stand anywhere.
bool keeps_order(const Shape& shape, const std::vector<int64_t>& perm);
// A value from its plain form to another, in `buffer`, or back.
Call emit_form(Program& program, ir::NodeId node, const Form& form, BufferId buffer, bool to_form,
               std::string_view what);
// Conversion of a value from its form on the host to that of a port of the device, and back.
Call emit_to_device(Program& program, ir::NodeId node, const backend::Port& port, BufferId to,
                    std::string_view what);
Call emit_from_device(Program& program, ir::NodeId node, const backend::Port& port, BufferId from,
                      std::string_view what);

}  // namespace mrvlc::chost
