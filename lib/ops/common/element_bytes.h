// What movement operators need to take strings as well: elements of a size that C knows.
#pragma once
#include "common/infer_util.h"

namespace mrvlc::ops {

namespace spec {
inline constexpr TypeSet kMovable{kFixedSize.bits | types_of({ElementType::String}).bits};
}

// C expression of the bytes of `count` elements.
inline std::string element_bytes(ElementType elem, int64_t count = 1) {
  if (elem != ElementType::String) return fmt::format("{}", count * byte_size(elem));
  return count == 1 ? "(int64_t)sizeof(mrvl_string)"
                    : fmt::format("{} * (int64_t)sizeof(mrvl_string)", count);
}

}  // namespace mrvlc::ops
