// `mrvlc cache`: what a cache holds, and what of it goes.
#include <chrono>

#include "batch/store.h"
#include "mrvlc/support/json_document.h"

namespace mrvlc::driver {
namespace {

int64_t now_ns() {
  return std::chrono::duration_cast<std::chrono::nanoseconds>(
             std::chrono::system_clock::now().time_since_epoch())
      .count();
}

struct Held {
  size_t entries = 0, failures = 0, removed = 0;
  int64_t bytes = 0, removed_bytes = 0;
};

Held prune(Store& store, const CacheOptions& o) {
  Held held;
  const std::vector<Store::Entry> entries = store.entries();
  for (const Store::Entry& e : entries) held.bytes += e.bytes;
  held.entries = entries.size();
  for (const Store::Entry& e : entries) {
    const bool old = o.max_age && static_cast<double>(now_ns() - e.used) > *o.max_age * 1e9;
    const bool over = o.max_size && held.bytes > *o.max_size;
    if ((old || over) && store.remove(e.path)) {
      --held.entries;
      ++held.removed;
      held.bytes -= e.bytes;
      held.removed_bytes += e.bytes;
    } else if (e.failure) {
      ++held.failures;
    }
  }
  return held;
}

}  // namespace

Result<std::string> cache(const CacheOptions& options) {
  MRVLC_ASSIGN(Store store, Store::open_existing(options.cache));
  if (options.max_age || options.max_size) store.remove_leftovers();
  const Held held = prune(store, options);
  if (options.json)
    return json_document(Json({{"schema", "mrvlc-cache-1"},
                               {"entries", held.entries},
                               {"failures", held.failures},
                               {"bytes", held.bytes},
                               {"removed", held.removed},
                               {"removed_bytes", held.removed_bytes}}));
  std::string text = fmt::format("{} entries, {} of them failures, {:.1f} MiB\n", held.entries, held.failures,
                                 static_cast<double>(held.bytes) / (1 << 20));
  if (held.removed > 0)
    text += fmt::format("{} removed, {:.1f} MiB\n", held.removed,
                        static_cast<double>(held.removed_bytes) / (1 << 20));
  return text;
}

}  // namespace mrvlc::driver
