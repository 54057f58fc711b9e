// Several accelerators in one compile, behind the interface of one.
#pragma once
#include <memory>
#include <vector>

#include "mrvlc/backend/backend.h"

namespace mrvlc::backend {

inline constexpr size_t kMostAccelerators = 8;

// In the order of --target, at least one; of one it is that itself. What is asked with a binary is to be
// asked of Backend::part().
std::shared_ptr<const Backend> as_one(std::vector<std::shared_ptr<const Backend>> parts);

}  // namespace mrvlc::backend
