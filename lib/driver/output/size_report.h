// What --measure-size found, for reports.
#pragma once
#include "model/compiled_model.h"

namespace mrvlc::driver {

// report.json's host.size.
Json code_size_json(const CompiledModel& m);
// Of report.txt, from that.
std::string code_size_lines(const Json& host);
// Of the summary: "code 12.1 KiB, ... (gcc -Os -std=c99)".
std::string code_size_line(const Json& host);

}  // namespace mrvlc::driver
