// The ID map: from every instruction and every line of C back to the ONNX operators, and forth. It is derived
// from the compiler's own lineage, never collected on the side. Format: docs/idmap.md.
#pragma once
#include <nlohmann/json.hpp>

#include "mrvlc/idmap/fates.h"
#include "mrvlc/support/json_writer.h"

namespace mrvlc::idmap {

using Json = nlohmann::ordered_json;

// Names of a model may hold any bytes; JSON must be valid UTF-8. Every writer of names uses this form, so
// files agree.
std::string json_text(std::string_view text);
inline constexpr size_t kMaxTextBytes = 1u << 20;
inline void write_text(JsonWriter& out, std::string_view text) {
  out.printable_value(text, kMaxTextBytes);
}

// "precisions": values of regions that are not plain fp16; nothing where there are none.
void write_precisions(JsonWriter& out, const ir::Graph& graph, const partition::Partition& partition);
// The document, all but its last new line.
void write(JsonWriter& out, const Compiled& compiled, const Fates& fates);
// The same as a tree, which takes many times the memory: for tools and tests.
Json build(const Compiled& compiled);

// Every source has a fate, and code or a reason; every instruction of `instruction_counts[region][section]`
// and every host function leads back to a source. Returns the broken links, at most 20, empty when complete.
struct SectionCounts {
  size_t init = 0, main = 0, finish = 0;
};
std::vector<std::string> find_gaps(const Json& map, const std::vector<SectionCounts>& instruction_counts);

// "net.py:12 in layer1.0 (Conv2d)": what an entry of `sources` says of where it comes from; or nothing.
std::string location_text(const Json& source);
// The same for each expression of a map: of its first source whose line is known, or else whose module is.
class Locations {
 public:
  explicit Locations(const Json& map);
  // The member `location` of that source, or null.
  const Json* of(uint32_t expr_id) const;

 private:
  std::vector<const Json*> locations_;  // into the map
};

// "conv_7 (Conv)": names of the ONNX nodes that a node of the graph stands for, joined with " + ".
std::string label(const ir::Graph& graph, ir::NodeId node);
// The same for each expression of a map; empty when there is none.
class Labels {
 public:
  Labels() = default;
  explicit Labels(const Json& map);
  const std::string& of(uint32_t expr_id) const;

 private:
  std::vector<std::string> labels_;
};

}  // namespace mrvlc::idmap
