// Threads that take the next index from a counter, the calling one among them.
#include "mrvlc/support/parallel.h"

#include <algorithm>
#include <atomic>
#include <future>
#include <thread>
#include <vector>

namespace mrvlc {

Status for_each_index(size_t n, unsigned jobs, const std::function<Status(size_t)>& f) {
  std::vector<Status> done(n);
  std::atomic<size_t> next = 0;
  const auto work = [&] {
    for (size_t i = next++; i < n; i = next++) done[i] = f(i);
  };
  if (jobs == 0) jobs = std::max(1u, std::thread::hardware_concurrency());
  std::vector<std::future<void>> others;
  for (unsigned j = 1; j < jobs && j < n; ++j) others.push_back(std::async(std::launch::async, work));
  work();
  for (auto& other : others) other.get();
  for (Status& s : done) MRVLC_TRY(std::move(s));
  return {};
}

}  // namespace mrvlc
