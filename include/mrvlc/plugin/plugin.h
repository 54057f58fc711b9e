// Plug-ins (mrvl/plugin.h): opened and checked, and the files that hold what they encode.
#pragma once
#include <cstdint>
#include <filesystem>
#include <memory>
#include <string>
#include <vector>

#include "mrvl/plugin.h"
#include "mrvlc/support/result.h"

namespace mrvlc::plugin {

// A library that is loaded as long as one of these lives, or code of this program.
class Plugin {
 public:
  // MRV0355 names what is wrong with it: it does not load, has no such function, gives no table, or one of
  // another version, of another name, too short, or without a function it must have.
  static Result<Plugin> open(const std::filesystem::path& library, const std::string& name);
  // One that is linked in: nothing is loaded, and nobody watches over it.
  static Result<Plugin> built_in(const mrvl_plugin* (*entry)(), const std::string& name);
  // What its version and its size do not hold is null.
  const mrvl_plugin& table() const { return table_; }
  // "what it says", or what the number is.
  std::string said(int code) const;

 private:
  // Empty, or what is wrong with the table.
  std::string take(const mrvl_plugin* table, const std::string& name);

  std::shared_ptr<void> handle_;
  mrvl_plugin table_{};
};

// What NAME.region<i>.mrvl holds of a region that a plug-in encoded; docs/targets.md has the layout.
struct File {
  // Cycles of instructions up to `end`, from that of the one before on.
  struct RangeTime {
    uint64_t end = 0, cycles = 0;
  };
  std::vector<uint64_t> inputs, outputs;  // bytes of each port
  uint64_t cycles = 0;                    // of an inference; 0: not known
  std::string bytes;                      // the plug-in's
  std::vector<RangeTime> ranges;          // in order; empty: not known
};
bool is_file(std::string_view bytes);
std::string write_file(const File& file);
// MRV0701: it is none, or damaged.
Result<File> read_file(std::string_view bytes);

}  // namespace mrvlc::plugin
