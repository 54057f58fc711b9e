// The container and its sections, plain and compact.
#include <fmt/format.h>

#include <cstring>
#include <span>

#include "machine/binary.h"
#include "mrvlc/support/hash.h"

namespace mrvlc::prove {
namespace {

constexpr size_t kHeader = 8192, kInstruction = 256;

[[noreturn]] void refuse(std::string text) {
  throw Refusal{std::move(text)};
}

template <class T>
T at(std::string_view bytes, size_t offset) {
  if (offset + sizeof(T) > bytes.size()) refuse("the binary ends early");
  T out{};
  std::memcpy(&out, bytes.data() + offset, sizeof out);
  return out;
}

Range range(std::string_view b, size_t offset) {
  const Range r{at<uint64_t>(b, offset), at<uint64_t>(b, offset + 8)};
  return r;
}

std::string_view part(std::string_view bytes, uint64_t offset, uint64_t size) {
  if (offset > bytes.size() || size > bytes.size() - offset) refuse("a section lies outside the binary");
  return bytes.substr(offset, size);
}

// Bytes of the header that mean something; all others are 0.
std::vector<bool> used_bytes(uint32_t inputs, uint32_t outputs) {
  std::vector<bool> used(kHeader, false);
  const auto use = [&](size_t begin, size_t size) {
    for (size_t i = begin; i < begin + size && i < kHeader; ++i) used[i] = true;
  };
  constexpr std::pair<size_t, size_t> kFields[] = {
      {0, 44},  {140, 4},  {248, 8},  {256, 64}, {320, 4},  {324, 8},   {332, 8},  {340, 2},  {342, 2},
      {344, 3}, {348, 4},  {352, 4},  {360, 4},  {368, 8},  {376, 16},  {392, 16}, {408, 16}, {424, 16},
      {440, 8}, {456, 16}, {512, 16}, {576, 16}, {640, 16}, {1216, 17}, {8164, 8}};
  for (const auto& [begin, size] : kFields) use(begin, size);
  for (uint32_t i = 0; i < inputs; ++i) use(i < 8 ? 1280 + 64 * i : 4096 + 64 * (i - 8), 64);
  for (uint32_t i = 0; i < outputs; ++i) use(i < 8 ? 1792 + 64 * i : 5632 + 64 * (i - 8), 64);
  return used;
}

void check_header(std::string_view b) {
  if (b.size() < kHeader || b.substr(0, 4) != "MRVL") refuse("this is no model binary");
  if (b.substr(4, 4) != std::string_view("\2\3\0\1", 4) || at<uint32_t>(b, 8) != kHeader)
    refuse("the container has another version");
  const auto bytes = std::as_bytes(std::span(b.data(), b.size()));
  if (crc32c(bytes.subspan(256)) != at<uint32_t>(b, 248) || crc32c(bytes.first(252)) != at<uint32_t>(b, 252))
    refuse("a CRC of the container is wrong");
  const auto identity = sha256(bytes.subspan(256));
  if (std::memcmp(identity.data(), b.data() + 12, identity.size()) != 0)
    refuse("its identity is not that of its bytes");
  const std::vector<bool> used = used_bytes(at<uint8_t>(b, 345), at<uint8_t>(b, 346));
  for (size_t i = 0; i < kHeader; ++i)
    if (!used[i] && b[i] != 0) refuse(fmt::format("reserved byte {} of the container is not 0", i));
}

std::vector<Instruction> section(std::string_view b, size_t entry) {
  const std::string_view bytes = part(b, at<uint32_t>(b, entry), at<uint32_t>(b, entry + 4));
  const auto encoding = at<uint32_t>(b, entry + 8), count = at<uint32_t>(b, entry + 12);
  if (encoding == 0 && count == 0) return read_plain(bytes);
  if (encoding != 1) refuse("a section has an unknown encoding");
  return read_compact(bytes, count);
}

PortRange port(std::string_view b, size_t e, bool input) {
  PortRange p;
  p.inner = at<uint8_t>(b, e + 11);
  p.ddr = {at<uint64_t>(b, e), at<uint64_t>(b, e + (input ? 56 : 40)) + 1};
  if (input) {
    p.format = at<uint8_t>(b, e + 16);
    for (size_t d = 0; d < 4; ++d) p.dims[d] = at<uint32_t>(b, e + 20 + 4 * d);
  } else {
    p.elements = at<uint32_t>(b, e + 16);
  }
  return p;
}

// Reader of compact code.
class Compact {
 public:
  explicit Compact(std::string_view bytes) : bytes_(bytes) {}
  bool at_end() const { return at_ == bytes_.size(); }

  Instruction next() {
    Instruction i;
    const uint8_t head = byte(), place = byte();
    i.op = static_cast<Opcode>(head & 7u);
    if ((head & 7u) > 6) refuse("unknown opcode");
    i.first = (head & 0x40u) != 0;
    i.last = (head & 0x80u) != 0;
    i.tile = tile_of(place);
    i.queue = queue_of(place);
    const uint32_t waits = head >> 3 & 7u;
    if (waits > 6) refuse("more than six waits");
    for (uint32_t w = 0; w < waits; ++w) {
      const uint8_t from = byte();
      Wait wait{tile_of(from), queue_of(from), 0};
      wait.count = given_[wait.tile * 4u + wait.queue] - number();
      i.waits.push_back(wait);
    }
    change(bodies_[head & 7u]);
    std::memcpy(i.body.data(), bodies_[head & 7u].data(), i.body.size());
    ++given_[i.tile * 4u + i.queue];
    return i;
  }

 private:
  static uint8_t tile_of(uint8_t b) {
    if ((b & 0xe0u) != 0) refuse("a reserved bit of compact code is not 0");
    return b & 7u;
  }
  static uint8_t queue_of(uint8_t b) { return b >> 3 & 3u; }
  uint8_t byte() {
    if (at_ == bytes_.size()) refuse("a section ends inside an instruction");
    return static_cast<uint8_t>(bytes_[at_++]);
  }
  uint32_t number() {
    uint32_t n = 0;
    for (uint32_t k = 0;; ++k) {
      const uint8_t b = byte();
      if (k == 4 && b > 15) refuse("a number of compact code is too long");
      n |= static_cast<uint32_t>(b & 0x7fu) << (7 * k);
      if ((b & 0x80u) != 0) continue;
      if (k > 0 && b == 0) refuse("a number of compact code has more bytes than it needs");
      break;
    }
    return (n & 1u) != 0 ? ~(n >> 1) : n >> 1;
  }
  void change(std::array<uint32_t, 48>& words) {
    const uint8_t groups = byte();
    if ((groups & 0xc0u) != 0) refuse("a reserved bit of compact code is not 0");
    std::array<uint8_t, 6> changed{};
    for (uint32_t g = 0; g < 6; ++g) {
      if ((groups >> g & 1u) == 0) continue;
      changed[g] = byte();
      if (changed[g] == 0) refuse("compact code names a group without a change");
    }
    for (uint32_t w = 0; w < 48; ++w) {
      if ((changed[w / 8] >> (w % 8) & 1u) == 0) continue;
      const uint32_t by = number();
      if (by == 0) refuse("compact code changes a word by 0");
      words[w] += by;
    }
  }

  std::string_view bytes_;
  size_t at_ = 0;
  std::array<std::array<uint32_t, 48>, 7> bodies_{};
  std::array<uint32_t, 32> given_{};
};

}  // namespace

std::vector<Instruction> read_plain(std::string_view bytes) {
  if (bytes.size() % kInstruction != 0) refuse("a section is no whole number of instructions");
  std::vector<Instruction> out;
  for (size_t at = 0; at < bytes.size(); at += kInstruction) {
    const auto u = [&](size_t i) { return static_cast<uint8_t>(bytes[at + i]); };
    Instruction i;
    if (u(0) > 6) refuse("unknown opcode");
    i.op = static_cast<Opcode>(u(0));
    i.queue = u(1);
    i.tile = u(2);
    const uint8_t waits = u(3);
    if (waits > 6) refuse("more than six waits");
    if (u(4) > 3) refuse("unknown flags");
    i.first = (u(4) & 1u) != 0;
    i.last = (u(4) & 2u) != 0;
    for (size_t w = 0; w < waits; ++w) {
      const size_t e = 16 + 8 * w;
      if (u(e + 2) != 0 || u(e + 3) != 0) refuse("a reserved field of a wait is not 0");
      i.waits.push_back({u(e), u(e + 1), prove::at<uint32_t>(bytes, at + e + 4)});
    }
    for (size_t b = 5; b < 64; ++b)
      if ((b < 16 || b >= 16 + 8 * size_t{waits}) && u(b) != 0)
        refuse(fmt::format("reserved byte {} is not 0", b));
    std::memcpy(i.body.data(), bytes.data() + at + 64, i.body.size());
    out.push_back(std::move(i));
  }
  return out;
}

std::vector<Instruction> read_compact(std::string_view bytes, uint32_t count) {
  if (count == 0) {
    if (bytes != std::string_view("\0", 1)) refuse("a section without instructions is not one zero byte");
    return {};
  }
  if (count > (1u << 19)) refuse("more instructions than compact code can have");
  Compact reader(bytes);
  std::vector<Instruction> out;
  for (uint32_t i = 0; i < count; ++i) out.push_back(reader.next());
  if (!reader.at_end()) refuse("a section goes on behind its last instruction");
  return out;
}

Binary read_binary(std::string_view b) {
  check_header(b);
  Binary out;
  const uint8_t first = at<uint8_t>(b, 342), last = at<uint8_t>(b, 343);
  if (first != 0 || last > 7) refuse("its tiles are not 0 to 7 at most");
  out.tiles = last + 1u;
  const auto end = at<uint32_t>(b, 336);
  const auto unused = at<uint64_t>(b, 368);
  if (at<uint32_t>(b, 332) != 0 || unused > uint64_t{end} + 1) refuse("its on-chip memory is no range");
  out.ocm_bytes = static_cast<uint32_t>(uint64_t{end} + 1 - unused);
  out.weights = range(b, 392);
  out.inputs = range(b, 408);
  out.outputs = range(b, 424);
  out.scratch = range(b, 456);
  const uint32_t inputs = at<uint8_t>(b, 345), outputs = at<uint8_t>(b, 346);
  // Inclusive ends; start = end is empty, but for ports where there are any.
  for (Range* r : {&out.weights, &out.inputs, &out.outputs, &out.scratch}) {
    const bool port =
        (r == &out.inputs && inputs > 0) || (r == &out.outputs && outputs > 0) || r == &out.weights;
    if (r->end < r->begin || r->end >= (uint64_t{1} << 48)) refuse("a range of memory is none");
    if (r->end != r->begin || port) ++r->end;
  }
  const Range all[] = {out.weights, out.inputs, out.outputs, out.scratch};
  for (size_t i = 0; i < 4; ++i)
    for (size_t k = 0; k < i; ++k)
      if (all[i].begin < all[k].end && all[k].begin < all[i].end && all[i].begin != all[i].end &&
          all[k].begin != all[k].end)
        refuse("ranges of memory overlap");
  for (size_t r = 1; r < 4; ++r)
    if (all[r].end - all[r].begin > (uint64_t{1} << 30)) refuse("a range of memory is larger than 1 GiB");
  out.weight_bytes = part(b, at<uint32_t>(b, 1224), at<uint32_t>(b, 1228));
  if (out.weights.begin != 0 || out.weight_bytes.size() != out.weights.end)
    refuse("its weights are not their range");
  for (size_t s = 0; s < 3; ++s) out.sections[s] = section(b, 512 + 64 * s);
  for (uint32_t i = 0; i < inputs; ++i)
    out.in.push_back(port(b, i < 8 ? 1280 + 64 * i : 4096 + 64 * (i - 8), true));
  for (uint32_t i = 0; i < outputs; ++i)
    out.out.push_back(port(b, i < 8 ? 1792 + 64 * i : 5632 + 64 * (i - 8), false));
  for (const auto& list : out.sections)
    for (const Instruction& i : list) check_encoding(i, out.tiles);
  return out;
}

}  // namespace mrvlc::prove
