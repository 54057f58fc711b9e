// Compact code: of each instruction the words that differ from the last one of its opcode (docs/isa.md).
#include <algorithm>
#include <array>
#include <cstring>

#include "fields.h"
#include "mrvlc/isa/code.h"
#include "mrvlc/support/diag/sim.h"

namespace mrvlc::isa {
namespace {

constexpr size_t kWords = (kInstructionBytes - detail::kBodyOffset) / 4, kGroups = kWords / 8;
using PlainBytes = std::array<std::byte, kInstructionBytes>;
using BodyWords = std::array<uint32_t, kWords>;

// What writer and reader know when they come to an instruction: those before it.
struct Past {
  std::array<BodyWords, static_cast<size_t>(Opcode::Pool) + 1> last{};  // bodies by opcode
  std::array<uint32_t, kMaxTiles * kQueues> issued{};                   // instructions by queue
};

uint8_t place(uint8_t tile, uint8_t queue) {
  return static_cast<uint8_t>(tile | queue << 3);
}

// Small numbers of either sign become small ones without.
uint32_t zigzag(uint32_t v) {
  return v << 1 ^ (v >> 31 != 0 ? 0xffffffffu : 0u);
}
uint32_t unzigzag(uint32_t v) {
  return v >> 1 ^ ((v & 1) != 0 ? 0xffffffffu : 0u);
}

class Packer {
 public:
  void add(const Instruction& instruction, std::string& out) {
    PlainBytes plain;
    encode(instruction, plain);
    const auto field = [&](size_t at) { return static_cast<uint8_t>(plain[at]); };
    const uint8_t opcode = field(0), queue = field(1), tile = field(2), waits = field(3), flags = field(4);
    put(out, static_cast<uint8_t>(opcode | waits << 3 | flags << 6));
    put(out, place(tile, queue));
    for (size_t w = 0; w < waits; ++w) {
      const size_t at = detail::kHeaderBytes + w * detail::kWaitBytes;
      uint32_t count = 0;
      std::memcpy(&count, plain.data() + at + 4, sizeof count);
      const uint8_t where = place(field(at), field(at + 1));
      put(out, where);
      number(out, past_.issued.at(slot(where)) - count);
    }
    body(plain, past_.last.at(opcode), out);
    ++past_.issued.at(slot(place(tile, queue)));
  }

 private:
  static size_t slot(uint8_t where) { return size_t{where & 7u} * kQueues + (where >> 3); }
  static void put(std::string& out, uint8_t byte) { out.push_back(static_cast<char>(byte)); }

  static void number(std::string& out, uint32_t v) {
    v = zigzag(v);
    for (; v >= 128; v >>= 7) put(out, static_cast<uint8_t>(v | 128));
    put(out, static_cast<uint8_t>(v));
  }

  static void body(const PlainBytes& plain, BodyWords& last, std::string& out) {
    BodyWords now;
    std::memcpy(now.data(), plain.data() + detail::kBodyOffset, sizeof now);
    std::array<uint8_t, kGroups> changed{};
    uint8_t groups = 0;
    for (size_t k = 0; k < kWords; ++k) {
      if (now[k] == last[k]) continue;
      changed[k / 8] = static_cast<uint8_t>(changed[k / 8] | 1u << k % 8);
      groups = static_cast<uint8_t>(groups | 1u << k / 8);
    }
    put(out, groups);
    for (uint8_t words : changed)
      if (words != 0) put(out, words);
    for (size_t k = 0; k < kWords; ++k)
      if (now[k] != last[k]) number(out, now[k] - last[k]);
    last = now;
  }

  Past past_;
};

// Nothing is trusted: a byte that is missing reads as 0 and is a fault, and only the first fault is told.
class Unpacker {
 public:
  explicit Unpacker(std::string_view bytes) : in_(bytes) {}

  PlainBytes next() {
    PlainBytes plain{};
    const uint8_t head = byte(), where = byte(), opcode = head & 7, waits = head >> 3 & 7;
    if (opcode >= past_.last.size()) return fail("opcode 7 is unknown"), plain;
    if (waits > kMaxWaits) return fail("7 waits, at most 6 fit"), plain;
    check_place(where);
    const std::array<uint8_t, 5> fields = {opcode, queue_of(where), tile_of(where), waits,
                                           static_cast<uint8_t>(head >> 6)};
    std::memcpy(plain.data(), fields.data(), fields.size());
    for (size_t w = 0; w < waits; ++w) {
      const uint8_t other = byte();
      check_place(other);
      const uint32_t count = past_.issued[slot(other)] - number();
      const size_t at = detail::kHeaderBytes + w * detail::kWaitBytes;
      plain[at] = std::byte{tile_of(other)};
      plain[at + 1] = std::byte{queue_of(other)};
      std::memcpy(plain.data() + at + 4, &count, sizeof count);
    }
    body(past_.last[opcode]);
    std::memcpy(plain.data() + detail::kBodyOffset, past_.last[opcode].data(), sizeof(BodyWords));
    ++past_.issued[slot(where)];
    return plain;
  }

  size_t left() const { return in_.size() - at_; }
  const std::string& fault() const { return fault_; }

 private:
  static uint8_t tile_of(uint8_t where) { return where & 7; }
  static uint8_t queue_of(uint8_t where) { return where >> 3 & 3; }
  static size_t slot(uint8_t where) { return size_t{tile_of(where)} * kQueues + queue_of(where); }

  void fail(const char* what) {
    if (fault_.empty()) fault_ = what;
  }
  void check_place(uint8_t where) {
    if (where >> 5 != 0) fail("a reserved bit is not 0");
  }
  uint8_t byte() {
    if (at_ < in_.size()) return static_cast<uint8_t>(in_[at_++]);
    fail("the code ends within an instruction");
    return 0;
  }

  uint32_t number() {
    uint32_t v = 0;
    for (unsigned shift = 0;; shift += 7) {
      const uint8_t b = byte();
      if (shift == 28 && b > 15) return fail("a number has more than 32 bits"), 0;
      v |= uint32_t{b & 127u} << shift;
      if (b >= 128) continue;
      if (b == 0 && shift > 0) fail("a number is longer than it need be");
      return unzigzag(v);
    }
  }

  void body(BodyWords& last) {
    const uint8_t groups = byte();
    if (groups >> kGroups != 0) fail("a reserved bit is not 0");
    std::array<uint8_t, kGroups> changed{};
    for (size_t g = 0; g < kGroups; ++g) {
      if ((groups >> g & 1) == 0) continue;
      changed[g] = byte();
      if (changed[g] == 0) fail("a group of words has none that changes");
    }
    for (size_t k = 0; k < kWords; ++k) {
      if ((changed[k / 8] >> k % 8 & 1) == 0) continue;
      const uint32_t by = number();
      if (by == 0) fail("a word changes by 0");
      last[k] += by;
    }
  }

  std::string_view in_;
  size_t at_ = 0;
  std::string fault_;
  Past past_;
};

Diag fault(const char* name, size_t index, std::string_view what) {
  return make_diag<DiagCode::MRV0703>(name, index, what);
}

Result<std::vector<Instruction>> read_compact(std::string_view bytes, uint32_t count, const char* name) {
  std::vector<Instruction> program;
  if (count == 0) {
    if (bytes == std::string_view("\0", 1)) return program;
    return fault(name, 0, "a section without instructions is more than one zero byte");
  }
  constexpr size_t kLeastBytes = 3;
  if (count > bytes.size() / kLeastBytes || count > kMaxCompactInstructions)
    return fault(name, count - 1,
                 fmt::format("{} bytes are too few for {} instructions", bytes.size(), count));
  program.reserve(count);
  Unpacker reader(bytes);
  for (size_t i = 0; i < count; ++i) {
    const PlainBytes plain = reader.next();
    if (!reader.fault().empty()) return fault(name, i, reader.fault());
    auto decoded = decode(plain);
    if (!decoded) return fault(name, i, decoded.error().message);
    program.push_back(std::move(decoded).value());
  }
  if (reader.left() != 0) return fault(name, count - 1, fmt::format("{} bytes follow it", reader.left()));
  return program;
}

Result<std::vector<Instruction>> read_plain(std::string_view bytes, const char* name) {
  std::vector<Instruction> program;
  program.reserve(bytes.size() / kInstructionBytes);
  for (size_t at = 0; at + kInstructionBytes <= bytes.size(); at += kInstructionBytes) {
    const std::string_view one = bytes.substr(at, kInstructionBytes);
    auto r = decode(std::as_bytes(std::span(one.data(), one.size())).first<kInstructionBytes>());
    if (!r) return fault(name, program.size(), r.error().message);
    program.push_back(std::move(r).value());
  }
  return program;
}

}  // namespace

std::vector<uint32_t> code_sizes(std::span<const Instruction> program, Encoding encoding) {
  std::vector<uint32_t> sizes(program.size(), kInstructionBytes);
  if (encoding == Encoding::Plain) return sizes;
  Packer writer;
  std::string bytes;
  for (size_t i = 0; i < program.size(); ++i) {
    bytes.clear();
    writer.add(program[i], bytes);
    sizes[i] = static_cast<uint32_t>(bytes.size());
  }
  return sizes;
}

std::string write_code(std::span<const Instruction> program, Encoding encoding) {
  std::string bytes;
  if (encoding == Encoding::Compact) {
    Packer writer;
    for (const Instruction& i : program) writer.add(i, bytes);
    if (program.empty()) bytes.push_back('\0');
    return bytes;
  }
  bytes.resize(std::max<size_t>(program.size(), 1) * kInstructionBytes);  // zeros are a Sync
  auto out = std::as_writable_bytes(std::span(bytes.data(), bytes.size()));
  for (size_t i = 0; i < program.size(); ++i)
    encode(program[i], out.subspan(i * kInstructionBytes).first<kInstructionBytes>());
  return bytes;
}

Result<std::vector<Instruction>> read_code(std::string_view bytes, Encoding encoding, uint32_t count,
                                           const char* name) {
  return encoding == Encoding::Compact ? read_compact(bytes, count, name) : read_plain(bytes, name);
}

}  // namespace mrvlc::isa
