// The page of `mrvlc diff --html`: what differs between two compiles, in one file that needs neither a script
// nor a network.
#pragma once
#include <string>
#include <vector>

namespace mrvlc::report {

struct DiffPage {
  enum class Change : uint8_t { None, Better, Worse, Neither };
  struct Total {
    std::string name, before, after, change;
    Change how = Change::None;
    bool fails = false;  // worse by more than the tolerance
  };
  struct Layer {
    std::string operators, before, after, change, why;  // numbers: cycles
    double share = 0;                                   // of the largest change, -1 to 1, drawn as a bar
  };
  struct Node {
    std::string name, op_type, before, after, reason;
  };
  struct Input {
    std::string what, before, after;
  };
  std::string title, summary;
  std::vector<Total> totals;
  std::vector<Layer> layers;
  std::vector<Node> placement;
  std::vector<Input> inputs;
};

// Texts may hold any bytes. The same data gives the same bytes.
std::string diff_page(const DiffPage& page);

}  // namespace mrvlc::report
