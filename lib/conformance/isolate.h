// Work in child processes: whatever happens in one, the rest goes on.
#pragma once
#include <cstddef>
#include <functional>
#include <string>

namespace mrvlc::conformance {

using Work = std::function<std::string(size_t)>;
using Done = std::function<void(size_t, std::string)>;

// Calls work(0..count-1), in order, in a child, and done with what each returned. When the child ends, or
// gives nothing for `seconds`, lost(item, why) is called instead and another child goes on behind the item.
void for_each_isolated(size_t count, double seconds, const Work& work, const Done& done, const Done& lost);

// Calls work(0..count-1) in `jobs` children, and done with what each returned, in any order.
void for_each_parallel(size_t jobs, size_t count, const Work& work, const Done& done);

}  // namespace mrvlc::conformance
