// The page of `mrvlc compile --frontier`: choices of precision as points, time against error, and as a table.
// One file that needs neither a script nor a network.
#pragma once
#include <string>
#include <vector>

namespace mrvlc::report {

struct FrontierTable {
  struct Row {
    size_t pick = 0;  // its number
    std::string precision;
    double error = 0;    // 1e300: infinite
    double seconds = 0;  // of a run
    double cycles = 0;   // of the accelerator
    bool marked = false;
  };
  std::string title, summary;
  std::vector<Row> rows;  // the fastest first
};

// Texts may hold any bytes. The same table gives the same bytes.
std::string frontier_page(const FrontierTable& table);

}  // namespace mrvlc::report
