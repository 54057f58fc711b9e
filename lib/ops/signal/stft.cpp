// STFT (ONNX STFT-17): Fourier transforms of overlapping frames of a signal.
#include <algorithm>

#include "common/dims.h"
#include "signal/fft.h"

namespace mrvlc::ops {
namespace {

using namespace spec;

struct StftForm {
  bool onesided = true;
  int64_t parts = 1;  // 1 real, 2 complex
};

Result<StftForm> stft_form(const InferContext& context) {
  // ONNX has [batch, length, 1 or 2]; exporters write real signals as [batch, length].
  MRVLC_TRY(check_rank(context, 0, 2, 3));
  const bool has_parts = context.type(0).rank() == 3;
  StftForm f{context.int_attr("onesided") != 0, has_parts ? context.type(0).shape[2] : 1};
  if ((f.parts != 1 && f.parts != 2) || (has_parts && context.type(0).is_dynamic(2)))
    return bad_operands("the last dimension must be 1 (real) or 2 (complex)");
  if (f.onesided && f.parts == 2) return bad_attr("onesided", "is set for complex data");
  if (!context.has(2) && !context.has(3)) return bad_operands("neither window nor frame_length is given");
  MRVLC_TRY(check_elem(context, 1, kIndices));
  if (context.type(1).elements() != 1) return bad_operands("frame_step must be one number");
  if (context.has(2)) {
    MRVLC_TRY(check_rank(context, 2, 1, 1));
    MRVLC_TRY(check_same_elem(context, 2));
  }
  if (context.has(3)) {
    MRVLC_TRY(check_elem(context, 3, kIndices));
    if (context.type(3).elements() != 1) return bad_operands("frame_length must be one number");
  }
  return f;
}

struct StftSizes {
  int64_t batch = 0, signal = 0, step = 1, length = 0, frames = 0, bins = 0;
};

Result<StftSizes> stft_sizes(const InferContext& context, const StftForm& form) {
  StftSizes s;
  s.batch = context.type(0).shape[0];
  s.signal = context.type(0).shape[1];
  MRVLC_ASSIGN(s.step, known_int(context, 1, "frame_step"));
  if (context.has(3)) {
    MRVLC_ASSIGN(s.length, known_int(context, 3, "frame_length"));
  }
  if (context.has(2)) {
    int64_t window = context.type(2).shape[0];
    if (context.has(3) && window != s.length)
      return bad_operands(fmt::format("a window of {} for frames of {}", window, s.length));
    s.length = window;
  }
  if (s.step < 1) return bad_operands(fmt::format("a frame_step of {}", s.step));
  if (s.length < 1 || s.length > s.signal)
    return bad_operands(fmt::format("frames of {} in a signal of {}", s.length, s.signal));
  s.frames = (s.signal - s.length) / s.step + 1;
  s.bins = form.onesided ? s.length / 2 + 1 : s.length;
  return s;
}

Result<std::vector<TensorType>> infer_stft(const InferContext& context) {
  MRVLC_ASSIGN(StftForm form, stft_form(context));
  MRVLC_ASSIGN(StftSizes s, stft_sizes(context, form));
  return one_type(context.type(0).elem, {s.batch, s.frames, s.bins, 2});
}

// There are no more frames than samples, and no longer ones.
Result<std::vector<TensorType>> infer_stft_dynamic(const InferContext& context) {
  MRVLC_ASSIGN(StftForm form, stft_form(context));
  const TensorType& x = context.type(0);
  TensorType type{x.elem, {x.shape[0], x.shape[1], x.shape[1], 2}};
  type.dynamic = (x.dynamic & 1u) | 6u;
  if (context.has(2)) {
    type.shape[2] = context.type(2).shape[0];
    if (context.type(2).dynamic == 0) type.dynamic &= ~4u;
  } else if (context.constant(3) != nullptr) {
    MRVLC_ASSIGN(type.shape[2], known_int(context, 3, "frame_length"));
    if (type.shape[2] < 1) return bad_operands(fmt::format("frames of {}", type.shape[2]));
    type.dynamic &= ~4u;
  }
  if (form.onesided && type.shape[2] != kNoBound) type.shape[2] = type.shape[2] / 2 + 1;
  return std::vector<TensorType>{type};
}

Status eval_stft(const EvalContext& context) {
  InferContext view = context.infer_view();
  MRVLC_ASSIGN(StftForm form, stft_form(view));
  MRVLC_ASSIGN(StftSizes s, stft_sizes(view, form));
  if (context.out().elements() == 0) return {};
  std::vector<double> a(at(2 * s.length)), b(a.size()), w = fft_twiddles(s.length, false);
  for (int64_t f = 0; f < s.batch * s.frames; ++f) {
    int64_t first = f / s.frames * s.signal + f % s.frames * s.step;
    for (int64_t k = 0; k < s.length; ++k) {
      double scale = context.has(2) ? context.in(2).as_double(k) : 1;
      a[at(2 * k)] = context.in(0).as_double((first + k) * form.parts) * scale;
      a[at(2 * k + 1)] = form.parts == 2 ? context.in(0).as_double((first + k) * 2 + 1) * scale : 0;
    }
    fft(a, b, w);
    for (int64_t i = 0; i < 2 * s.bins; ++i) context.out().set_double(f * s.bins * 2 + i, a[at(i)]);
  }
  return {};
}

// Reads the variables batch, signal, step, n, frames and bins.
void emit_frames(EmitContext& context, const StftForm& form, const FftCode& code) {
  std::string_view type = c_type(code.elem);
  emit_fft_start(context, code);
  context.open("for (ptrdiff_t f = 0; f < batch * frames; ++f)");
  context.line(fmt::format("const {}* x = {} + (f / frames * signal + f % frames * step) * {};", type,
                           context.in(0), form.parts));
  std::string scale = context.has(2) ? fmt::format(" * {}[k]", context.in(2)) : "";
  context.open("for (ptrdiff_t k = 0; k < n; ++k)");
  if (form.parts == 2) {
    context.line(fmt::format("a[2 * k] = x[2 * k]{};", scale));
    context.line(fmt::format("a[2 * k + 1] = x[2 * k + 1]{};", scale));
  } else {
    context.line(fmt::format("a[2 * k] = x[k]{};", scale));
    context.line("a[2 * k + 1] = 0;");
  }
  context.close();
  emit_fft(context, code);
  context.line(fmt::format("memcpy({} + f * bins * 2, a, (size_t)bins * 2 * sizeof *a);", context.out(0)));
  context.close();
}

Result<FftCode> declare_known(EmitContext& context, const StftForm& form) {
  MRVLC_ASSIGN(StftSizes s, stft_sizes(emit_view(context), form));
  context.line(
      fmt::format("const ptrdiff_t batch = {}, signal = {}, step = {}, n = {}, frames = {}, bins = {};",
                  s.batch, s.signal, s.step, s.length, s.frames, s.bins));
  return FftCode{context.in_type(0).elem, s.length, s.length, false};
}

// From sizes and operands when it runs.
FftCode declare_read(EmitContext& context, const StftForm& form) {
  std::string length = context.has(3) ? int_operand(context, 3) : context.in_dim(2, 0),
              step = int_operand(context, 1);
  if (context.has(2) && context.has(3)) require_equal(context, length, context.in_dim(2, 0));
  Texts x = in_sizes(context, 0);
  context.fail_if(fmt::format("{0} < 1 || {1} < 1 || {1} > {2}", step, length, x[1]));
  context.line(
      fmt::format("const ptrdiff_t batch = {0}, signal = {1}, n = (ptrdiff_t){2};", x[0], x[1], length));
  context.line(fmt::format("const ptrdiff_t step = (ptrdiff_t)({0} < {1} ? {0} : {1});", step, x[1]));
  context.line(fmt::format("const ptrdiff_t frames = (signal - n) / step + 1, bins = {};",
                           form.onesided ? "n / 2 + 1" : "n"));
  context.set_dims(0, {"batch", "frames", "bins", "2"});
  int64_t bins = context.out_type(0).shape[2];
  return {context.in_type(0).elem, -1, form.onesided ? 2 * bins - 1 : bins, false};
}

Status emit_stft(EmitContext& context) {
  MRVLC_TRY(require_widened(context));
  MRVLC_ASSIGN(StftForm form, stft_form(emit_view(context)));
  if (is_dynamic(context)) {
    const FftCode code = declare_read(context, form);
    emit_frames(context, form, code);
    return {};
  }
  if (context.out_type(0).elements() == 0) return {};
  MRVLC_ASSIGN(const FftCode code, declare_known(context, form));
  emit_frames(context, form, code);
  return {};
}

}  // namespace

const OpDef& def_STFT() {
  static const OpDef def = [] {
    OpDef d;
    d.name = "STFT";
    d.since_min = 17;
    d.attrs = {with_int("onesided", 1)};
    d.min_inputs = 2;
    d.max_inputs = 4;
    d.types = kFloats;
    d.infer = infer_stft;
    d.infer_dynamic = infer_stft_dynamic;
    d.eval = eval_stft;
    d.emit = d.emit_dynamic = emit_stft;
    d.declined = "the accelerator has no Fourier transform";
    return d;
  }();
  return def;
}

}  // namespace mrvlc::ops
