// What an object file takes of a machine's memory.
#pragma once
#include <cstdint>
#include <optional>
#include <string_view>

namespace mrvlc::driver {

struct Sections {
  int64_t text = 0, rodata = 0, data = 0, bss = 0;  // bytes: code, constants, variables, zeros

  Sections& operator+=(const Sections& o) {
    text += o.text, rodata += o.rodata, data += o.data, bss += o.bss;
    return *this;
  }
};

// Of an ELF file, of 32 or 64 bits and either byte order; nullopt: it is no such file, or damaged.
std::optional<Sections> elf_sections(std::string_view bytes);

}  // namespace mrvlc::driver
