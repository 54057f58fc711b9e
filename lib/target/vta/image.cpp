// Writes and reads the bytes of a region, little-endian, and checks what it reads.
#include "image.h"

#include <algorithm>
#include <stdexcept>

namespace vta {
namespace {

constexpr uint32_t kMagic = 0x4154564d;  // "MVTA"
constexpr uint32_t kVersion = 1, kHeaderBytes = 48, kSectionBytes = 24, kPortBytes = 24;
// Log2 of the widths of INP, WGT and ACC, of batch and block, and of the bytes of UOP, INP, WGT and ACC.
constexpr uint8_t kConfiguration[9] = {3, 3, 5, 0, 4, 15, 15, 18, 17};
constexpr uint64_t kMostMemory = uint64_t{1} << 34;

class Writer {
 public:
  void put(uint64_t value, uint32_t bytes) {
    for (uint32_t i = 0; i < bytes; ++i) bytes_.push_back(static_cast<uint8_t>(value >> 8 * i));
  }
  void align() { bytes_.resize((bytes_.size() + 15) / 16 * 16, 0); }
  std::vector<uint8_t> take() { return std::move(bytes_); }

 private:
  std::vector<uint8_t> bytes_;
};

class Reader {
 public:
  Reader(const uint8_t* bytes, uint64_t count) : bytes_(bytes), count_(count) {}
  uint64_t get(uint32_t bytes) {
    if (count_ - at_ < bytes) throw std::runtime_error("the program is cut off");
    uint64_t value = 0;
    for (uint32_t i = 0; i < bytes; ++i) value |= uint64_t{bytes_[at_++]} << 8 * i;
    return value;
  }
  uint32_t word() { return static_cast<uint32_t>(get(4)); }
  void align() { at_ = std::min(count_, (at_ + 15) / 16 * 16); }
  // Elements of `each` bytes that may be ahead.
  uint64_t most(uint64_t count, uint32_t each) const {
    if (count > (count_ - at_) / each) throw std::runtime_error("the program is cut off");
    return count;
  }

 private:
  const uint8_t* bytes_;
  uint64_t count_, at_ = 0;
};

void put_port(Writer& to, const Port& p) {
  for (const uint32_t word : {p.section, p.last, p.n, p.c, p.h, p.w}) to.put(word, 4);
}

Port get_port(Reader& from, const std::vector<Section>& sections) {
  Port p;
  for (uint32_t* word : {&p.section, &p.last, &p.n, &p.c, &p.h, &p.w}) *word = from.word();
  for (const uint32_t dim : {p.n, p.c, p.h, p.w})
    if (dim == 0 || dim > 1 << 26) throw std::runtime_error("a port is too large");
  uint64_t bytes = 16;
  for (const uint32_t dim : {p.n, (p.c + 15) / 16, p.h, p.w}) {
    bytes *= dim;
    if (bytes > kMostMemory) throw std::runtime_error("a port is too large");
  }
  if (p.section >= sections.size() || sections[p.section].bytes < bytes)
    throw std::runtime_error("a port has no memory");
  return p;
}

void read_header(Reader& from, Image& image, uint32_t counts[4]) {
  if (from.word() != kMagic || from.word() != kVersion || from.word() != kHeaderBytes)
    throw std::runtime_error("no program of this version");
  for (const uint8_t log2 : kConfiguration)
    if (from.get(1) != log2) throw std::runtime_error("a program for another configuration");
  image.board = static_cast<uint32_t>(from.get(1));
  from.get(2);
  for (int i = 0; i < 4; ++i) counts[i] = from.word();
  image.memory_bytes = from.get(8);
  if (image.board >= kBoards.size() || image.memory_bytes > kMostMemory)
    throw std::runtime_error("no program of this version");
}

void read_contents(Reader& from, Image& image) {
  from.align();
  const auto bytes_of = [&image](SectionKind kind) { return image.sections[kind].bytes; };
  for (Instruction& i : image.instructions) {
    const uint64_t low = from.get(8);
    i = decode(Bits{low, from.get(8)});
  }
  from.align();
  image.uops.resize(from.most(bytes_of(kMicroOps) / 4, 4));
  for (uint32_t& u : image.uops) u = from.word();
  from.align();
  image.weights.resize(from.most(bytes_of(kWeights), 1));
  for (int8_t& w : image.weights) w = static_cast<int8_t>(from.get(1));
  from.align();
  image.biases.resize(from.most(bytes_of(kBiases) / 4, 4));
  for (int32_t& b : image.biases) b = static_cast<int32_t>(from.word());
}

}  // namespace

std::vector<uint8_t> write_image(const Image& image) {
  Writer to;
  for (const uint32_t word : {kMagic, kVersion, kHeaderBytes}) to.put(word, 4);
  for (const uint8_t log2 : kConfiguration) to.put(log2, 1);
  to.put(image.board, 3);
  for (const size_t count :
       {image.instructions.size(), image.sections.size(), image.inputs.size(), image.outputs.size()})
    to.put(count, 4);
  to.put(image.memory_bytes, 8);
  for (const Section& s : image.sections)
    to.put(s.kind, 4), to.put(0, 4), to.put(s.offset, 8), to.put(s.bytes, 8);
  for (const Port& p : image.inputs) put_port(to, p);
  for (const Port& p : image.outputs) put_port(to, p);
  for (const uint32_t section : image.section_of) to.put(section, 2);
  to.align();
  for (const Instruction& i : image.instructions)
    for (const uint64_t half : encode(i)) to.put(half, 8);
  to.align();
  for (const uint32_t u : image.uops) to.put(u, 4);
  to.align();
  for (const int8_t w : image.weights) to.put(static_cast<uint8_t>(w), 1);
  to.align();
  for (const int32_t b : image.biases) to.put(static_cast<uint32_t>(b), 4);
  return to.take();
}

Image read_image(const uint8_t* bytes, uint64_t count) {
  Reader from(bytes, count);
  Image image;
  uint32_t counts[4];
  read_header(from, image, counts);
  image.sections.resize(from.most(counts[1], kSectionBytes));
  for (Section& s : image.sections) {
    s.kind = from.word();
    from.word();
    s.offset = from.get(8);
    s.bytes = from.get(8);
    if (s.offset > image.memory_bytes || s.bytes > image.memory_bytes - s.offset)
      throw std::runtime_error("a section lies outside of the memory");
  }
  if (image.sections.size() < kTensor) throw std::runtime_error("sections are missing");
  image.inputs.resize(from.most(counts[2], kPortBytes));
  for (Port& p : image.inputs) p = get_port(from, image.sections);
  image.outputs.resize(from.most(counts[3], kPortBytes));
  for (Port& p : image.outputs) p = get_port(from, image.sections);
  image.section_of.resize(from.most(counts[0], 2));
  for (uint32_t& section : image.section_of) section = static_cast<uint32_t>(from.get(2));
  image.instructions.resize(from.most(counts[0], 16));
  read_contents(from, image);
  return image;
}

}  // namespace vta
