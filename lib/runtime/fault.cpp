// The text of a fault, and the count of runs that it is about.
#include "fault.h"

#include <array>
#include <charconv>

namespace mrvlc::runtime {
namespace {

struct Kind {
  std::string_view name;
  mrvl_fault_kind kind;
};
constexpr std::array<Kind, 7> kKinds{{{"none", MRVL_FAULT_NONE},
                                      {"error", MRVL_FAULT_ERROR},
                                      {"hang", MRVL_FAULT_HANG},
                                      {"interrupt", MRVL_FAULT_INTERRUPT},
                                      {"short", MRVL_FAULT_SHORT},
                                      {"untold", MRVL_FAULT_UNTOLD},
                                      {"load", MRVL_FAULT_LOAD}}};

// The number behind `mark`, which is taken off the text; as it was when the text does not begin with it.
template <class T>
bool take_number(std::string_view& text, char mark, T& number) {
  if (!text.starts_with(mark)) return true;
  const auto [end, error] = std::from_chars(text.data() + 1, text.data() + text.size(), number);
  if (error != std::errc()) return false;
  text.remove_prefix(static_cast<size_t>(end - text.data()));
  return true;
}

}  // namespace

std::optional<mrvl_fault> parse_fault(std::string_view text) {
  mrvl_fault fault = {};
  const Kind* found = nullptr;
  for (const Kind& k : kKinds)
    if (text.starts_with(k.name)) found = &k;
  if (found == nullptr) return std::nullopt;
  fault.kind = found->kind;
  text.remove_prefix(found->name.size());
  const bool numbers = take_number(text, '@', fault.instruction) && take_number(text, ':', fault.bytes) &&
                       take_number(text, '+', fault.after) && take_number(text, 'x', fault.runs);
  return numbers && text.empty() ? std::optional(fault) : std::nullopt;
}

void Faults::set(const mrvl_fault& fault) {
  fault_ = fault;
  count_ = 0;
}

mrvl_fault Faults::next() {
  const uint64_t at = count_++;
  const bool meets = at >= fault_.after && (fault_.runs == 0 || at - fault_.after < fault_.runs);
  return meets ? fault_ : mrvl_fault{};
}

mrvl_fault Faults::next_load() {
  return fault_.kind == MRVL_FAULT_LOAD ? next() : mrvl_fault{};
}

mrvl_fault Faults::next_run(size_t instructions) {
  const bool at_instruction = fault_.kind == MRVL_FAULT_ERROR || fault_.kind == MRVL_FAULT_HANG;
  if (fault_.kind == MRVL_FAULT_LOAD || (at_instruction && fault_.instruction >= instructions)) return {};
  return next();
}

}  // namespace mrvlc::runtime
