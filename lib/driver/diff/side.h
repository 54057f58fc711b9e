// One of the two folders that `mrvlc diff` compares.
#pragma once
#include <map>
#include <set>
#include <string>
#include <vector>

#include "folder/output_folder.h"
#include "model/report.h"

namespace mrvlc::driver {

struct DiffLayer {
  std::string operators, kind, bound;
  std::set<std::string> nodes;  // of ONNX, by their names
  int64_t cycles = 0, ddr_bytes = 0;
};

struct DiffNode {
  std::string op_type, where, target, rule, reason;
};

struct DiffSide {
  Given given;
  Report report;
  std::vector<DiffLayer> layers;          // in the order of the program
  std::map<std::string, DiffNode> nodes;  // by name
};

Result<DiffSide> read_side(const std::filesystem::path& out,
                           const std::vector<std::filesystem::path>& target_dirs);

}  // namespace mrvlc::driver
