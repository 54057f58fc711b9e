// The page of `mrvlc verify --layers`: a table in one file that needs neither a script nor a network.
#pragma once
#include <string>
#include <vector>

namespace mrvlc::report {

struct LayerTable {
  struct Row {
    std::vector<std::string> cells;  // number, place, operators, error, own, inherited, limit, state, inputs
    double own_share = 0;            // of the largest of its errors, drawn as a bar
    bool marked = false;             // the layer that the summary names
  };
  std::string title, summary;
  std::vector<Row> rows;
};

// Texts may hold any bytes. The same table gives the same bytes.
std::string layer_page(const LayerTable& table);

}  // namespace mrvlc::report
