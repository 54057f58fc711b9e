// The log of --log-level, to stderr.
#pragma once
#include "messages.h"
#include "mrvlc/support/log.h"
#include "mrvlc/support/result.h"

namespace mrvlc::app {

// MRV0004 when $MRVLC_LOG_LEVEL, which counts without the option, is no level.
Result<Log> make_log(const MessageOptions& options);

}  // namespace mrvlc::app
