// The functions that a file of generated C defines, by its text alone.
#pragma once
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace mrvlc::driver {

struct CFunction {
  std::string symbol;
  uint32_t line = 0, last_line = 0;  // from 1: of the name, and of the closing brace
};

// Definitions begin in column 0, and end with a '}' there.
std::vector<CFunction> c_functions(std::string_view text);

}  // namespace mrvlc::driver
