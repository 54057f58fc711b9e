// Independent steps on several threads, or beside each other.
#pragma once
#include <functional>
#include <future>

#include "mrvlc/support/result.h"

namespace mrvlc {

// f(i) for i below n; jobs 0: a thread for each processor. The first error by i, so that results do not
// depend on the number of threads.
Status for_each_index(size_t n, unsigned jobs, const std::function<Status(size_t)>& f);

// How std::async is to run what may go on beside its caller: with one job, when the result is asked for.
inline std::launch launch_for(unsigned jobs) {
  return jobs == 1 ? std::launch::deferred : std::launch::async;
}

}  // namespace mrvlc
