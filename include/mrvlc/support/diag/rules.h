// Diagnostics 0300-0349: rules; the first argument is FILE:LINE:COLUMN, the last an excerpt of the file, on
// lines of its own. Rules in mrvlc/support/diag.h.
#pragma once
#include "mrvlc/support/diag.h"

namespace mrvlc::DiagCode {

// clang-format off
MRVLC_DIAG(0301, Error, Rejected, "{}: {}\n{}")
MRVLC_DIAG(0302, Error, Rejected, "{}: unknown operator '{}'{}\n{}")
MRVLC_DIAG(0303, Error, Rejected, "{}: unknown predicate '{}'{}\n{}")
MRVLC_DIAG(0304, Error, Rejected, "{}: '{}' {}\n{}")
MRVLC_DIAG(0305, Error, Rejected, "{}: capture '%{}' is not bound by the pattern{}\n{}")
MRVLC_DIAG(0306, Error, Rejected, "{}: {} '{}' is already defined at {}\n{}")
MRVLC_DIAG(0307, Error, Rejected, "{}: rule '{}' overlaps with rule '{}' ({}) at the same priority {}: give one of them another priority or a condition that keeps them apart\n{}")
MRVLC_DIAG(0308, Error, Rejected, "{}: rule '{}' can never win: rule '{}' ({}) matches everything it matches at a higher priority\n{}")
MRVLC_DIAG(0309, Error, Rejected, "{}: unknown layer kind '{}'; known are {}{}\n{}")
MRVLC_DIAG(0310, Error, Rejected, "{}: rule '{}' has no '{}'\n{}")
MRVLC_DIAG(0311, Error, Rejected, "{}: {}\n{}")
MRVLC_DIAG(0313, Error, Limit, "{}: {}")
MRVLC_DIAG(0314, Error, Rejected, "{}: operator '{}' has no attribute '{}'{}\n{}")
MRVLC_DIAG(0315, Error, Usage, "no rule named '{}'")
MRVLC_DIAG(0316, Error, Rejected, "{}: a layer of kind '{}' cannot begin with {}, it begins with {}; {}\n{}")
MRVLC_DIAG(0317, Warning, Rejected, "{}: '{}' says nothing: what the accelerator can do is asked of every match; take it out\n{}")
MRVLC_DIAG(0318, Error, Rejected, "{}: condition '{}' never holds: {}\n{}")
MRVLC_DIAG(0319, Error, Rejected, "{}: condition '{}' contradicts '{}' ({}:{}): no match fulfils both\n{}")
MRVLC_DIAG(0320, Warning, Rejected, "{}: rule '{}' is hidden: rule '{}' ({}) takes the first {} of its {} elements at a higher priority\n{}")
MRVLC_DIAG(0321, Warning, Rejected, "{}: together with the built-in rules it is refused, so it needs --no-default-rules: {}\n{}")
MRVLC_DIAG(0322, Warning, Rejected, "{}: the file holds no rule")
MRVLC_DIAG(0323, Note, Rejected, "{}: capture '%{}' is used nowhere else; '{}' says the same\n{}")
MRVLC_DIAG(0324, Note, Rejected, "{}: condition '{}' always holds\n{}")
MRVLC_DIAG(0325, Warning, Rejected, "{}: {} '{}' has the name of {}; {}\n{}")
MRVLC_DIAG(0326, Note, Rejected, "{}: group '{}' is used nowhere\n{}")
MRVLC_DIAG(0327, Warning, Rejected, "{} more messages are not shown")
MRVLC_DIAG(0328, Warning, Rejected, "there are more rules than could all be compared with each other: not every overlap was looked for")
MRVLC_DIAG(0329, Error, Rejected, "{}: '{}' cannot be included: {}\n{}")
MRVLC_DIAG(0330, Error, Rejected, "{}: files include each other in a circle: {}\n{}")
// clang-format on

}  // namespace mrvlc::DiagCode
