// Commands that tests run.
#pragma once
#include <filesystem>
#include <string>

namespace mrvlc::test {

// Warnings that generated C is free of, as errors.
inline constexpr const char* kStrict = "-std=c99 -Wall -Wextra -Wconversion -pedantic -Werror";

// Runs a shell command in a folder; returns its exit status, and what it printed in `output`.
int shell(const std::filesystem::path& folder, const std::string& command, std::string* output = nullptr);
// The test fails, showing what the command printed, when the command fails.
void must_run(const std::filesystem::path& folder, const std::string& command);
bool have_tool(const std::string& tool);

}  // namespace mrvlc::test
