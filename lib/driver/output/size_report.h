// What --measure-size found, for reports.
#pragma once
#include "model/compiled_model.h"
#include "model/report.h"

namespace mrvlc::driver {

ReportedSize reported_size(const CompiledModel& m);
// Of report.txt.
std::string code_size_lines(const ReportedSize& size);
// Of the summary: "code 12.1 KiB, ... (gcc -Os -std=c99)".
std::string code_size_line(const ReportedSize& size);

}  // namespace mrvlc::driver
