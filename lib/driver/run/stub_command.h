// How the example program of a folder is compiled and called, on this machine or another.
#pragma once
#include <functional>

#include "folder/output_folder.h"
#include "run/process.h"

namespace mrvlc::driver {

// Whether the program has parts for a device: one that has none links no simulator.
bool has_regions(const OutputFolder& folder);

// Whether the headers mrvl/*.h are in it; in what older versions wrote there are none.
bool has_headers(const OutputFolder& folder);

// The files that hold the host's weights: linked ones, or those that the program reads.
std::vector<std::string> weights_files(const OutputFolder& folder);

struct StubPlaces {
  std::vector<std::string> cc;
  std::string sources;  // OUT
  // Folders of the simulator's library, for the linker and at run time; empty: it is not linked.
  std::string link_folder, run_folder;
  std::string program;
};
// The example program: main.c, of `compile --emit single` in a folder of its own.
std::string example_file(const OutputFolder& folder);
// The words that compile it. Includes of the stub's own header are quoted, so OUT is no include folder: a
// model called "features" must not hide <features.h>.
std::vector<std::string> stub_command(const OutputFolder& folder, const std::string& cflags,
                                      const StubPlaces& places);
// Runs them; MRV0708.
Status compile_stub(const std::vector<std::string>& argv);

struct ProgramCall {
  std::vector<std::filesystem::path> inputs;  // in the order of the folder's
  std::vector<std::string> targets;           // of the devices: names, or files
  std::vector<std::string> more, environment;

  // With files called as `name` says.
  std::vector<std::string> words(const OutputFolder& folder,
                                 const std::function<std::string(const std::filesystem::path&)>& name) const;
};

}  // namespace mrvlc::driver
