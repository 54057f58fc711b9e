// Diagnostics 13xx: meshes of processing elements. Rules in mrvlc/support/diag.h.
#pragma once
#include "mrvlc/support/diag.h"

namespace mrvlc::DiagCode {

// clang-format off
MRVLC_DIAG(1300, Error, Usage, "there is no machine '{}'; built in are {}, and grids as mesh-N and mesh-RxCxN")
MRVLC_DIAG(1301, Error, Rejected, "the machine description is wrong: {}")
MRVLC_DIAG(1302, Error, Usage, "'{}' is no part of machine {}: parts are chip:N, pe:CHIP.CORE and link:CHIP-CHIP of neighbours")
MRVLC_DIAG(1303, Error, Rejected, "a mesh cannot compute this: {}")
MRVLC_DIAG(1304, Error, Rejected, "the smallest part of this layer takes {} bytes of a PE, which has {}")
MRVLC_DIAG(1305, Error, Rejected, "the network takes {} bytes in {} parts, the {} PEs have {}")
MRVLC_DIAG(1306, Error, Gate, "{}")
MRVLC_DIAG(1307, Error, Usage, "'{}' is no OUT of a mesh: it has no mesh.json")
MRVLC_DIAG(1308, Error, Usage, "{} is not for a mesh")
MRVLC_DIAG(1309, Error, Rejected, "the graph cannot be shared out: {}")
// clang-format on

}  // namespace mrvlc::DiagCode
