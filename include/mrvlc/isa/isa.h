// The instruction set of the accelerator, decoded form. docs/isa.md is the reference; this header is its
// mirror in code.
//
// A machine has up to 8 tiles. A tile has 1 MiB of on-chip memory (OCM), a matrix unit (POD), a vector unit
// (PE) and two DMA engines. Each of the four engines has one queue, worked off in order; all queues of all
// tiles run concurrently.
//
// A program section is ONE list of instructions. Its order defines its meaning: the result is that of
// executing the list from the first to the last. Hardware overlaps instructions of different queues as far as
// waits allow, so every pair of instructions that conflicts (touches the same 16-byte granule of a memory, at
// least one writing) must be ordered: by standing in the same queue, or by a chain of waits. A conflict that
// is not ordered is a hazard, an error.
//
// Synchronisation: every queue has a semaphore that counts its completed instructions since the section
// began. An instruction names up to six (tile, queue, count) waits and starts when all those semaphores have
// reached their counts.
#pragma once
#include <array>
#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <variant>
#include <vector>

#include "mrvlc/support/result.h"

namespace mrvlc::isa {

inline constexpr size_t kInstructionBytes = 256;
inline constexpr size_t kMaxWaits = 6;
inline constexpr uint32_t kNoAddress = 0xffffffffu;
inline constexpr uint32_t kHazardGranule = 16;  // bytes
inline constexpr uint32_t kMaxTiles = 8;

enum class Queue : uint8_t { DmaIn = 0, DmaOut = 1, Pod = 2, Pe = 3 };
inline constexpr size_t kQueues = 4;

enum class Opcode : uint8_t {
  Sync = 0,
  Dma = 1,
  Conv = 2,
  Depthwise = 3,
  Elementwise = 4,
  Reduce = 5,
  Pool = 6
};

enum class DataType : uint8_t {
  F16 = 0,
  F32 = 1,
  I8 = 2,
  I32 = 3,  // reserved: sums and biases of Conv are int32 without being named
  U8 = 4
};
constexpr bool is_integer(DataType t) {
  return t == DataType::I8 || t == DataType::U8;
}
constexpr uint32_t data_bytes(DataType t) {
  return t == DataType::F16 ? 2 : is_integer(t) ? 1 : 4;
}

// What an integer q of an operand stands for: (q - zero) * scale. Read so, and stored as
// saturate(round_even(v / scale) + zero), each step rounded to fp32. Of operands of other types both are 0.
struct Quantization {
  int16_t zero = 0;  // a number of the operand's type
  float scale = 0;   // finite, above 0
  bool operator==(const Quantization&) const = default;
};

struct Wait {
  uint8_t tile = 0;
  Queue queue = Queue::DmaIn;
  uint32_t count = 0;  // completed instructions of that queue
  bool operator==(const Wait&) const = default;
};

// Applied in fp32, last step before the result is rounded to the output type (to nearest even).
enum class Activation : uint8_t {
  None = 0,
  Relu = 1,         // x > 0 ? x : +0 (NaN stays NaN)
  Clip = 2,         // min(max(x, alpha), beta) (NaN stays NaN)
  Leaky = 3,        // x < 0 ? alpha * x : x
  HardSigmoid = 4,  // min(max(fma(alpha, x, beta), 0), 1)
  HardSwish = 5,    // x * min(max(fma(alpha, x, beta), 0), 1)
  Table = 6,  // piecewise linear: 2048 segments of (c0, c1) fp32, index = fp16 bits of x >> 5, fma(c1, x,
              // c0); c0 when c1 is 0 and x no NaN
  Bytes = 7,  // of integer results, after they are rounded: byte q mod 256 of a table of 256
};
inline constexpr uint32_t kTableSegments = 2048;
inline constexpr uint32_t kTableBytes = kTableSegments * 8;
inline constexpr uint32_t kByteTableBytes = 256;
// What an activation reads of on-chip memory.
constexpr uint32_t table_bytes(Activation activation) {
  return activation == Activation::Table   ? kTableBytes
         : activation == Activation::Bytes ? kByteTableBytes
                                           : 0;
}

struct Epilogue {
  Activation activation = Activation::None;
  float alpha = 0, beta = 0;
  uint32_t table = kNoAddress;  // OCM address, 16-byte aligned
  bool operator==(const Epilogue&) const = default;
};

// Does nothing; its waits order the queue it stands in.
struct Sync {
  bool operator==(const Sync&) const = default;
};

enum class Space : uint8_t { Ddr = 0, Ocm = 1 };

// Strided copy of bytes: dims[0..2] outermost to innermost repetitions of a run of `run_bytes` contiguous
// bytes. Queue DmaIn: DDR to OCM (multicast to every tile of dst_tiles at the same address). Queue DmaOut:
// OCM of the own tile to DDR, or to the OCM of the tiles in dst_tiles. DDR addresses are offsets in the
// model's address space.
struct Dma {
  Space src_space = Space::Ddr, dst_space = Space::Ocm;
  uint8_t dst_tiles = 0;  // bit mask, when dst_space is Ocm
  uint64_t src = 0, dst = 0;
  uint32_t run_bytes = 0;
  std::array<uint32_t, 3> dims = {1, 1, 1};
  std::array<int64_t, 3> src_strides = {0, 0, 0};  // bytes
  std::array<int64_t, 3> dst_strides = {0, 0, 0};
  bool operator==(const Dma&) const = default;
};

// POD. Conv: for every output pixel (oy, ox) of out_h x out_w and output channel n < out_channels:
//   acc(oy, ox, n) = first ? 0 : acc   (fp32)
//   for r < kernel_h, s < kernel_w, c < channels:            -- this order
//     iy = y0 + oy * stride_h + r * dilation_h;  ix = x0 + ox * stride_w + s * dilation_w
//     skip if iy not in [0, in_h) or ix not in [0, in_w)
//     acc = fma(X[iy, ix, c], W[(r * kernel_w + s) * channels + c, n], acc)
//   if last: v = acc; v += bias[n]; v += residual[oy, ox, n]; out[oy, ox, n] = round(activation(v))
// X[iy, ix, c] at x + iy * x_row + ix * x_col + c * 2; W[k, n] at w + (n / 16) * w_block + k * w_k + (n % 16)
// * w_n. bias: fp32 [out_channels]. residual: fp16, strides of its own. Accumulators: out_h * out_w <= 1024;
// an instruction without `first` or without `last` keeps its sums in accumulator memory: then out_h * out_w *
// ceil(out_channels / 16) <= 1024. Integers (x_type and w_type I8 or U8): sums are int32,
//   acc += (X - x_zero) * (W - w_zero) modulo 2^32;  v = float(acc + bias[n]) * scale[n], bias int32, scale
// fp32; strides of elements of one byte; no residual. Depthwise: channel n reads only X[.., n] and W[r *
// kernel_w + s, n] at w + (r * kernel_w + s) * w_k + n * w_n; channels is not used and out_channels counts
// the channels.
struct Conv {
  bool depthwise = false;  // opcode Depthwise
  bool first = true, last = true;
  DataType out_type = DataType::F16;
  DataType x_type = DataType::F16, w_type = DataType::F16;  // both F16, or integers both
  uint32_t x = 0, x_row = 0, x_col = 0;
  uint32_t in_h = 1, in_w = 1;
  int32_t y0 = 0, x0 = 0;
  uint32_t kernel_h = 1, kernel_w = 1, stride_h = 1, stride_w = 1, dilation_h = 1, dilation_w = 1;
  uint32_t channels = 0;
  uint32_t w = 0, w_k = 32, w_n = 2, w_block = 0;
  uint32_t out_h = 1, out_w = 1, out_channels = 0;
  uint32_t bias = kNoAddress;
  uint32_t residual = kNoAddress, residual_row = 0, residual_col = 0;
  uint32_t out = 0, out_row = 0, out_col = 0, out_channel = 2;  // byte strides
  Epilogue epilogue;
  int16_t x_zero = 0, w_zero = 0;      // of integers
  Quantization out_quantization = {};  // of an integer result
  uint32_t scales = 0;                 // of integers: fp32 [out_channels]
  bool of_integers() const { return is_integer(x_type); }
  bool operator==(const Conv&) const = default;
};

// A strided view of OCM: element (i0..i4) at address + sum of i_k * strides[k]; stride 0 repeats.
struct Operand {
  uint32_t address = kNoAddress;
  DataType type = DataType::F16;
  std::array<int32_t, 5> strides = {0, 0, 0, 0, 0};  // bytes, outermost first
  Quantization quantization = {};                    // of integers
  bool operator==(const Operand&) const = default;
};

enum class EwOp : uint8_t {
  Copy = 0,  // a
  Fill = 1,  // alpha (no operand is read)
  Add = 2,
  Sub = 3,
  Mul = 4,
  Div = 5,
  Max = 6,  // NaN if either is NaN
  Min = 7,
  AxpBy = 8,    // fma(alpha, a, beta * b)
  Prelu = 9,    // a < 0 ? a * b : a
  Affine = 10,  // fma(alpha, a, beta)
  Sqrt = 11,
  Reciprocal = 12,
  Abs = 13,
  Neg = 14,
  Equal = 15,    // 1 or 0
  Less = 16,     // a < b
  Greater = 17,  // a > b
  Floor = 18,
  Select = 19,  // a != 0 ? b : alpha
};

// How many of the operands a, b an element-wise operation reads.
constexpr int operand_count(EwOp op) {
  switch (op) {
    case EwOp::Fill:
      return 0;
    case EwOp::Copy:
    case EwOp::Affine:
    case EwOp::Sqrt:
    case EwOp::Reciprocal:
    case EwOp::Abs:
    case EwOp::Neg:
    case EwOp::Floor:
      return 1;
    default:
      return 2;
  }
}

// PE. dst[i] = round(activation(op(a[i], b[i]))) over dims, each step rounded to fp32, row-major order of i.
struct Elementwise {
  EwOp op = EwOp::Copy;
  float alpha = 0, beta = 0;
  std::array<uint32_t, 5> dims = {1, 1, 1, 1, 1};  // outermost first
  Operand dst, a, b;
  Epilogue epilogue;
  bool operator==(const Elementwise&) const = default;
};

enum class ReduceOp : uint8_t { Sum = 0, Max = 1, Min = 2, SumOfSquares = 3, Prod = 4 };

// PE. Dimensions with dst stride 0 are reduced: v = combine in row-major order of dims (fp32, starting from
// the first element; SumOfSquares: v = fma(a, a, v) from 0); dst = round(activation(fma(alpha, v, beta))).
struct Reduce {
  ReduceOp op = ReduceOp::Sum;
  float alpha = 1, beta = 0;
  std::array<uint32_t, 5> dims = {1, 1, 1, 1, 1};
  Operand dst, a;
  Epilogue epilogue;
  bool operator==(const Reduce&) const = default;
};

enum class PoolOp : uint8_t {
  Max = 0,
  AverageValid = 1,  // sum / number of taps inside the input (0 taps: 0)
  AverageFixed = 2,  // sum * alpha
};

// PE. Windows as in Conv, channel by channel, taps outside the input skipped; row then column order, fp32.
struct Pool {
  PoolOp op = PoolOp::Max;
  float alpha = 1;
  DataType x_type = DataType::F16, out_type = DataType::F16;  // F16 or an integer type
  uint32_t x = 0, x_row = 0, x_col = 0;
  uint32_t in_h = 1, in_w = 1;
  int32_t y0 = 0, x0 = 0;
  uint32_t kernel_h = 1, kernel_w = 1, stride_h = 1, stride_w = 1, dilation_h = 1, dilation_w = 1;
  uint32_t out_h = 1, out_w = 1, channels = 0;
  uint32_t out = 0, out_row = 0, out_col = 0;
  Epilogue epilogue;
  Quantization x_quantization = {}, out_quantization = {};  // of integers
  bool operator==(const Pool&) const = default;
};

struct Instruction {
  uint8_t tile = 0;
  Queue queue = Queue::DmaIn;
  std::vector<Wait> waits;  // at most kMaxWaits
  std::variant<Sync, Dma, Conv, Elementwise, Reduce, Pool> body;
  bool operator==(const Instruction&) const = default;
};

Opcode opcode_of(const Instruction& instruction);

// What one operand touches: runs of `run` bytes, `stride` apart, from `begin` to `end`. A stride of 0 says
// one run that is the whole hull; it also stands for accesses that are no such pattern.
struct Access {
  Space space = Space::Ocm;
  uint8_t tile = 0;  // when space is Ocm
  uint64_t begin = 0, end = 0;
  bool write = false;
  uint64_t run = 0, stride = 0;
};
// Everything the instruction touches, one access an operand (and destination tile) or few; both the
// compiler's dependency tracker and the simulator use it, the latter for bounds and for the memory that it
// makes NaN before a run: its hazards come from exact bytes, which a test holds against these.
std::vector<Access> accesses(const Instruction& instruction);

// 256-byte encodings, little-endian; layout in docs/isa.md. decode() validates every enumeration and reserved
// byte.
void encode(const Instruction& instruction, std::span<std::byte, kInstructionBytes> out);
Result<Instruction> decode(std::span<const std::byte, kInstructionBytes> bytes);
// One line of text, as `mrvlc disasm` prints it.
std::string to_text(const Instruction& instruction);

}  // namespace mrvlc::isa
