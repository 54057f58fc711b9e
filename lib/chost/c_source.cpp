// Lines are counted when text is added, so that nobody has to find functions in C again.
#include "c_source.h"

#include <algorithm>
#include <utility>

namespace mrvlc::chost {

void CSource::add(std::string_view text) {
  if (names_ == nullptr) {
    text_ += text;
  } else {
    text_ += names_->published(text);
  }
  lines_ += static_cast<uint32_t>(std::ranges::count(text, '\n'));
}

void CSource::add(FunctionText&& function) {
  const uint32_t first = lines_ + function.above + 1;
  add(std::exchange(function.text, {}));
  if (names_ != nullptr) function.symbol = names_->published(function.symbol);
  functions_.push_back(
      {std::move(function.symbol), {}, first, lines_, function.expr, std::move(function.fused)});
}

void CSource::add(std::string_view text, const std::vector<HostFunction>& functions) {
  for (HostFunction f : functions) {
    f.first_line += lines_;
    f.last_line += lines_;
    if (names_ != nullptr) f.symbol = names_->published(f.symbol);
    functions_.push_back(std::move(f));
  }
  add(text);
}

}  // namespace mrvlc::chost
