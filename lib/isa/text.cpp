// Instructions as text, for `mrvlc disasm` and the stages' texts.
#include <fmt/ranges.h>

#include "mrvlc/isa/isa.h"
#include "mrvlc/isa/names.h"

namespace mrvlc::isa {
namespace {

constexpr const char* kQueueNames[] = {"dmain", "dmaout", "pod", "pe"};

template <class E, size_t N>
const char* name(const char* const (&names)[N], E e) {
  auto i = static_cast<size_t>(e);
  return i < N ? names[i] : "?";
}

std::string epilogue(const Epilogue& e) {
  if (e.activation == Activation::None) return {};
  if (e.activation == Activation::Relu) return " act=relu";
  if (table_bytes(e.activation) > 0)
    return fmt::format(" act={}@{:#x}", name(kActivationNames, e.activation), e.table);
  return fmt::format(" act={}({}, {})", name(kActivationNames, e.activation), e.alpha, e.beta);
}

// "i8(-3, 0.5)": zero point and scale of integers.
std::string type(DataType t, const Quantization& q) {
  if (!is_integer(t)) return name(kTypeNames, t);
  return fmt::format("{}({}, {})", name(kTypeNames, t), q.zero, q.scale);
}

std::string operand(const char* role, const Operand& o) {
  return fmt::format(" {}={:#x}:{}[{}]", role, o.address, type(o.type, o.quantization),
                     fmt::join(o.strides, ","));
}

template <class C>
std::string window(const C& c) {
  return fmt::format(" x={:#x}[{},{}] in={}x{} at={},{} k={}x{} s={}x{} d={}x{}", c.x, c.x_row, c.x_col,
                     c.in_h, c.in_w, c.y0, c.x0, c.kernel_h, c.kernel_w, c.stride_h, c.stride_w, c.dilation_h,
                     c.dilation_w);
}

struct Body {
  std::string operator()(const Sync&) const { return "sync"; }

  std::string operator()(const Dma& d) const {
    std::string to = d.dst_space == Space::Ddr ? "ddr" : "ocm(";
    for (unsigned t = 0, n = 0; d.dst_space == Space::Ocm && t < kMaxTiles; ++t)
      if ((d.dst_tiles >> t & 1) != 0) to += fmt::format("{}{}", n++ == 0 ? "" : ",", t);
    if (d.dst_space == Space::Ocm) to += ")";
    return fmt::format("dma {}:{:#x}[{}] -> {}:{:#x}[{}] dims={} run={}",
                       d.src_space == Space::Ddr ? "ddr" : "ocm", d.src, fmt::join(d.src_strides, ","), to,
                       d.dst, fmt::join(d.dst_strides, ","), fmt::join(d.dims, "x"), d.run_bytes);
  }

  std::string operator()(const Conv& c) const {
    std::string s = c.depthwise ? "depthwise" : "conv";
    s += window(c);
    s += fmt::format(" c={} w={:#x}[{},{},{}] out={:#x}:{}[{},{},{}] {}x{}x{}", c.channels, c.w, c.w_block,
                     c.w_k, c.w_n, c.out, type(c.out_type, c.out_quantization), c.out_row, c.out_col,
                     c.out_channel, c.out_h, c.out_w, c.out_channels);
    if (!c.first) s += " accumulate";
    if (!c.last) s += " keep";
    if (c.of_integers())
      s += fmt::format(" x:{}({}) w:{}({}) scales={:#x}", name(kTypeNames, c.x_type), c.x_zero,
                       name(kTypeNames, c.w_type), c.w_zero, c.scales);
    if (c.bias != kNoAddress) s += fmt::format(" bias={:#x}", c.bias);
    if (c.residual != kNoAddress)
      s += fmt::format(" residual={:#x}[{},{}]", c.residual, c.residual_row, c.residual_col);
    return s + epilogue(c.epilogue);
  }

  std::string operator()(const Elementwise& e) const {
    std::string s =
        fmt::format("ew.{} {}{}", name(kEwNames, e.op), fmt::join(e.dims, "x"), operand("dst", e.dst));
    if (operand_count(e.op) >= 1) s += operand("a", e.a);
    if (operand_count(e.op) >= 2) s += operand("b", e.b);
    if (e.alpha != 0 || e.beta != 0) s += fmt::format(" alpha={} beta={}", e.alpha, e.beta);
    return s + epilogue(e.epilogue);
  }

  std::string operator()(const Reduce& r) const {
    return fmt::format("reduce.{} {}{}{} alpha={} beta={}{}", name(kReduceNames, r.op),
                       fmt::join(r.dims, "x"), operand("dst", r.dst), operand("a", r.a), r.alpha, r.beta,
                       epilogue(r.epilogue));
  }

  std::string operator()(const Pool& p) const {
    std::string s =
        fmt::format("pool.{}{} out={:#x}[{},{}] {}x{}x{} alpha={}", name(kPoolNames, p.op), window(p), p.out,
                    p.out_row, p.out_col, p.out_h, p.out_w, p.channels, p.alpha);
    if (is_integer(p.x_type)) s += " x:" + type(p.x_type, p.x_quantization);
    if (is_integer(p.out_type)) s += " out:" + type(p.out_type, p.out_quantization);
    return s + epilogue(p.epilogue);
  }
};

}  // namespace

std::string to_text(const Instruction& instruction) {
  std::string s = fmt::format("t{}.{:<6} {}", instruction.tile, name(kQueueNames, instruction.queue),
                              std::visit(Body{}, instruction.body));
  const char* separator = " wait ";
  for (const Wait& w : instruction.waits) {
    s += fmt::format("{}t{}.{}>={}", separator, w.tile, name(kQueueNames, w.queue), w.count);
    separator = ", ";
  }
  return s;
}

}  // namespace mrvlc::isa
