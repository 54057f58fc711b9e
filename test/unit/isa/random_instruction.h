// Instructions with every field drawn at random within what an encoding can hold.
#pragma once
#include <random>

#include "mrvlc/isa/isa.h"

namespace mrvlc::isa {

class RandomInstruction {
 public:
  explicit RandomInstruction(uint32_t seed) : rng_(seed) {}

  Instruction operator()() {
    Instruction i;
    i.tile = static_cast<uint8_t>(below(8));
    i.waits.resize(below(kMaxWaits + 1));
    for (Wait& w : i.waits) w = {static_cast<uint8_t>(below(8)), static_cast<Queue>(below(4)), u32()};
    switch (below(6)) {
      case 0:
        i.queue = static_cast<Queue>(below(4));
        break;
      case 1:
        i.queue = below(2) == 0 ? Queue::DmaIn : Queue::DmaOut, i.body = dma(i.queue);
        break;
      case 2:
        i.queue = Queue::Pod, i.body = conv();
        break;
      case 3:
        i.queue = Queue::Pe, i.body = elementwise();
        break;
      case 4:
        i.queue = Queue::Pe, i.body = reduce();
        break;
      default:
        i.queue = Queue::Pe, i.body = pool();
        break;
    }
    return i;
  }
  uint32_t below(uint32_t n) { return static_cast<uint32_t>(rng_() % n); }

 private:
  uint32_t u32() { return static_cast<uint32_t>(rng_()); }
  int32_t i32() { return static_cast<int32_t>(u32()); }
  float f32() { return static_cast<float>(i32()) / 4096.0f; }
  Epilogue epilogue(DataType of) {
    return {static_cast<Activation>(below(is_integer(of) ? 8 : 7)), f32(), f32(), u32()};
  }
  DataType type() { return static_cast<DataType>(below(5)); }
  int16_t zero(DataType of) {
    return is_integer(of)
               ? static_cast<int16_t>(static_cast<int>(below(256)) - (of == DataType::I8 ? 128 : 0))
               : int16_t{0};
  }
  Quantization quantization(DataType of) {
    if (!is_integer(of)) return {};
    return {zero(of), static_cast<float>(1 + below(1000)) / 512.0f};
  }

  Operand operand() {
    Operand o{u32(), type(), {}};
    for (auto& s : o.strides) s = i32();
    o.quantization = quantization(o.type);
    return o;
  }

  Dma dma(Queue queue) {
    Dma d;
    bool out_to_ddr = queue == Queue::DmaOut && below(2) == 0;
    d.src_space = queue == Queue::DmaIn ? Space::Ddr : Space::Ocm;
    d.dst_space = out_to_ddr ? Space::Ddr : Space::Ocm;
    d.dst_tiles = out_to_ddr ? uint8_t{0} : static_cast<uint8_t>(1 + below(255));
    d.src = rng_(), d.dst = rng_(), d.run_bytes = u32();
    for (size_t k = 0; k < 3; ++k)
      d.dims[k] = u32(), d.src_strides[k] = static_cast<int64_t>(rng_()),
      d.dst_strides[k] = static_cast<int64_t>(rng_());
    return d;
  }

  template <class C>
  void window(C& c) {
    c.x = u32(), c.x_row = u32(), c.x_col = u32(), c.in_h = u32(), c.in_w = u32(), c.y0 = i32(), c.x0 = i32();
    c.kernel_h = u32(), c.kernel_w = u32(), c.stride_h = u32(), c.stride_w = u32();
    c.dilation_h = u32(), c.dilation_w = u32(), c.channels = u32();
    c.out_h = u32(), c.out_w = u32(), c.out = u32(), c.out_row = u32(), c.out_col = u32();
  }

  Conv conv() {
    Conv c;
    window(c);
    c.depthwise = below(2) == 0, c.first = below(2) == 0, c.last = below(2) == 0;
    c.out_type = type();
    c.out_quantization = quantization(c.out_type);
    c.epilogue = epilogue(c.out_type);
    if (below(2) == 0) {
      c.x_type = below(2) == 0 ? DataType::I8 : DataType::U8,
      c.w_type = below(2) == 0 ? DataType::I8 : DataType::U8;
      c.x_zero = zero(c.x_type), c.w_zero = zero(c.w_type), c.scales = u32();
    }
    c.w = u32(), c.w_k = u32(), c.w_n = u32(), c.w_block = u32(), c.out_channels = u32(),
    c.out_channel = u32();
    c.bias = u32(), c.residual = u32(), c.residual_row = u32(), c.residual_col = u32();
    return c;
  }

  Elementwise elementwise() {
    Elementwise e{static_cast<EwOp>(below(20)), f32(), f32(), {}, operand(), operand(), operand(), {}};
    e.epilogue = epilogue(e.dst.type);
    for (auto& d : e.dims) d = u32();
    return e;
  }

  Reduce reduce() {
    Reduce r{static_cast<ReduceOp>(below(5)), f32(), f32(), {}, operand(), operand(), {}};
    r.epilogue = epilogue(r.dst.type);
    for (auto& d : r.dims) d = u32();
    return r;
  }

  Pool pool() {
    Pool p;
    window(p);
    p.op = static_cast<PoolOp>(below(3)), p.alpha = f32();
    p.x_type = type(), p.out_type = type();
    p.x_quantization = quantization(p.x_type), p.out_quantization = quantization(p.out_type);
    p.epilogue = epilogue(p.out_type);
    return p;
  }

  std::mt19937_64 rng_;
};

}  // namespace mrvlc::isa
