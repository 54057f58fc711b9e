// The bodies of all instructions as one sequence of fields each, walked by the encoder and by the decoder
// alike, so that the two cannot disagree. Offsets in docs/isa.md are those this order gives.
#pragma once
#include "mrvlc/isa/isa.h"

namespace mrvlc::isa::detail {

inline constexpr size_t kHeaderBytes = 16, kWaitBytes = 8;
inline constexpr size_t kBodyOffset = kHeaderBytes + kMaxWaits * kWaitBytes;  // 64

template <class Io, class T>
void array(Io& io, T& values) {
  for (auto& v : values) io.number(v);
}

template <class Io, class E>
void epilogue(Io& io, E& e) {
  io.enumeration(e.activation, Activation::Bytes, "activation");
  io.reserved(3);
  io.number(e.alpha);
  io.number(e.beta);
  io.number(e.table);
}

template <class Io, class O>
void operand(Io& io, O& o) {
  io.number(o.address);
  io.enumeration(o.type, DataType::U8, "operand type");
  io.reserved(1);
  io.number(o.quantization.zero);
  array(io, o.strides);
}

template <class Io, class D>
void dma(Io& io, D& d) {
  io.enumeration(d.src_space, Space::Ocm, "source space");
  io.enumeration(d.dst_space, Space::Ocm, "destination space");
  io.number(d.dst_tiles);
  io.reserved(1);
  io.number(d.run_bytes);
  io.number(d.src);
  io.number(d.dst);
  array(io, d.dims);
  io.reserved(4);
  array(io, d.src_strides);
  array(io, d.dst_strides);
}

// Input view, window and size of Conv, Depthwise and Pool.
template <class Io, class C>
void window(Io& io, C& c) {
  io.number(c.x);
  io.number(c.x_row);
  io.number(c.x_col);
  io.number(c.in_h);
  io.number(c.in_w);
  io.number(c.y0);
  io.number(c.x0);
  io.number(c.kernel_h);
  io.number(c.kernel_w);
  io.number(c.stride_h);
  io.number(c.stride_w);
  io.number(c.dilation_h);
  io.number(c.dilation_w);
  io.number(c.channels);
  io.number(c.out_h);
  io.number(c.out_w);
  io.number(c.out);
  io.number(c.out_row);
  io.number(c.out_col);
}

template <class Io, class C>
void conv(Io& io, C& c) {
  io.enumeration(c.out_type, DataType::U8, "output type");
  io.enumeration(c.x_type, DataType::U8, "input type");
  io.enumeration(c.w_type, DataType::U8, "weight type");
  io.reserved(1);
  window(io, c);
  io.number(c.out_channel);
  io.number(c.out_channels);
  io.number(c.w);
  io.number(c.w_k);
  io.number(c.w_n);
  io.number(c.w_block);
  io.number(c.bias);
  io.number(c.residual);
  io.number(c.residual_row);
  io.number(c.residual_col);
  epilogue(io, c.epilogue);
  io.number(c.x_zero);
  io.number(c.w_zero);
  io.number(c.out_quantization.zero);
  io.reserved(2);
  io.number(c.out_quantization.scale);
  io.number(c.scales);
}

template <class Io, class E>
void elementwise(Io& io, E& e) {
  io.enumeration(e.op, EwOp::Select, "element-wise operation");
  io.reserved(3);
  io.number(e.alpha);
  io.number(e.beta);
  array(io, e.dims);
  operand(io, e.dst);
  operand(io, e.a);
  operand(io, e.b);
  epilogue(io, e.epilogue);
  io.number(e.dst.quantization.scale);
  io.number(e.a.quantization.scale);
  io.number(e.b.quantization.scale);
}

template <class Io, class R>
void reduce(Io& io, R& r) {
  io.enumeration(r.op, ReduceOp::Prod, "reduction");
  io.reserved(3);
  io.number(r.alpha);
  io.number(r.beta);
  array(io, r.dims);
  operand(io, r.dst);
  operand(io, r.a);
  epilogue(io, r.epilogue);
  io.number(r.dst.quantization.scale);
  io.number(r.a.quantization.scale);
}

template <class Io, class P>
void pool(Io& io, P& p) {
  io.enumeration(p.op, PoolOp::AverageFixed, "pooling");
  io.enumeration(p.x_type, DataType::U8, "input type");
  io.enumeration(p.out_type, DataType::U8, "output type");
  io.reserved(1);
  io.number(p.alpha);
  window(io, p);
  epilogue(io, p.epilogue);
  io.number(p.x_quantization.zero);
  io.number(p.out_quantization.zero);
  io.number(p.x_quantization.scale);
  io.number(p.out_quantization.scale);
}

}  // namespace mrvlc::isa::detail
