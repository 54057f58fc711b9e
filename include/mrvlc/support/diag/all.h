// Every diagnostic: a code that two components claim is a redefinition here.
#pragma once
#include "mrvlc/support/diag/accel.h"
#include "mrvlc/support/diag/accel_size.h"
#include "mrvlc/support/diag/chost.h"
#include "mrvlc/support/diag/general.h"
#include "mrvlc/support/diag/ir.h"
#include "mrvlc/support/diag/onnx.h"
#include "mrvlc/support/diag/ops.h"
#include "mrvlc/support/diag/partition.h"
#include "mrvlc/support/diag/passes.h"
#include "mrvlc/support/diag/rules.h"
#include "mrvlc/support/diag/sim.h"
#include "mrvlc/support/diag/target.h"
