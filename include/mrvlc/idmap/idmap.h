// The ID map: from every instruction and every line of C back to the ONNX operators, and forth. It is derived
// from the compiler's own lineage, never collected on the side. Format: docs/idmap.md.
#pragma once
#include "mrvlc/idmap/map.h"
#include "mrvlc/idmap/source_outcomes.h"

namespace mrvlc::idmap {

// Names of a model may hold any bytes; JSON must be valid UTF-8. Every writer of names uses this form, so
// files agree.
std::string json_text(std::string_view text);
// Values of regions that are not plain fp16.
std::vector<KeptPrecision> kept_precisions(const ir::Graph& graph, const partition::Partition& partition);
// The document, all but its last new line.
void write(JsonWriter& out, const Compiled& compiled, const SourceOutcomes& outcomes);
// The same in memory, which takes many times as much: for tools and tests.
Map build(const Compiled& compiled);

// Every source has a fate, and code or a reason; every instruction of `instruction_counts[region][section]`
// and every host function leads back to a source. Returns the broken links, at most 20, empty when complete.
struct SectionCounts {
  size_t init = 0, main = 0, finish = 0;
};
std::vector<std::string> find_gaps(const Map& map, const std::vector<SectionCounts>& instruction_counts);

// "net.py:12 in layer1.0 (Conv2d)": what an entry of `sources` says of where it comes from; or nothing.
std::string location_text(const Source& source);
// The same for each expression of a map: of its first source whose line is known, or else whose module is.
class Locations {
 public:
  explicit Locations(const Map& map);
  // Of that source, or null.
  const Location* of(uint32_t expr_id) const;

 private:
  std::vector<const Location*> locations_;  // into the map
};

// "conv_7 (Conv)": names of the ONNX nodes that a node of the graph stands for, joined with " + ".
std::string label(const ir::Graph& graph, ir::NodeId node);
// The same for each expression of a map; empty when there is none.
class Labels {
 public:
  Labels() = default;
  explicit Labels(const Map& map);
  const std::string& of(uint32_t expr_id) const;

 private:
  std::vector<std::string> labels_;
};

}  // namespace mrvlc::idmap
