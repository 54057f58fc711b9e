// What the generated C takes once a C compiler has seen it: --measure-size.
#pragma once
#include <optional>
#include <string>
#include <vector>

#include "mrvlc/support/result.h"
#include "size/object_file.h"

namespace mrvlc::driver {

// The stack frame of a function: a compiler's word. `fixed`: it does not depend on data.
struct Frame {
  std::string function;
  int64_t bytes = 0;
  bool fixed = true;
  friend bool operator==(const Frame&, const Frame&) = default;
};

struct CodeSize {
  std::string compiler;  // its words, without folders
  std::vector<std::pair<std::string, Sections>> files;
  std::optional<std::vector<Frame>> frames;  // largest first; nullopt: the compiler does not tell

  Sections all() const;
};

// The words that the compiler is called by, as reports show them.
std::string shown_compiler(const std::string& text);
// The frames of a file of -fstack-usage.
std::vector<Frame> read_frames(std::string_view text);
// The C of a program: what is compiled, and in which texts it stands, by name.
struct ProgramText {
  std::vector<std::string> compiled;
  std::vector<const std::vector<std::pair<std::string, std::string>>*> files;
  std::vector<std::string> standard = {"-std=c99"};  // chost::Linked
};
// Of --measure-size, unless that is empty. Compiles the program's C, without examples and files of weights,
// by these words and -Os. MRV0708: the compiler refuses it; MRV0642: what it writes is no ELF file.
Result<std::optional<CodeSize>> measure_size(const std::string& compiler, const ProgramText& program);

}  // namespace mrvlc::driver
