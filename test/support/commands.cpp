#include "commands.h"

#include <fmt/format.h>

#include <catch2/catch.hpp>
#include <cstdlib>

#include "folders.h"

namespace mrvlc::test {
namespace fs = std::filesystem;

int shell(const fs::path& folder, const std::string& command, std::string* output) {
  int status = std::system(fmt::format("cd '{}' && ({}) > shell.log 2>&1", folder.string(), command).c_str());
  if (output != nullptr) *output = slurp(folder / "shell.log");
  return status;
}

void must_run(const fs::path& folder, const std::string& command) {
  std::string output;
  int status = shell(folder, command, &output);
  INFO(command);
  INFO(output);
  REQUIRE(status == 0);
}

bool have_tool(const std::string& tool) {
  return std::system(fmt::format("command -v {} > /dev/null 2>&1", tool).c_str()) == 0;
}

}  // namespace mrvlc::test
