// The options of compile, and of the commands that share some of them: each stands once, as a record. Parser,
// help, completion, the project file, the environment, the manifest and docs/command-line.md come from it.
#pragma once
#include <functional>
#include <span>
#include <string_view>

#include "mrvlc/driver/options.h"
#include "mrvlc/support/result.h"

namespace mrvlc::driver {

// The part of the help that an option stands in.
enum class OptionGroup : uint8_t {
  Model,
  Output,
  Target,
  Placement,
  Accuracy,
  HostCode,
  Faults,
  Gates,
  Builds
};
std::string_view title(OptionGroup group);

// Commands that take options of the table; bits.
namespace command {
inline constexpr uint32_t kCompile = 1, kVerify = 2, kBatch = 4, kBundle = 8, kTune = 16;
inline constexpr uint32_t kOthers = 32;  // those that only read a model: inspect, calibrate, reduce, ...
inline constexpr uint32_t kAll = 63;
inline constexpr uint32_t kResults = kCompile | kBatch | kBundle;  // what a compile comes to, and its gates
inline constexpr uint32_t kCodes = kResults | kVerify;             // what decides on the code
}  // namespace command

// What is true of an option beside its value; bits.
namespace option {
// Decides neither what is written into OUT nor whether it is: the manifest does not tell of it.
inline constexpr uint32_t kNotInManifest = 1;
// Runs a program, loads one, reaches another machine, deletes or writes elsewhere: a project file that only
// lies in the current folder must not say it (docs/security.md).
inline constexpr uint32_t kOnlyIfNamed = 2;
// Has no effect on a model of which nothing runs on an accelerator: a warning says so (MRV0010).
inline constexpr uint32_t kNeedsRegions = 4;
inline constexpr uint32_t kRequired = 8;
}  // namespace option

// How the words behind an option become what it sets.
struct OptionReader {
  enum class Takes : uint8_t { Nothing, One, Any } takes = Takes::One;  // Any: the option may be repeated
  // MRV0004 with the option's name. Of a flag, words are empty.
  std::function<Status(std::string_view option, std::span<const std::string> words, CompileOptions& options)>
      read;
  std::vector<std::string> choices;  // the words there are; empty: any
  // What help shows as the default, of options that nobody set; may be null.
  std::function<std::string(CompileOptions& options)> shown;
  // The plain number of a value with a unit ("64K" is 65536): what is recorded of it; may be null.
  Result<std::string> (*plain)(const std::string& text) = nullptr;
};

struct OptionRecord {
  std::string_view names;  // as they are typed: "-o,--output"
  OptionGroup group;
  uint32_t commands;
  std::string_view value;  // what help calls the value; empty of flags
  std::string_view help;
  OptionReader reader;
  uint32_t facts = 0;
  std::string_view excludes = {}, needs = {};  // another option
};

// In the order of the help.
std::span<const OptionRecord> option_table();
// "--output" of "-o,--output".
std::string_view long_name(const OptionRecord& record);
// Null: the table has none of that name.
const OptionRecord* find_option(std::string_view long_name);
// Markdown: an option a row, by group (docs/command-line.md).
std::string options_markdown();

// What no option can say alone: those that contradict each other. MRV0004.
Status check_together(const CompileOptions& options);

// Sizes, shares and durations as users write them: 65536, 64K, 1.5MiB, 2MB; 0.9, 90%; 90, 90s, 10m, 12h, 30d.
// What is wrong with a text is said after its option's name ("'x' is no size; ...").
Result<int64_t> parse_size(const std::string& text);
Result<double> parse_share(const std::string& text);
Result<double> parse_seconds(const std::string& text);

}  // namespace mrvlc::driver
