// Which fields the records of primitives have: one description, for writing and for reading.
#pragma once
#include "text/fields.h"

namespace mrvlc::accel {

inline constexpr const char* kBufferKinds[] = {"weights", "input", "output", "scratch"};
inline constexpr const char* kWindowKinds[] = {"conv", "depthwise", "pool"};

template <class F, class B>
void buffer_fields(F& f, B& b) {
  f.number("bytes", b.bytes, int64_t{0});
  f.number("pitch", b.pitch, int64_t{1});
  f.number("rows", b.rows, int64_t{1});
  f.number("grain", b.grain, int64_t{1});
  f.number("ddr", b.ddr, int64_t{0});
}

template <class F, class Op>
void window_fields(F& f, Op& op) {
  f.number("layer", op.owner.layer, uint32_t{0});
  f.number("groups", op.groups, int64_t{1});
  f.number("group_in", op.group_in, int64_t{1});
  f.number("group_out", op.group_out, int64_t{1});
  f.two("stride", op.stride_h, op.stride_w, 1);
  f.two("dilation", op.dilation_h, op.dilation_w, 1);
  f.two("lattice", op.lattice_h, op.lattice_w, 1);
  f.number("grain", op.grain, int64_t{1});
  f.number("alpha", op.pool_alpha, 1.0F);
  f.number("bias", op.bias, int64_t{-1});
}

// WindowOp::integers, flat.
struct IntegerFields {
  IntegerFields() = default;
  explicit IntegerFields(const WindowOp& op) {
    if (!op.integers) return;
    const WindowOp::Integers& i = *op.integers;
    scales = i.scales, x_zero = i.x_zero, w_zero = i.w_zero;
    unsigned_weights = i.w_type == isa::DataType::U8;
  }
  std::optional<WindowOp::Integers> integers() const {
    if (scales < 0) return std::nullopt;
    return WindowOp::Integers{unsigned_weights ? isa::DataType::U8 : isa::DataType::I8,
                              static_cast<int16_t>(x_zero), static_cast<int16_t>(w_zero), scales};
  }
  int64_t scales = -1, x_zero = 0, w_zero = 0;
  bool unsigned_weights = false;
};

template <class F, class I>
void integer_fields(F& f, I&& i) {
  f.number("scales", i.scales, int64_t{-1});
  f.number("x_zero", i.x_zero, int64_t{0});
  f.number("w_zero", i.w_zero, int64_t{0});
  f.flag("unsigned_weights", i.unsigned_weights);
}

template <class F, class P>
void phase_fields(F& f, P& p) {
  f.two("kernel", p.kernel_h, p.kernel_w, 1);
  f.two("at", p.y0, p.x0, 0);
  f.two("first", p.first_h, p.first_w, 0);
  f.number("weights", p.weights, int64_t{0});
}

template <class F, class R>
void result_fields(F& f, R& r) {
  f.list("steps", r.steps, {});
  f.number("origin", r.origin, int64_t{0});
  f.number("rows", r.rows, int64_t{0});
  f.number("grain", r.grain, int64_t{1});
}

}  // namespace mrvlc::accel
