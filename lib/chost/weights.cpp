// Lays out the weights blob.
#include "weights.h"

#include "mrvlc/support/hash.h"

namespace mrvlc::chost {

int64_t Weights::add(std::span<const std::byte> bytes, int64_t alignment) {
  auto [it, is_new] = offsets_.try_emplace({alignment, sha256_hex(bytes)}, 0);
  if (!is_new) return it->second;
  auto at = static_cast<size_t>(round_up(static_cast<int64_t>(blob_.size()), alignment));
  blob_.resize(at, '\0');
  if (bytes.empty()) blob_.push_back('\0');  // so that there is an address
  blob_.append(reinterpret_cast<const char*>(bytes.data()), bytes.size());
  return it->second = static_cast<int64_t>(at);
}

}  // namespace mrvlc::chost
