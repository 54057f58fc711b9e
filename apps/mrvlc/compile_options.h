// Options of the driver's table on the command line, and what commands have beside them.
#pragma once
#include <CLI/CLI.hpp>
#include <span>

#include "messages.h"
#include "mrvlc/driver/option_table.h"
#include "mrvlc/support/result.h"
#include "mrvlc/support/temporary_dir.h"

namespace mrvlc::app {

struct CompileArguments {
  driver::CompileOptions options;            // as far as single options say
  std::optional<Diag> failed;                // a file that an option names
  std::string model;                         // as it was typed
  std::shared_ptr<TemporaryDir> from_stdin;  // of a model `-`, as long as it is read
};

// MODEL and the options of the table that the command (driver::command) takes; without MODEL.
void add_model_and_options(CLI::App& cmd, uint32_t command, CompileArguments& a);
void add_table_options(CLI::App& cmd, uint32_t command, CompileArguments& a);
void add_compile_examples(CLI::App& cmd);
// --data and -o of commands that learn from samples.
void add_samples_options(CLI::App& cmd, std::filesystem::path& data, std::filesystem::path& out,
                         const std::string& what);

// Checks of values that are in no table. An empty value is most often a shell variable that is not set.
CLI::Validator not_empty();
// Seconds, also as 90s, 10m, 12h or 30d; bytes, also as 64K, 2MiB or 1.5MB; a share, as 0.9 or 90%: the plain
// number is written into the text.
CLI::Validator duration_check();
CLI::Validator size_check();
CLI::Validator share_check();
// Writes what `plain` makes of the text into it.
CLI::Validator plain_text(std::function<Result<std::string>(const std::string&)> plain);
// A number from 0 on: a NaN would let everything through, or nothing.
CLI::Validator tolerance_check();

// The options as they were typed, wherever they came from, with their words; those of `left_out` not.
std::vector<std::pair<std::string, std::vector<std::string>>> typed_options(
    const CLI::App& cmd, std::span<const std::string_view> left_out);
// All options together; MRV0004 where they contradict each other.
Result<driver::CompileOptions> checked(const CLI::App& cmd, CompileArguments& a,
                                       const MessageOptions& messages);

// --target-dir, then the folders of $MRVLC_TARGET_PATH. A folder of an option that is not there is an error,
// one of the variable is passed over, as in $PATH.
Result<std::vector<std::filesystem::path>> target_search(const std::vector<std::filesystem::path>& dirs);

}  // namespace mrvlc::app
