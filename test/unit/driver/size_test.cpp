// Sizes of object files and stack frames, as --measure-size reads them.
#include <catch2/catch.hpp>

#include "size/code_size.h"

using namespace mrvlc::driver;

namespace {

// Section headers alone: of each the type, flags and size.
struct Section {
  uint32_t type, flags, size;
};

std::string elf(bool wide, bool little, const std::vector<Section>& sections) {
  std::string out = "\177ELF";
  const auto put = [&](uint64_t value, size_t bytes) {
    for (size_t i = 0; i < bytes; ++i) out += static_cast<char>(value >> 8 * (little ? i : bytes - 1 - i));
  };
  const size_t word = wide ? 8 : 4, header = wide ? 64 : 52, step = wide ? 64 : 40;
  out += {static_cast<char>(wide ? 2 : 1), static_cast<char>(little ? 1 : 2)};
  out.resize(wide ? 0x28 : 0x20);
  put(header, word);
  out.resize(wide ? 0x3a : 0x2e);
  put(step, 2), put(sections.size(), 2);
  out.resize(header);
  for (const Section& s : sections) {
    const size_t begin = out.size();
    put(0, 4), put(s.type, 4), put(s.flags, word), put(0, 2 * word), put(s.size, word);
    out.resize(begin + step);
  }
  return out;
}

}  // namespace

TEST_CASE("code, constants, variables and zeros of an ELF file") {
  for (const bool wide : {false, true}) {
    for (const bool little : {false, true}) {
      const std::string file =
          elf(wide, little, {{1, 6, 1000}, {1, 2, 70}, {1, 3, 8}, {8, 3, 300}, {1, 0, 5000}, {1, 6, 24}});
      const auto s = elf_sections(file);
      REQUIRE(s);
      CHECK(s->text == 1024);
      CHECK(s->rodata == 70);
      CHECK(s->data == 8);
      CHECK(s->bss == 300);
      for (size_t bytes = 0; bytes < file.size(); ++bytes) {
        INFO(bytes);
        // The last section's header may lack what is not read.
        const auto cut = elf_sections(std::string_view(file).substr(0, bytes));
        CHECK((!cut || (cut->text == 0 && bytes < 64) || cut->text == 1024));
      }
    }
  }
  CHECK_FALSE(elf_sections("MZ, and more than sixteen bytes"));
}

TEST_CASE("frames that compilers tell") {
  const auto frames = read_frames(
      "m.c:12:5:m_run\t48\tstatic\nC:/a b/m.c:1:2:m_f0.constprop.0\t96\tdynamic,bounded\nnot a line\n\t\n");
  REQUIRE(frames.size() == 2);
  CHECK(frames[0] == Frame{"m_run", 48, true});
  CHECK(frames[1] == Frame{"m_f0.constprop.0", 96, false});
}

TEST_CASE("words of the compiler that reports show") {
  CHECK(shown_compiler("/opt/gcc/bin/gcc -mcpu=cortex-m4 -I/home/me -O2") ==
        "gcc -std=c99 -mcpu=cortex-m4 -O2");
  CHECK(shown_compiler("cc") == "cc -Os -std=c99");
  CHECK(shown_compiler(" ").empty());
}
