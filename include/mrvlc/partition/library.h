// A target that is a library of C functions, as the partitioner sees it.
#pragma once
#include "mrvlc/partition/rules.h"

namespace mrvlc::partition {

struct Library {
  std::string target;
  SoundRules rules;  // of kind `call` or `cpu`
};

// The rules of a package; kinds of layers are `call` and `cpu`, and there are no numbers of a machine.
rules::LoadResult load_library_rules(const std::vector<rules::RuleFile>& files);

}  // namespace mrvlc::partition
