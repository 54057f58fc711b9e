// Target packages of kind `call`: libraries of C functions, described by rules (docs/targets.md).
#pragma once
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "mrvlc/support/result.h"

namespace mrvlc::target {

// Of C, the older ones first, as -std= takes them; those that begin with "gnu" are with GNU's extensions.
inline constexpr std::string_view kStandards[] = {"c99", "gnu99", "c11", "gnu11", "c17", "gnu17"};
// The least that has all of both.
std::string_view both_standards(std::string_view a, std::string_view b);
// Flags for it. Under GNU's compilers fuse products with sums unless they are told not to, under C's own not.
std::vector<std::string> standard_flags(std::string_view standard);

struct LibraryPackage {
  std::string name, description;
  // Files of the package's folder, plain names: rules (NAME.rules unless it says which), headers, and C files
  // that are compiled with the program.
  std::vector<std::string> rules, headers, sources;
  std::vector<std::string> system_headers;  // "arm_nnfunctions.h": where the C compiler looks for them
  std::vector<std::string> libraries;       // "m": linked by -lm
  std::string standard = "c99";             // of its sources and headers, one of kStandards
  bool split_bias = false;  // its rules see convolutions and Gemm without a bias, which is an Add behind them
  bool integers = false;    // its rules see quantised networks with integers right in front of every layer
  int64_t steps = 0;        // by which an int8 result of a call may differ from ONNX's
};

struct PackageFile {
  std::string name, text;
};
// The files of a new package with one rule and one function, to be edited. MRV0351: no name for a target.
Result<std::vector<PackageFile>> new_library(std::string_view name);

// Whether the text of a target file says "kind": "call".
bool is_library(std::string_view json);
// Unknown and repeated keys, names with folders and `extends` are refused: MRV0350, MRV0351.
Result<LibraryPackage> parse_library(std::string_view json, std::string_view shown_name);

}  // namespace mrvlc::target
