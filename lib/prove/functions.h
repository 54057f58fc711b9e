// Functions that tables stand for, and their tables (docs/arithmetic.md, "Tables").
#pragma once
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "program.h"

namespace mrvlc::prove {

struct Function {
  std::string name;  // with its attributes: two functions of one name are one
  std::function<double(double)> of;
};

// Of an operator that is a table; nullopt: it is none.
std::optional<Function> table_function(const Node& n);
std::vector<float> table_of(const std::function<double(double)>& f);
std::vector<float> steps_of(const std::function<double(double)>& f);

}  // namespace mrvlc::prove
