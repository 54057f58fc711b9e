// Nobody waits for ever. A task begins an image when its operands are there and all who read its result have
// room; each edge has at least one credit. One image from begin to end leaves everything as it was before, so
// a run in which every task fires once proves that any number of images ends, whatever the order in which
// messages come.
#include <deque>

#include "check/checker.h"

namespace mrvlc::mesh {

void Checker::liveness() {
  const size_t tasks = p_.tasks.size();
  std::vector<std::vector<uint32_t>> of_pe(p_.pes.size()), readers(tasks);
  std::vector<size_t> missing(tasks, 0), next(p_.pes.size(), 0);
  for (uint32_t t = 0; t < tasks; ++t) of_pe[p_.tasks[t].pe].push_back(t);
  for (const Edge& e : p_.edges) {
    if (e.to == kHost || e.from == kHost) continue;  // the host feeds and collects whatever else happens
    ++missing[e.to];
    readers[e.from].push_back(e.to);
  }
  std::deque<uint32_t> open;  // PEs whose next task may be able to fire
  for (uint32_t p = 0; p < of_pe.size(); ++p) open.push_back(p);
  size_t fired = 0;
  for (; !open.empty(); open.pop_front()) {
    const uint32_t p = open.front();
    while (next[p] < of_pe[p].size() && missing[of_pe[p][next[p]]] == 0) {
      const uint32_t t = of_pe[p][next[p]++];
      ++fired;
      for (const uint32_t reader : readers[t])
        if (--missing[reader] == 0) open.push_back(p_.tasks[reader].pe);
    }
  }
  if (fired == tasks) return;
  for (uint32_t p = 0; p < of_pe.size(); ++p)
    if (next[p] < of_pe[p].size()) fault("{} waits for ever", task_name(of_pe[p][next[p]]));
}

}  // namespace mrvlc::mesh
