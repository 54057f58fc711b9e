// The operators that the importer takes apart into those of the operator table.
#pragma once
#include <string_view>
#include <vector>

namespace mrvlc::onnx {

struct TakenApart {
  std::string_view domain, name;
  std::string_view made_of;  // the operators of ONNX that do the work, in words
  int since_min = 1, since_max = 28;
};

// All of them, in the order of domain and name.
std::vector<TakenApart> taken_apart();

}  // namespace mrvlc::onnx
