// Targets that are libraries of C functions: what a compile reads of their packages.
#pragma once
#include "mrvlc/chost/chost.h"
#include "mrvlc/partition/library.h"
#include "mrvlc/target/find.h"
#include "read_files.h"

namespace mrvlc::driver {

struct Libraries {
  std::vector<partition::Library> rules;  // in the order of --target
  chost::Linked linked;
  std::vector<std::pair<std::string, std::string>> files;  // of packages, for OUT: name and bytes
  std::vector<ReadFile> read;
  bool split_bias = false;  // one of them asks for the pass of that name
};

// Adds the package of a target file of kind `call`, which was found by `name`. Warnings about its rules go to
// `diagnostics`. `model`: names that the compile itself gives to files of OUT.
Status add_library(const std::string& name, const target::TargetText& text, std::string_view model,
                   Libraries& out, Diagnostics& diagnostics);

}  // namespace mrvlc::driver
