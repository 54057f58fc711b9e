// Hands the command line's way to print on to who watches over plug-ins.
#include "mrvlc/driver/guests.h"

#include "mrvlc/plugin/supervisor.h"

namespace mrvlc::driver {

void watch_plugins(std::function<void(const Diag&)> say) {
  plugin::allow_supervisor(std::move(say));
}

void leave_plugins_unwatched() {
  plugin::unwatched();
}

int work_done(int exit_code) {
  return plugin::work_done(exit_code);
}

}  // namespace mrvlc::driver
