// Why a node is erased: a sentence for the ID map, and what became of its value.
#pragma once
#include <string>
#include <string_view>

namespace mrvlc::ir {

struct Because {
  std::string_view text;
  bool folded = false;  // computed when the model is compiled, or taken into constants of other nodes

  Because(std::string_view because) : text(because) {}    // NOLINT: implicit by design
  Because(const char* because) : text(because) {}         // NOLINT
  Because(const std::string& because) : text(because) {}  // NOLINT
  Because(std::string_view because, bool is_folded) : text(because), folded(is_folded) {}
};

inline Because folded(std::string_view because) {
  return {because, true};
}

}  // namespace mrvlc::ir
