// What the stages of one command have in common.
#pragma once
#include "inputs/read_files.h"
#include "mrvlc/driver/interrupt.h"
#include "mrvlc/driver/options.h"
#include "mrvlc/passes/pass.h"
#include "mrvlc/support/diag/general.h"
#include "stages/phase_timer.h"

namespace mrvlc::driver {

// What a stage tells. Who tries several ways tells what the one that is taken has said.
struct Said {
  Diagnostics diagnostics;
  std::vector<std::string> texts;  // of --dump-ir and --dump-stage

  void add(const Said& other) {
    for (const Diag& d : other.diagnostics.list()) diagnostics.add(d);
    texts.insert(texts.end(), other.texts.begin(), other.texts.end());
  }
};

struct Session {
  explicit Session(const CompileOptions& options) : timer(options.log), out(options.out) {}

  PhaseTimer timer;
  std::filesystem::path out;  // what an interrupt is told of
  std::vector<passes::PassTime> pass_times;
  std::vector<ReadFile> read;  // so far, for who asks what a stage that failed has read

  // `f` as a part of the phase `name`. False: it failed, or the user wants no more; `said` says so.
  template <class F>
  bool phase(const char* name, Said& said, F f) {
    Status status = timer.time(name, f);
    // Once OUT is in place there is nothing left to interrupt.
    if (status.ok() && interrupted() != 0) status = make_diag<DiagCode::MRV0002>(out.string(), "interrupted");
    if (!status.ok()) said.diagnostics.add(status.error());
    return status.ok();
  }
};

}  // namespace mrvlc::driver
