// The dependency file of -MD and -MF.
#pragma once
#include "inputs/read_files.h"
#include "mrvlc/driver/options.h"
#include "mrvlc/support/diag.h"
#include "mrvlc/target/find.h"

namespace mrvlc::driver {

// What decides on OUT besides the command line.
struct Decisive {
  const std::vector<ReadFile>& read;  // the model first
  const target::Searched& searched;   // where targets were looked for
};

// Written when it is asked for: the targets of -MT and -MQ, or OUT/manifest.json, from all that is decisive.
// MRV0004: it cannot name a file. MRV1080: the form cannot say that a variable decided.
Status write_depfile(const CompileOptions& options, const Decisive& decisive, Diagnostics& diagnostics);

}  // namespace mrvlc::driver
