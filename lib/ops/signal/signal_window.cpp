// HannWindow, HammingWindow and BlackmanWindow (ONNX -17): sums of cosines.
#include <cmath>

#include "common/dims.h"
#include "mrvlc/ops/op_kind.h"
#include "signal/fft.h"

namespace mrvlc::ops {
namespace {

using namespace spec;

// w[i] = a - b cos(turn i / period) + c cos(2 turn i / period)
struct Cosines {
  double a, b, c;
};

const Cosines& cosines(const ir::OpSchema& op) {
  static constexpr Cosines kHann{0.5, 0.5, 0}, kHamming{25.0 / 46, 21.0 / 46, 0}, kBlackman{0.42, 0.5, 0.08};
  return op.kind == Op::HannWindow ? kHann : op.kind == Op::HammingWindow ? kHamming : kBlackman;
}

Result<ElementType> window_elem(const InferContext& context) {
  ElementType elem = std::get<ElementType>(context.attr("output_datatype"));
  if (!kNumeric.has(elem)) return bad_attr("output_datatype", fmt::format("is {}", name(elem)));
  if (context.type(0).elements() != 1) return bad_operands("size must be one number");
  return elem;
}

Result<std::vector<TensorType>> infer_window(const InferContext& context) {
  MRVLC_ASSIGN(ElementType elem, window_elem(context));
  MRVLC_ASSIGN(int64_t size, known_int(context, 0, "size"));
  MRVLC_TRY(check_dim(size, "the window"));
  return one_type(elem, {size});
}

Result<std::vector<TensorType>> infer_window_dynamic(const InferContext& context) {
  MRVLC_ASSIGN(ElementType elem, window_elem(context));
  TensorType type{elem, {kNoBound}};
  type.dynamic = 1;
  return std::vector<TensorType>{type};
}

Status eval_window(const EvalContext& context) {
  const Cosines& w = cosines(*context.op);
  int64_t size = context.out().elements();
  bool periodic = context.infer_view().int_attr("periodic") != 0;
  for (int64_t i = 0; i < size; ++i) {
    double angle = kTurn * static_cast<double>(i) / static_cast<double>(periodic ? size : size - 1);
    context.out().set_double(i, w.a - w.b * std::cos(angle) + w.c * std::cos(2 * angle));
  }
  return {};
}

Status emit_window(EmitContext& context) {
  context.set_dims(0, {int_operand(context, 0)});
  ElementType elem = context.out_type(0).elem;
  MRVLC_TRY(require_widened_result(context));
  const Cosines& w = cosines(*context.node().op);
  auto number = [](double v) { return c_literal(v, E::F64); };
  context.line(fmt::format("const ptrdiff_t n = {};", dim_text(context.out_dim(0, 0))));
  context.open("for (ptrdiff_t i = 0; i < n; ++i)");
  context.line(fmt::format("const double angle = {} * (double)i / (double)(n{});", number(kTurn),
                           context.node().int_attr("periodic") != 0 ? "" : " - 1"));
  std::string third = w.c == 0 ? "" : fmt::format(" + {} * cos(2 * angle)", number(w.c));
  context.line(fmt::format("{}[i] = ({})({} - {} * cos(angle){});", context.out(0), c_type(elem), number(w.a),
                           number(w.b), third));
  context.close();
  return {};
}

OpDef window_def(std::string_view name) {
  OpDef d;
  d.name = name;
  d.since_min = 17;
  d.attrs = {{"output_datatype", ir::AttrKind::Type, ir::Attr(E::F32), false}, with_int("periodic", 1)};
  d.types = kIndices;
  d.infer = infer_window;
  d.infer_dynamic = infer_window_dynamic;
  d.eval = eval_window;
  d.emit = d.emit_dynamic = emit_window;
  d.declined = "computed at compile time, or on the host";
  return d;
}

}  // namespace

const OpDef& def_BlackmanWindow() {
  static const OpDef def = window_def("BlackmanWindow");
  return def;
}

const OpDef& def_HammingWindow() {
  static const OpDef def = window_def("HammingWindow");
  return def;
}

const OpDef& def_HannWindow() {
  static const OpDef def = window_def("HannWindow");
  return def;
}

}  // namespace mrvlc::ops
