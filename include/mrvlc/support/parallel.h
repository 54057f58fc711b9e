// Independent steps on several threads.
#pragma once
#include <functional>

#include "mrvlc/support/result.h"

namespace mrvlc {

// f(i) for i below n; jobs 0: a thread for each processor. The first error by i, so that results do not
// depend on the number of threads.
Status for_each_index(size_t n, unsigned jobs, const std::function<Status(size_t)>& f);

}  // namespace mrvlc
