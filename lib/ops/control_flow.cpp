// If, Loop and Scan (ONNX If-16, Loop-16, Scan-11). The C of a body is made by the host code generator.
#include "mrvlc/ops/control_flow.h"

#include <algorithm>
#include <climits>

#include "infer_util.h"
#include "mrvlc/support/diag/ops.h"

namespace mrvlc::ops {

using namespace spec;

namespace {

// Tensors of a sequence may have different ranks.
TensorType any_rank(const TensorType& a, const TensorType& b) {
  TensorType joined = a;
  joined.shape.clear();
  joined.open = kOpenRank;
  joined.capacity = std::max(a.elements(), b.elements());
  joined.length = std::max(a.length, b.length);
  return joined;
}

bool is_sequence(const TensorType& type) {
  return type.wrapper == Wrapper::Sequence || type.wrapper == Wrapper::OptionalSequence;
}

}  // namespace

std::optional<TensorType> join_types(const TensorType& a, const TensorType& b) {
  if (a == b) return a;
  if (a.elem != b.elem || a.wrapper != b.wrapper) return std::nullopt;
  // An empty sequence says nothing of its tensors.
  if (is_sequence(a) && a.length == 0) return b;
  if (is_sequence(a) && b.length == 0) return a;
  if (a.rank() != b.rank() || a.has_rank() != b.has_rank())
    return is_sequence(a) ? std::optional(any_rank(a, b)) : std::nullopt;
  TensorType joined = a;
  joined.length = std::max(a.length, b.length);
  joined.open |= b.open;
  for (size_t d = 0; d < a.shape.size(); ++d) {
    if (a.shape[d] == b.shape[d]) continue;
    joined.open |= 1u << d;
    const bool unbounded = a.shape[d] == kNoBound || b.shape[d] == kNoBound;
    joined.shape[d] = unbounded ? kNoBound : std::max(a.shape[d], b.shape[d]);
  }
  const bool capped = joined.open != 0 && (a.capacity >= 0 || b.capacity >= 0);
  joined.capacity = capped ? std::max(a.elements(), b.elements()) : -1;
  return joined;
}

std::optional<TensorType> widen_state(const TensorType& state, const TensorType& given) {
  auto joined = join_types(state, given);
  if (!joined) return joined;
  if (is_sequence(*joined)) {
    // One that grows has no bound of its own.
    if (given.length > state.length) joined->length = kNoBound;
    return joined;
  }
  for (size_t d = 0; d < joined->shape.size(); ++d) {
    if (!joined->is_open(static_cast<int64_t>(d))) continue;
    // What grows has no bound of its own; one that was given before is kept.
    const bool was_open = state.rank() == joined->rank() && state.is_open(static_cast<int64_t>(d));
    joined->shape[d] = was_open ? state.shape[d] : kNoBound;
  }
  if (joined->open != 0) joined->capacity = state.open != 0 ? state.capacity : -1;
  return joined;
}

namespace {

using Body = std::shared_ptr<const ir::Graph>;

Result<Body> body_of(const InferContext& context, std::string_view attr) {
  const ir::Attr& value = context.attr(attr);
  if (!ir::is_set(value)) return bad_attr(attr, "is required");
  return std::get<Body>(value);
}

std::vector<TensorType> result_types(const ir::Graph& body) {
  std::vector<TensorType> types;
  for (ir::ValueId v : body.outputs()) types.push_back(body.value(v).type);
  return types;
}

// A branch that is not there cannot run with the shapes of the model, see MRV0146.
Body branch_of(const InferContext& context, std::string_view attr) {
  const ir::Attr& value = context.attr(attr);
  return ir::is_set(value) ? std::get<Body>(value) : nullptr;
}

Result<std::vector<TensorType>> infer_if(const InferContext& context) {
  MRVLC_TRY(check_elem(context, 0, types_of({E::Bool})));
  if (context.type(0).elements() != 1) return bad_operands("the condition must be one truth value");
  Body then_body = branch_of(context, "then_branch"), else_body = branch_of(context, "else_branch");
  if (then_body == nullptr && else_body == nullptr) return bad_attr("then_branch", "is required");
  if (then_body == nullptr || else_body == nullptr) return result_types(then_body ? *then_body : *else_body);
  auto types = result_types(*then_body), others = result_types(*else_body);
  if (types.size() != others.size()) return bad_operands("the branches have different numbers of outputs");
  for (size_t i = 0; i < types.size(); ++i) {
    auto joined = join_types(types[i], others[i]);
    if (!joined) {
      return bad_operands(fmt::format("output {} is {} in one branch and {} in the other", i,
                                      to_string(types[i]), to_string(others[i])));
    }
    types[i] = *joined;
  }
  return types;
}

std::vector<Tensor> inputs_from(const EvalContext& context, size_t first, size_t count) {
  std::vector<Tensor> inputs;
  for (size_t i = first; i < first + count; ++i) inputs.push_back(context.in(i));
  return inputs;
}

Status eval_if(const EvalContext& context) {
  InferContext view = context.infer_view();
  Body then_body = branch_of(view, "then_branch"), else_body = branch_of(view, "else_branch");
  const bool taken = context.in(0).as_int(0) != 0;
  const Body& body = taken ? then_body : else_body;
  if (body == nullptr) return bad_operands("the branch that is taken cannot run with these shapes");
  const size_t first = 1 + (taken || then_body == nullptr ? 0 : then_body->inputs().size());
  MRVLC_ASSIGN(auto results, context.run(*body, inputs_from(context, first, body->inputs().size())));
  for (size_t i = 0; i < context.outputs->size(); ++i) context.out(i) = std::move(results[i]);
  return {};
}

// --- Loop

struct LoopShape {
  Body body;
  size_t states = 0, captured = 0;
  std::vector<TensorType> results;  // of the body: condition, states, scanned
};

Result<LoopShape> loop_shape(const InferContext& context) {
  LoopShape s;
  MRVLC_ASSIGN(s.body, body_of(context, "body"));
  const auto formals = static_cast<size_t>(context.int_attr("formals"));
  if (formals < 2 || formals > s.body->inputs().size() || context.num_inputs() != s.body->inputs().size())
    return bad_attr("body", "does not take the inputs of the node");
  s.states = formals - 2;
  s.captured = s.body->inputs().size() - formals;
  s.results = result_types(*s.body);
  if (s.results.size() < 1 + s.states) return bad_attr("body", "has too few outputs");
  for (size_t i = 0; i < 2; ++i) {
    if (context.has(i) && context.type(i).elements() != 1)
      return bad_operands("the trip count and the condition must be single values");
  }
  if (context.has(0)) MRVLC_TRY(check_elem(context, 0, types_of({E::I64})));
  if (context.has(1)) MRVLC_TRY(check_elem(context, 1, types_of({E::Bool})));
  if (s.results[0].elem != E::Bool || s.results[0].elements() != 1)
    return bad_attr("body", "must give back a truth value first");
  return s;
}

// Does the body never ask for the end?
bool goes_on(const InferContext& context, const ir::Graph& body) {
  const ir::ValueId result = body.outputs()[0];
  const Tensor* constant = body.constant(result);
  if (constant != nullptr) return constant->as_int(0) != 0;
  const Tensor* first = context.constant(1);
  return result == body.inputs()[1] && (!context.has(1) || (first != nullptr && first->as_int(0) != 0));
}

// Of `n` tensors; what overflows is refused as too large.
int64_t capacity_of(int64_t one, int64_t n) {
  return checked_mul(one, n).value_or(INT64_MAX);
}

// Scanned outputs are stacked; how many there are is known when the trip count is and nothing ends the loop.
TensorType stacked(const InferContext& context, const LoopShape& s, TensorType item) {
  const Tensor* trips = context.constant(0);
  const int64_t bound = trips != nullptr ? std::max<int64_t>(trips->as_int(0), 0) : kNoBound;
  item.shape.insert(item.shape.begin(), bound);
  item.open = item.open << 1;
  const Tensor* first = context.constant(1);
  const bool starts = !context.has(1) || (first != nullptr && first->as_int(0) != 0);
  if (bound == kNoBound || !starts || !goes_on(context, *s.body)) item.open |= 1u;
  if (item.capacity >= 0) item.capacity = bound == kNoBound ? -1 : capacity_of(item.capacity, bound);
  return item;
}

Result<std::vector<TensorType>> infer_loop(const InferContext& context) {
  MRVLC_ASSIGN(LoopShape s, loop_shape(context));
  std::vector<TensorType> types;
  for (size_t i = 0; i < s.states; ++i) types.push_back(s.body->value(s.body->inputs()[2 + i]).type);
  for (size_t i = 1 + s.states; i < s.results.size(); ++i) {
    if (s.results[i].wrapper != Wrapper::None) return bad_attr("body", "scans something other than tensors");
    if (s.results[i].rank() >= kMaxRank) return bad_attr("body", "scans tensors of too high a rank");
    types.push_back(stacked(context, s, s.results[i]));
  }
  return types;
}

// Tensors of one shape behind each other along a new axis.
Result<Tensor> stack(const std::vector<Tensor>& items, const TensorType& item_type, int64_t axis) {
  TensorType type = items.empty() ? item_type : items.front().type();
  if (items.empty()) type.open = 0, type.capacity = -1;
  const auto n = static_cast<int64_t>(items.size());
  Shape shape = type.shape;
  for (int64_t& d : shape) d = std::max<int64_t>(d, 0);
  const int64_t inner = element_count(Shape(shape.begin() + axis, shape.end()));
  const int64_t outer = element_count(Shape(shape.begin(), shape.begin() + axis));
  shape.insert(shape.begin() + axis, n);
  Tensor out(TensorType{type.elem, shape});
  const auto bytes = static_cast<size_t>(inner * byte_size(type.elem));
  for (int64_t k = 0; k < n; ++k) {
    const Tensor& item = items[at(k)];
    if (!(item.type() == type)) return bad_operands("the body scans tensors of different shapes");
    for (int64_t o = 0; o < outer; ++o) {
      if (type.elem == E::String) {
        std::copy_n(item.string_data().begin() + o * inner, inner,
                    out.mutable_strings().begin() + (o * n + k) * inner);
      } else if (bytes > 0) {
        std::copy_n(item.bytes().data() + at(o) * bytes, bytes,
                    std::as_writable_bytes(out.mutable_data<uint8_t>()).data() + at(o * n + k) * bytes);
      }
    }
  }
  return out;
}

Status eval_loop(const EvalContext& context) {
  InferContext view = context.infer_view();
  MRVLC_ASSIGN(LoopShape s, loop_shape(view));
  const int64_t trips = context.has(0) ? context.in(0).as_int(0) : INT64_MAX;
  bool go = !context.has(1) || context.in(1).as_int(0) != 0;
  auto states = inputs_from(context, 2, s.states);
  const auto captured = inputs_from(context, 2 + s.states, s.captured);
  std::vector<std::vector<Tensor>> scanned(s.results.size() - 1 - s.states);
  for (int64_t i = 0; i < trips && go; ++i) {
    std::vector<Tensor> inputs = {Tensor::of<int64_t>(E::I64, {}, {i}),
                                  Tensor::of<int64_t>(E::Bool, {}, {1})};
    inputs.insert(inputs.end(), states.begin(), states.end());
    inputs.insert(inputs.end(), captured.begin(), captured.end());
    MRVLC_ASSIGN(auto results, context.run(*s.body, inputs));
    go = results[0].as_int(0) != 0;
    std::move(results.begin() + 1, results.begin() + 1 + static_cast<ptrdiff_t>(s.states), states.begin());
    for (size_t k = 0; k < scanned.size(); ++k) scanned[k].push_back(results[1 + s.states + k]);
  }
  for (size_t i = 0; i < context.outputs->size(); ++i) {
    if (i < s.states) {
      context.out(i) = std::move(states[i]);
    } else {
      MRVLC_ASSIGN(context.out(i), stack(scanned[i - s.states], s.results[1 + i], 0));
    }
  }
  return {};
}

// --- Scan

Result<std::vector<int64_t>> axes_attr(const ir::OpSchema& op, const std::vector<ir::Attr>& attrs,
                                       std::string_view name, size_t count) {
  const ir::Attr& attr = attrs[static_cast<size_t>(op.attr_index(name))];
  if (!ir::is_set(attr)) return std::vector<int64_t>(count, 0);
  const auto& list = std::get<std::vector<int64_t>>(attr);
  if (list.size() > count) return bad_attr(name, "has too many entries");
  auto full = list;
  full.resize(count, 0);
  return full;
}

std::vector<bool> flags(const std::vector<int64_t>& list) {
  std::vector<bool> out;
  for (int64_t v : list) out.push_back(v != 0);
  return out;
}

struct ScanShape {
  Body body;
  ScanParams params;
  size_t scans = 0, captured = 0;
  std::vector<TensorType> results;
};

Result<ScanShape> scan_shape(const InferContext& context) {
  ScanShape s;
  MRVLC_ASSIGN(s.body, body_of(context, "body"));
  const auto formals = static_cast<size_t>(context.int_attr("formals"));
  if (formals > s.body->inputs().size() || context.num_inputs() != s.body->inputs().size())
    return bad_attr("body", "does not take the inputs of the node");
  MRVLC_ASSIGN(s.params, scan_params(*context.op, *context.attrs, formals));
  s.scans = formals - s.params.states;
  s.captured = s.body->inputs().size() - formals;
  s.results = result_types(*s.body);
  if (s.results.size() < s.params.states) return bad_attr("body", "has too few outputs");
  const size_t outputs = s.results.size() - s.params.states;
  MRVLC_ASSIGN(s.params.output_axes, axes_attr(*context.op, *context.attrs, "scan_output_axes", outputs));
  MRVLC_ASSIGN(auto reversed, axes_attr(*context.op, *context.attrs, "scan_output_directions", outputs));
  s.params.output_reversed = flags(reversed);
  for (size_t i = 0; i < s.scans; ++i) {
    const TensorType& type = context.type(s.params.states + i);
    MRVLC_ASSIGN(s.params.input_axes[i], normalize_axis(s.params.input_axes[i], type.rank()));
  }
  for (size_t i = 0; i < outputs; ++i) {
    const int64_t rank = s.results[s.params.states + i].rank() + 1;
    MRVLC_ASSIGN(s.params.output_axes[i], normalize_axis(s.params.output_axes[i], rank));
  }
  return s;
}

Result<std::vector<TensorType>> infer_scan(const InferContext& context) {
  MRVLC_ASSIGN(ScanShape s, scan_shape(context));
  int64_t trips = 0;
  bool open = false;
  for (size_t i = 0; i < s.scans; ++i) {
    const TensorType& type = context.type(s.params.states + i);
    const int64_t axis = s.params.input_axes[i], n = type.shape[at(axis)];
    if (type.is_open(axis)) {
      open = true;
    } else if (i > 0 && !open && n != trips) {
      return bad_operands("the scanned inputs have different lengths");
    }
    trips = std::max(trips, n);
  }
  std::vector<TensorType> types;
  for (size_t i = 0; i < s.results.size(); ++i) {
    TensorType type = s.results[i];
    if (i < s.params.states) {
      types.push_back(s.body->value(s.body->inputs()[i]).type);
      continue;
    }
    const int64_t axis = s.params.output_axes[i - s.params.states];
    if (type.rank() >= kMaxRank || type.wrapper != Wrapper::None)
      return bad_attr("body", "scans something other than tensors of a rank below 8");
    type.shape.insert(type.shape.begin() + axis, trips);
    const uint32_t low = type.open & ((1u << axis) - 1);
    type.open = low | (type.open >> axis << (axis + 1)) | (open ? 1u << axis : 0u);
    if (type.capacity >= 0) type.capacity = capacity_of(type.capacity, trips);
    types.push_back(std::move(type));
  }
  return types;
}

// Element `i` along the axis.
Tensor slice_at(const Tensor& x, int64_t axis, int64_t i) {
  Shape shape = x.shape();
  const int64_t n = shape[at(axis)];
  const int64_t outer = element_count(Shape(shape.begin(), shape.begin() + axis));
  const int64_t inner = element_count(Shape(shape.begin() + axis + 1, shape.end()));
  shape.erase(shape.begin() + axis);
  Tensor out(TensorType{x.elem(), shape});
  for (int64_t o = 0; o < outer; ++o) {
    if (x.elem() == E::String) {
      std::copy_n(x.string_data().begin() + (o * n + i) * inner, inner,
                  out.mutable_strings().begin() + o * inner);
      continue;
    }
    const auto bytes = at(inner * byte_size(x.elem()));
    if (bytes == 0) continue;
    std::copy_n(x.bytes().data() + at(o * n + i) * bytes, bytes,
                std::as_writable_bytes(out.mutable_data<uint8_t>()).data() + at(o) * bytes);
  }
  return out;
}

Status eval_scan(const EvalContext& context) {
  InferContext view = context.infer_view();
  MRVLC_ASSIGN(ScanShape s, scan_shape(view));
  const size_t first = s.params.states;
  const int64_t trips = context.in(first).shape()[at(s.params.input_axes[0])];
  for (size_t i = 0; i < s.scans; ++i) {
    if (context.in(first + i).shape()[at(s.params.input_axes[i])] != trips)
      return bad_operands("the scanned inputs have different lengths");
  }
  auto states = inputs_from(context, 0, first);
  const auto captured = inputs_from(context, first + s.scans, s.captured);
  std::vector<std::vector<Tensor>> scanned(s.results.size() - first);
  for (int64_t i = 0; i < trips; ++i) {
    auto inputs = states;
    for (size_t k = 0; k < s.scans; ++k) {
      inputs.push_back(slice_at(context.in(first + k), s.params.input_axes[k],
                                s.params.input_reversed[k] ? trips - 1 - i : i));
    }
    inputs.insert(inputs.end(), captured.begin(), captured.end());
    MRVLC_ASSIGN(auto results, context.run(*s.body, inputs));
    std::move(results.begin(), results.begin() + static_cast<ptrdiff_t>(first), states.begin());
    for (size_t k = 0; k < scanned.size(); ++k) scanned[k].push_back(results[first + k]);
  }
  for (size_t i = 0; i < context.outputs->size(); ++i) {
    if (i < first) {
      context.out(i) = std::move(states[i]);
      continue;
    }
    auto& items = scanned[i - first];
    if (s.params.output_reversed[i - first]) std::reverse(items.begin(), items.end());
    MRVLC_ASSIGN(context.out(i), stack(items, s.results[i], s.params.output_axes[i - first]));
  }
  return {};
}

OpDef control_flow(std::string_view name) {
  OpDef d;
  d.name = name;
  d.max_inputs = INT_MAX;  // not variadic: the trip count and the condition of a loop may be left out
  d.min_outputs = 0;
  d.max_outputs = -1;
  d.declined = "accelerator: no jumps; the C of bodies is made by the host code generator";
  return d;
}

ir::AttrSpec formals_attr() {
  return with_int("formals", 0);
}

}  // namespace

Result<ScanParams> scan_params(const ir::OpSchema& op, const std::vector<ir::Attr>& attrs, size_t inputs) {
  ScanParams p;
  const ir::Attr& count = attrs[static_cast<size_t>(op.attr_index("num_scan_inputs"))];
  if (!ir::is_set(count)) return bad_attr("num_scan_inputs", "is required");
  const int64_t scans = std::get<int64_t>(count);
  if (scans < 1 || scans > static_cast<int64_t>(inputs))
    return bad_attr("num_scan_inputs", "is not a number of inputs");
  p.states = inputs - static_cast<size_t>(scans);
  MRVLC_ASSIGN(p.input_axes, axes_attr(op, attrs, "scan_input_axes", static_cast<size_t>(scans)));
  MRVLC_ASSIGN(auto reversed, axes_attr(op, attrs, "scan_input_directions", static_cast<size_t>(scans)));
  p.input_reversed = flags(reversed);
  return p;
}

const OpDef& def_If() {
  static const OpDef def = [] {
    OpDef d = control_flow("If");
    d.attrs = {optional("then_branch", ir::AttrKind::Graph), optional("else_branch", ir::AttrKind::Graph)};
    d.infer = d.infer_open = infer_if;
    d.eval = eval_if;
    return d;
  }();
  return def;
}

const OpDef& def_Loop() {
  static const OpDef def = [] {
    OpDef d = control_flow("Loop");
    d.attrs = {optional("body", ir::AttrKind::Graph), formals_attr()};
    d.min_inputs = 0;
    d.infer = d.infer_open = infer_loop;
    d.eval = eval_loop;
    return d;
  }();
  return def;
}

const OpDef& def_Scan() {
  static const OpDef def = [] {
    OpDef d = control_flow("Scan");
    d.since_min = 9;
    d.attrs = {optional("body", ir::AttrKind::Graph),
               optional("num_scan_inputs", ir::AttrKind::Int),
               optional("scan_input_axes", ir::AttrKind::Ints),
               optional("scan_input_directions", ir::AttrKind::Ints),
               optional("scan_output_axes", ir::AttrKind::Ints),
               optional("scan_output_directions", ir::AttrKind::Ints),
               formals_attr()};
    d.infer = d.infer_open = infer_scan;
    d.eval = eval_scan;
    return d;
  }();
  return def;
}

}  // namespace mrvlc::ops
