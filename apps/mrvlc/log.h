// The log of --log-level, to stderr.
#pragma once
#include "messages.h"
#include "mrvlc/support/log.h"
#include "mrvlc/support/result.h"

namespace mrvlc::app {

// MRV0004 when $MRVLC_LOG_LEVEL, which counts without the option, is no level.
// Without a level, on a terminal: one line that tells phase and share, once a compile takes two seconds.
Result<Log> make_log(const MessageOptions& options);
// Takes that line away; in front of whatever else goes to stderr, and at the end.
void clear_progress();

}  // namespace mrvlc::app
