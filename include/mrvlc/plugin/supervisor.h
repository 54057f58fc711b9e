// Who notices that a plug-in ends the process, or never returns. Before the first plug-in is loaded the
// process forks: the child goes on with the work, and the parent waits for it and says what became of it.
#pragma once
#include <functional>

#include "mrvlc/support/diag.h"

namespace mrvlc::plugin {

struct Running;  // call.h

// `say` prints a message. Where the process has threads by then, or cannot fork, there is no parent that
// waits: a plug-in that calls exit() is noticed then, one that crashes or hangs is not.
void allow_supervisor(std::function<void(const Diag&)> say);
// The work is done: whatever happens from here on, the process ends with that code. Gives it back.
int work_done(int exit_code);

// In a process of its own whose end somebody else looks at, such as one of `mrvlc batch`.
void unwatched();

namespace detail {
// Before a library is loaded.
void supervise();
// Before a call. Of what is done at exit() the last that was asked for is the first: it is asked for again as
// calls go on, each time their number has doubled.
void expect_exit();
Running& running();
}  // namespace detail

}  // namespace mrvlc::plugin
