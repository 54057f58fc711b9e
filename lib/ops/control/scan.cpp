// Scan (ONNX Scan-11). That of opset 8 is rewritten by the importer.
#include <algorithm>

#include "common/slices.h"
#include "control/body.h"
#include "mrvlc/ops/control_flow.h"
#include "mrvlc/ops/dynamic_shapes.h"

namespace mrvlc::ops {

using namespace spec;

namespace {

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

// Axes within the ranks, and those of the outputs.
Status settle_axes(const InferContext& context, ScanShape& s) {
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
  return {};
}

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
  MRVLC_TRY(settle_axes(context, s));
  return s;
}

struct ScanLength {
  int64_t rounds = 0;
  bool dynamic = false;
};

Result<ScanLength> scan_length(const InferContext& context, const ScanShape& s) {
  ScanLength length;
  for (size_t i = 0; i < s.scans; ++i) {
    const TensorType& type = context.type(s.params.states + i);
    const int64_t axis = s.params.input_axes[i], n = type.shape[at(axis)];
    if (type.is_dynamic(axis)) {
      length.dynamic = true;
    } else if (i > 0 && !length.dynamic && n != length.rounds) {
      return bad_operands("the scanned inputs have different lengths");
    }
    length.rounds = std::max(length.rounds, n);
  }
  return length;
}

Result<std::vector<TensorType>> infer_scan(const InferContext& context) {
  MRVLC_ASSIGN(ScanShape s, scan_shape(context));
  MRVLC_ASSIGN(ScanLength length, scan_length(context, s));
  std::vector<TensorType> types;
  for (size_t i = 0; i < s.results.size(); ++i) {
    const TensorType& type = s.results[i];
    if (i < s.params.states) {
      types.push_back(s.body->value(s.body->inputs()[i]).type);
      continue;
    }
    if (type.rank() >= kMaxRank || type.wrapper != Wrapper::None)
      return bad_attr("body", "scans something other than tensors of a rank below 8");
    const int64_t axis = s.params.output_axes[i - s.params.states];
    types.push_back(scanned_type(type, axis, length.rounds, length.dynamic));
  }
  return types;
}

// What the body sees of the k-th scanned input in a round.
Tensor slice_of(const EvalContext& context, const ScanShape& s, size_t k, int64_t round) {
  const Tensor& x = context.in(s.params.states + k);
  const int64_t axis = s.params.input_axes[k];
  Shape shape = x.shape();
  const int64_t place = s.params.input_reversed[k] ? shape[at(axis)] - 1 - round : round;
  shape.erase(shape.begin() + axis);
  return cut_out(x, axis, place, 1).reshaped(shape);
}

Status eval_scan(const EvalContext& context) {
  InferContext view = context.infer_view();
  MRVLC_ASSIGN(ScanShape s, scan_shape(view));
  MRVLC_ASSIGN(ScanLength length, scan_length(view, s));
  const size_t first = s.params.states;
  const auto captured = inputs_from(context, first + s.scans, s.captured);
  Rounds rounds{inputs_from(context, 0, first), {}};
  rounds.scanned.resize(s.results.size() - first);
  for (int64_t i = 0; i < length.rounds; ++i) {
    auto inputs = rounds.states;
    for (size_t k = 0; k < s.scans; ++k) inputs.push_back(slice_of(context, s, k, i));
    inputs.insert(inputs.end(), captured.begin(), captured.end());
    MRVLC_ASSIGN(auto results, context.run(*s.body, inputs));
    rounds.take(std::move(results), 0);
  }
  for (size_t k = 0; k < rounds.scanned.size(); ++k) {
    if (s.params.output_reversed[k]) std::reverse(rounds.scanned[k].begin(), rounds.scanned[k].end());
  }
  return rounds.give(context, std::span(s.results).subspan(first), s.params.output_axes);
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

const OpDef& def_Scan() {
  static const OpDef def = [] {
    OpDef d = control_flow_def("Scan");
    d.since_min = 8;
    d.attrs = {optional("body", ir::AttrKind::Graph),
               optional("num_scan_inputs", ir::AttrKind::Int),
               optional("scan_input_axes", ir::AttrKind::Ints),
               optional("scan_input_directions", ir::AttrKind::Ints),
               optional("scan_output_axes", ir::AttrKind::Ints),
               optional("scan_output_directions", ir::AttrKind::Ints),
               formals_attr()};
    d.infer = d.infer_dynamic = infer_scan;
    d.eval = eval_scan;
    d.traits = {.data_dependent_shape = true};
    return d;
  }();
  return def;
}

}  // namespace mrvlc::ops
