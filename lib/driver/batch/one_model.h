// One model of a batch, in a process of its own.
#pragma once
#include <sys/types.h>

#include "batch/record.h"

namespace mrvlc::driver {

struct OneModel {
  const BatchOptions* options = nullptr;
  std::filesystem::path model;
  std::string name;   // below the batch's folder
  std::string asked;  // hash of compiler, options and NAME
  pid_t parent = 0;

  std::filesystem::path out() const { return options->out / name; }
  std::filesystem::path record() const { return options->out / ".batch" / (name + ".json"); }
  std::filesystem::path log() const { return options->out / ".batch" / (name + ".log"); }
};

// The hash of this compiler, of the options as typed, and of the folders of targets.
std::string hash_of_options(const BatchOptions& options);
// `asked` of a model, from that hash.
std::string asked_of(const std::string& options_hash, const std::filesystem::path& model);

// Takes the result from the cache, or compiles and keeps it, and writes the record. Never returns: the
// process ends, with 0 when the record is there.
[[noreturn]] void compile_one(const OneModel& one);

}  // namespace mrvlc::driver
