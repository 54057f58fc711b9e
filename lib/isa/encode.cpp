// Instructions to bytes and back (docs/isa.md, encodings).
#include <algorithm>
#include <bit>
#include <cmath>
#include <cstring>
#include <initializer_list>

#include "fields.h"
#include "mrvlc/support/diag/sim.h"

namespace mrvlc::isa {
namespace {

static_assert(std::endian::native == std::endian::little,
              "encodings are little-endian and copied as they are");

constexpr uint8_t kFlagFirst = 1, kFlagLast = 2;

class Writer {
 public:
  explicit Writer(std::byte* p) : p_(p) {}
  template <class T>
  void number(const T& v) {
    std::memcpy(p_, &v, sizeof v);
    p_ += sizeof v;
  }
  template <class E>
  void enumeration(const E& v, E, const char*) {
    number(static_cast<uint8_t>(v));
  }
  void reserved(size_t n) { p_ += n; }

 private:
  std::byte* p_;
};

class Reader {
 public:
  Reader(const std::byte* p, const std::byte* end) : p_(p), end_(end) {}
  template <class T>
  void number(T& v) {
    std::memcpy(&v, p_, sizeof v);
    p_ += sizeof v;
  }
  template <class E>
  void enumeration(E& v, E last, const char* what) {
    uint8_t raw = 0;
    number(raw);
    if (raw > static_cast<uint8_t>(last)) {
      if (error_.empty()) error_ = fmt::format("{} {} is unknown", what, raw);
      return;
    }
    v = static_cast<E>(raw);
  }
  void reserved(size_t n) {
    if (std::any_of(p_, p_ + n, [](std::byte b) { return b != std::byte{0}; }) && error_.empty())
      error_ = "a reserved byte is not 0";
    p_ += n;
  }
  void rest() { reserved(static_cast<size_t>(end_ - p_)); }
  void fail(std::string text) {
    if (error_.empty()) error_ = std::move(text);
  }
  const std::string& error() const { return error_; }

 private:
  const std::byte* p_;
  const std::byte* end_;
  std::string error_;
};

template <class Io, class B>
void body_fields(Io& io, B& body) {
  using T = std::remove_const_t<B>;
  if constexpr (std::is_same_v<T, Dma>) detail::dma(io, body);
  if constexpr (std::is_same_v<T, Conv>) detail::conv(io, body);
  if constexpr (std::is_same_v<T, Elementwise>) detail::elementwise(io, body);
  if constexpr (std::is_same_v<T, Reduce>) detail::reduce(io, body);
  if constexpr (std::is_same_v<T, Pool>) detail::pool(io, body);
}

decltype(Instruction::body) empty_body(Opcode opcode, uint8_t flags) {
  switch (opcode) {
    case Opcode::Sync:
      return Sync{};
    case Opcode::Dma:
      return Dma{};
    case Opcode::Conv:
    case Opcode::Depthwise: {
      Conv c;
      c.depthwise = opcode == Opcode::Depthwise;
      c.first = (flags & kFlagFirst) != 0;
      c.last = (flags & kFlagLast) != 0;
      return c;
    }
    case Opcode::Elementwise:
      return Elementwise{};
    case Opcode::Reduce:
      return Reduce{};
    case Opcode::Pool:
      return Pool{};
  }
  return Sync{};
}

void decode_waits(Reader& in, uint8_t count, std::vector<Wait>& waits) {
  for (size_t i = 0; i < kMaxWaits; ++i) {
    if (i >= count) {
      in.reserved(detail::kWaitBytes);
      continue;
    }
    Wait w;
    in.number(w.tile);
    in.enumeration(w.queue, Queue::Pe, "queue of a wait");
    in.reserved(2);
    in.number(w.count);
    if (w.tile >= kMaxTiles) in.fail(fmt::format("a wait names tile {}", w.tile));
    waits.push_back(w);
  }
}

// Which engine runs it, and for a copy, between which memories.
std::string check_queue(const Instruction& i) {
  const char* wrong = "the opcode does not run in this queue";
  if (std::holds_alternative<Sync>(i.body)) return {};
  if (std::holds_alternative<Conv>(i.body)) return i.queue == Queue::Pod ? "" : wrong;
  const auto* dma = std::get_if<Dma>(&i.body);
  if (dma == nullptr) return i.queue == Queue::Pe ? "" : wrong;
  if (i.queue != Queue::DmaIn && i.queue != Queue::DmaOut) return wrong;
  bool in = i.queue == Queue::DmaIn;
  if ((dma->src_space == Space::Ddr) != in) return "the source memory does not fit the queue";
  if (in && dma->dst_space != Space::Ocm) return "the destination memory does not fit the queue";
  if ((dma->dst_space == Space::Ocm) != (dma->dst_tiles != 0))
    return "the destination tiles do not fit the memory";
  return {};
}

// Zero point and scale of an operand of this type.
std::string check_quantization(DataType type, const Quantization& q) {
  if (!is_integer(type))
    return q == Quantization{} ? "" : "a number that is no integer has a zero point or a scale";
  const int low = type == DataType::I8 ? -128 : 0;
  if (q.zero < low || q.zero > low + 255)
    return fmt::format("zero point {} is no number of its type", q.zero);
  return std::isfinite(q.scale) && q.scale > 0 ? "" : "the scale of integers is not finite and above 0";
}

std::string check_bytes(const Epilogue& e, DataType type) {
  return e.activation == Activation::Bytes && !is_integer(type) ? "a table of bytes for a result that is none"
                                                                : "";
}

struct QuantizationCheck {
  template <class B>
  std::string operator()(const B&) const {
    return {};
  }
  std::string operator()(const Conv& c) const {
    if (c.of_integers() != is_integer(c.w_type)) return "input and weights are not integers both";
    // Zero points alone: what the sums stand for is told by `scales`.
    for (auto [type, zero] : {std::pair(c.x_type, c.x_zero), std::pair(c.w_type, c.w_zero)}) {
      const float scale = is_integer(type) ? 1.0f : 0.0f;
      if (std::string p = check_quantization(type, {zero, scale}); !p.empty()) return p;
    }
    if (!c.of_integers() && c.scales != 0) return "sums that are no integers have scales";
    return first({check_quantization(c.out_type, c.out_quantization), check_bytes(c.epilogue, c.out_type)});
  }
  std::string operator()(const Elementwise& e) const {
    return first({check_quantization(e.dst.type, e.dst.quantization),
                  check_quantization(e.a.type, e.a.quantization),
                  check_quantization(e.b.type, e.b.quantization), check_bytes(e.epilogue, e.dst.type)});
  }
  std::string operator()(const Reduce& r) const {
    return first({check_quantization(r.dst.type, r.dst.quantization),
                  check_quantization(r.a.type, r.a.quantization), check_bytes(r.epilogue, r.dst.type)});
  }
  std::string operator()(const Pool& p) const {
    return first({check_quantization(p.x_type, p.x_quantization),
                  check_quantization(p.out_type, p.out_quantization), check_bytes(p.epilogue, p.out_type)});
  }

 private:
  static std::string first(std::initializer_list<std::string> problems) {
    for (const std::string& p : problems)
      if (!p.empty()) return p;
    return {};
  }
};

}  // namespace

Opcode opcode_of(const Instruction& instruction) {
  struct Visitor {
    Opcode operator()(const Sync&) const { return Opcode::Sync; }
    Opcode operator()(const Dma&) const { return Opcode::Dma; }
    Opcode operator()(const Conv& c) const { return c.depthwise ? Opcode::Depthwise : Opcode::Conv; }
    Opcode operator()(const Elementwise&) const { return Opcode::Elementwise; }
    Opcode operator()(const Reduce&) const { return Opcode::Reduce; }
    Opcode operator()(const Pool&) const { return Opcode::Pool; }
  };
  return std::visit(Visitor{}, instruction.body);
}

void encode(const Instruction& instruction, std::span<std::byte, kInstructionBytes> out) {
  std::ranges::fill(out, std::byte{0});
  size_t waits = std::min(instruction.waits.size(), kMaxWaits);
  uint8_t flags = 0;
  if (const auto* c = std::get_if<Conv>(&instruction.body))
    flags = static_cast<uint8_t>((c->first ? kFlagFirst : 0) | (c->last ? kFlagLast : 0));
  Writer header(out.data());
  header.number(static_cast<uint8_t>(opcode_of(instruction)));
  header.number(static_cast<uint8_t>(instruction.queue));
  header.number(instruction.tile);
  header.number(static_cast<uint8_t>(waits));
  header.number(flags);
  Writer list(out.data() + detail::kHeaderBytes);
  for (size_t i = 0; i < waits; ++i) {
    list.number(instruction.waits[i].tile);
    list.number(static_cast<uint8_t>(instruction.waits[i].queue));
    list.reserved(2);
    list.number(instruction.waits[i].count);
  }
  Writer body(out.data() + detail::kBodyOffset);
  std::visit([&](const auto& b) { body_fields(body, b); }, instruction.body);
}

Result<Instruction> decode(std::span<const std::byte, kInstructionBytes> bytes) {
  Reader in(bytes.data(), bytes.data() + bytes.size());
  Instruction r;
  Opcode opcode{};
  uint8_t count = 0, flags = 0;
  in.enumeration(opcode, Opcode::Pool, "opcode");
  in.enumeration(r.queue, Queue::Pe, "queue");
  in.number(r.tile);
  in.number(count);
  in.number(flags);
  in.reserved(11);
  if (r.tile >= kMaxTiles) in.fail(fmt::format("tile {} does not exist", r.tile));
  if (count > kMaxWaits) in.fail(fmt::format("{} waits, at most {} fit", count, kMaxWaits));
  bool conv = opcode == Opcode::Conv || opcode == Opcode::Depthwise;
  if ((flags & ~(conv ? kFlagFirst | kFlagLast : 0)) != 0) in.fail("an unknown flag is set");
  decode_waits(in, count, r.waits);
  r.body = empty_body(opcode, flags);
  std::visit([&](auto& b) { body_fields(in, b); }, r.body);
  in.rest();
  if (in.error().empty()) in.fail(check_queue(r));
  if (in.error().empty()) in.fail(std::visit(QuantizationCheck{}, r.body));
  if (!in.error().empty()) return make_diag<DiagCode::MRV0702>(in.error());
  return r;
}

}  // namespace mrvlc::isa
