// Models compiled by the mrvlc of this build, with inputs and known answers, and the means to build and run
// their stubs.
#pragma once
#include <filesystem>
#include <string>
#include <vector>

#include "support/commands.h"
#include "support/distance.h"

namespace mrvlc::stubtest {

using test::distance, test::kStrict, test::must_run;

// A model compiled into folder/out under the C name `name`.
struct Subject {
  std::string name;
  bool host = true;  // no regions: needs no simulator
  std::filesystem::path folder;
  std::vector<std::string> inputs;        // NAME=FILE.npy
  std::vector<std::string> output_files;  // in the order of the model
  std::string run_options;
  // Either outputs of a reference within `tolerance` of the greatest magnitude, or the class of every image.
  std::vector<Tensor> expected;
  Tensor labels;
  double tolerance = 0;
  std::vector<Tensor> plain;  // what the program of the generated Makefile computes

  std::filesystem::path out() const { return folder / "out"; }
};

// Compiled on the first call. Real networks take part where the shared data is there.
const std::vector<Subject>& subjects();

// True when the tool is installed; else a warning that names what is left out.
bool have_tool(const std::string& tool, const std::string& purpose);

// Flags for programs that load the simulator, which carries the sanitizers of this build.
std::string simulator_flags();
// Builds main.c and the stub with `compiler` (command and flags) and strict warnings, runs it behind
// `runner`.
std::vector<Tensor> build_and_run(const Subject& subject, const std::string& compiler,
                                  const std::string& runner = {});
// Runs the built program of the subject.
std::vector<Tensor> run_program(const Subject& subject, const std::string& program);

// Share of rows of `scores` whose greatest element stands at the label.
double accuracy(const Tensor& scores, const Tensor& labels);

}  // namespace mrvlc::stubtest
