// The files that every mesh program has, as text.
#pragma once
#include <string_view>
#include <vector>

namespace mrvlc::mesh {

struct RuntimeText {
  std::string_view file, text;
};
const std::vector<RuntimeText>& runtime_texts();

}  // namespace mrvlc::mesh
