// What tells a model binary from every other one: the SHA-256 of all that follows its header. The container
// carries it, and the host stub knows that of its own binaries. Offset: docs/isa.md.
#pragma once
#include <array>
#include <cstdint>
#include <string_view>

namespace mrvlc::isa {

using Identity = std::array<uint8_t, 32>;

// As the container says it; `container` is what write_container() gave, or read_container() accepts.
Identity stored_identity(std::string_view container);

}  // namespace mrvlc::isa
