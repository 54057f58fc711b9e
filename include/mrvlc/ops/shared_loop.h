// A loop of emitted C that threads may share.
#pragma once
#include "mrvlc/ops/emit.h"

namespace mrvlc::ops {

// A context that has such loops.
class SharedLoops {
 public:
  virtual ~SharedLoops() = default;
  virtual void shared_loop(std::string_view var, const std::string& n, int64_t operations) = 0;
};

// for (ptrdiff_t VAR = 0; VAR < N; ++VAR) { where that is all the work of the body, and its iterations do not
// know of each other. n: a C expression. operations: of the whole loop, about as many multiply-adds.
inline void shared_loop(EmitContext& context, std::string_view var, const std::string& n,
                        int64_t operations) {
  if (auto* loops = dynamic_cast<SharedLoops*>(&context)) return loops->shared_loop(var, n, operations);
  context.open(fmt::format("for (ptrdiff_t {0} = 0; {0} < {1}; ++{0})", var, n));
}

}  // namespace mrvlc::ops
