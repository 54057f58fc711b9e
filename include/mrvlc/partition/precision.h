// How exactly a value of a region is kept (docs/arithmetic.md, "Precision"). It is a property of the value:
// the layers that make and read it follow.
#pragma once
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "mrvlc/ir/graph.h"
#include "mrvlc/support/result.h"

namespace mrvlc::partition {

struct Layer;
struct Region;
struct Partition;
struct Options;

struct Precision {
  // Pair: about 22 bits, a sum of two fp16 numbers where the matrix unit reads it and fp32 elsewhere.
  enum class Kind : uint8_t { Half, Pair } kind = Kind::Half;
  int32_t shift = 0;  // kept is v * 2^-shift
  bool operator==(const Precision&) const = default;
  bool plain() const { return *this == Precision{}; }
};

inline constexpr int32_t kMostShift = 40;
// "fp16", "pair", "scale:K" (fp16 of v * 2^-K), "pair:K".
std::optional<Precision> parse_precision(std::string_view text);
std::string to_text(const Precision& precision);

// Values that are not in it are plain.
using Precisions = std::map<ir::ValueId, Precision>;

// Whether the layer's results are views of its operand: the same bytes, and so one precision.
bool is_view(const ir::Graph& graph, const Layer& layer);

// What precisions the values of a region can have.
class PrecisionChoice {
 public:
  PrecisionChoice(const ir::Graph& graph, const Region& region);
  // Activations and constants that its layers make or read, once each, in order of first use.
  const std::vector<ir::ValueId>& values() const { return values_; }
  // Why the region cannot keep the value so: a clause ("its elements are int64"). nullopt: it can.
  std::optional<std::string> obstacle(ir::ValueId value, const Precision& precision) const;
  // For values without an obstacle; those that are the same bytes get it, too.
  void set(Precisions& precisions, ir::ValueId value, const Precision& precision) const;

 private:
  std::optional<std::string> own_obstacle(ir::ValueId value, const Precision& precision) const;
  std::optional<std::string> constant_obstacle(ir::ValueId value, const Precision& precision) const;
  std::optional<std::string> result_obstacle(const Layer& layer, ir::ValueId value) const;
  std::vector<ir::ValueId> same_bytes(ir::ValueId value) const;
  void join(const Layer& layer);

  const ir::Graph& graph_;
  std::vector<ir::ValueId> values_;
  std::map<ir::NodeId, const Layer*> layer_of_;
  std::map<ir::ValueId, size_t> class_of_;
  std::vector<std::vector<ir::ValueId>> classes_;  // of views
};

// Region::precisions of all regions, as Options::precisions ask; the last pattern that names a value counts.
// MRV0407 for a pattern that names nothing.
Status assign_precisions(const ir::Graph& graph, Partition& partition, const Options& options);
// The same of one, whose patterns are known to name values.
void assign_precisions(const ir::Graph& graph, Region& region, const Options& options);
// What Options::precisions ask for and do not get: MRV0406 and MRV0408.
std::vector<Diag> refused_precisions(const ir::Graph& graph, const Partition& partition,
                                     const Options& options);

}  // namespace mrvlc::partition
