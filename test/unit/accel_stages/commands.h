// What the cases of stages/*.txt run: a stage of the back end, from text to text.
#pragma once
#include <string>
#include <vector>

namespace mrvlc::accel::test {

// `command`: the name of a stage and key=value arguments. Fails the test where the text cannot be read or the
// result breaks what its stage promises.
std::string run_command(const std::string& command, const std::string& input);
std::vector<std::string> command_names();

}  // namespace mrvlc::accel::test
