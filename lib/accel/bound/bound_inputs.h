// What the layers of a region need of its inputs.
#pragma once
#include <map>
#include <set>

#include "mrvlc/ops/params.h"
#include "mrvlc/partition/region.h"

namespace mrvlc::accel {

// Windows along one dimension.
struct Axis {
  int64_t taps = 0;       // kernel positions that meet the input at least once
  int64_t pairs = 0;      // (output, tap) inside the input
  int64_t positions = 0;  // input positions that some window touches, at least
};
Axis axis_of(const ops::WindowParams& p, size_t d);

// Products summed in one result of a MatMul or Gemm.
int64_t reduction_of(const ir::Graph& graph, const ir::Node& n);

// Moves that keep every element, that keep each at most once, and others.
bool rearranges(const ir::Node& n);
bool selects(const ir::Node& n);
bool copies(const ir::Node& n);

inline constexpr int kDeepest = 64;  // chains of moves are followed so far

// How many elements of an input must be fetched, at least: what slices and strided windows leave out need not
// be.
class TouchedElements {
 public:
  TouchedElements(const ir::Graph& graph, const partition::Region& region);
  int64_t operator()(ir::ValueId v, int depth = 0);

 private:
  int64_t by(const ir::Node& n, ir::ValueId v, int depth);

  const ir::Graph& graph_;
  std::set<ir::ValueId> outputs_;
  std::set<ir::NodeId> inside_;
  std::map<ir::ValueId, int64_t> known_;
};

// Which values cannot begin to exist before the whole of an input (the largest one, of batch 1) is there:
// behind a global pool, say. Nodes are added in order of execution.
class Reach {
 public:
  Reach() = default;
  // `strides`: values that are computed at every s-th pixel only.
  Reach(const ir::Graph& graph, const partition::Region& region,
        const std::map<ir::ValueId, int64_t>& strides);
  void add(const ir::Node& n);
  // Every element of the value needs every element of the input.
  bool needs_all(ir::ValueId v) const { return level(v) == Level::All; }
  // Of the input; 0 when there is none to follow.
  int64_t elements() const;

 private:
  // The elements of the input that the value needs: nothing is known; its elements together need all; those
  // of each channel together do; each does.
  enum class Level : uint8_t { None, Covers, Mixes, All };
  Level level(ir::ValueId v) const;
  Level of(const ir::Node& n) const;
  Level of_windows(const ir::Node& n, Level x) const;
  Level of_product(const ir::Node& n, Level x) const;
  Level of_concat(const ir::Node& n) const;
  Level of_elements(const ir::Node& n) const;
  Level of_reduction(const ir::Node& n, Level x) const;

  const ir::Graph* graph_ = nullptr;
  const std::map<ir::ValueId, int64_t>* strides_ = nullptr;
  ir::ValueId input_;
  std::map<ir::ValueId, Level> levels_;
};

}  // namespace mrvlc::accel
