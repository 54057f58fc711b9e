// The grammar of the stages' texts: a line is a record of words and key=value fields, lines indented below it
// are its children. docs/stages.md.
#pragma once
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "mrvlc/support/result.h"

namespace mrvlc::accel {

struct Record {
  size_t line = 0;  // of the text, from 1; 0: made here
  std::vector<std::string> words;
  std::vector<std::pair<std::string, std::string>> fields;
  std::vector<Record> children;
};

std::string print(const std::vector<Record>& records);
// Errors (MRV0802) name line and column. Any bytes are taken without crashing.
Result<std::vector<Record>> parse_records(std::string_view text);
// An error at a record.
Diag record_error(const Record& record, std::string_view what);

}  // namespace mrvlc::accel
