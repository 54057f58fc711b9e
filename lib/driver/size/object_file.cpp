// The section headers of ELF (System V ABI, chapter 4), as far as sizes need them.
#include "size/object_file.h"

#include <cstddef>

namespace mrvlc::driver {
namespace {

// Numbers at offsets; one beyond the end makes the file a damaged one.
class Reader {
 public:
  Reader(std::string_view bytes, bool little) : bytes_(bytes), little_(little) {}

  uint64_t number(uint64_t at, size_t size) {
    if (at > bytes_.size() || bytes_.size() - at < size) {
      sound_ = false;
      return 0;
    }
    uint64_t value = 0;
    for (size_t i = 0; i < size; ++i) {
      const size_t from = little_ ? size - 1 - i : i;
      value = value << 8 | static_cast<unsigned char>(bytes_[at + from]);
    }
    return value;
  }
  bool sound() const { return sound_; }

 private:
  std::string_view bytes_;
  bool little_, sound_ = true;
};

// Where the fields of a file of 32 or 64 bits lie.
struct Layout {
  uint64_t table, entry_size, count;       // of the file's header
  uint64_t flags, flags_size, size, word;  // of a section's
};
constexpr Layout k32 = {0x20, 0x2e, 0x30, 0x08, 4, 0x14, 4};
constexpr Layout k64 = {0x28, 0x3a, 0x3c, 0x08, 8, 0x20, 8};

void add(Sections& all, uint64_t type, uint64_t flags, int64_t size) {
  constexpr uint64_t kNoBits = 8, kWrite = 1, kAlloc = 2, kExecute = 4;
  if ((flags & kAlloc) == 0) return;
  if (type == kNoBits) {
    all.bss += size;
  } else if ((flags & kExecute) != 0) {
    all.text += size;
  } else {
    ((flags & kWrite) != 0 ? all.data : all.rodata) += size;
  }
}

}  // namespace

std::optional<Sections> elf_sections(std::string_view bytes) {
  constexpr uint64_t kMost = uint64_t{1} << 48;
  if (bytes.size() < 16 || !bytes.starts_with("\177ELF")) return std::nullopt;
  const Layout& l = bytes[4] == 2 ? k64 : k32;
  Reader in(bytes, bytes[5] == 1);
  const uint64_t table = in.number(l.table, l.word), step = in.number(l.entry_size, 2);
  const uint64_t count = in.number(l.count, 2);
  Sections all;
  for (uint64_t i = 0; i < count && in.sound(); ++i) {
    if (table > bytes.size()) return std::nullopt;
    const uint64_t at = table + i * step, size = in.number(at + l.size, l.word);
    if (size > kMost) return std::nullopt;
    add(all, in.number(at + 4, 4), in.number(at + l.flags, l.flags_size), static_cast<int64_t>(size));
  }
  if (!in.sound()) return std::nullopt;
  return all;
}

}  // namespace mrvlc::driver
