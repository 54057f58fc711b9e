// Plug-ins in the process of a command: mrvlc/plugin/supervisor.h, for the command line.
#pragma once
#include <functional>

#include "mrvlc/support/diag.h"

namespace mrvlc::driver {

// `say` prints an error, of a plug-in that ended the process or never returned.
void watch_plugins(std::function<void(const Diag&)> say);
// In a process whose end somebody else looks at.
void leave_plugins_unwatched();
// The last word before the process ends with that code, which it gives back.
int work_done(int exit_code);

}  // namespace mrvlc::driver
