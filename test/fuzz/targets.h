// Readers of what others wrote, each as a function of bytes: for libFuzzer (MRVLC_FUZZ), for mrvlc-replay,
// and for mrvlc-mutate.
#pragma once
#include <span>
#include <string_view>

namespace mrvlc::fuzz {

struct Target {
  std::string_view name;
  void (*run)(std::string_view bytes);
};
// importer, ir, rules, target, binary
std::span<const Target> targets();
const Target* find_target(std::string_view name);

}  // namespace mrvlc::fuzz
