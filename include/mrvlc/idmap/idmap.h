// The ID map: from every instruction and every line of C back to the ONNX operators, and forth. It is derived
// from the compiler's own lineage, never collected on the side. Format: docs/idmap.md.
#pragma once
#include <nlohmann/json.hpp>

#include "mrvlc/accel/accel.h"
#include "mrvlc/chost/chost.h"
#include "mrvlc/partition/partition.h"

namespace mrvlc::idmap {

using Json = nlohmann::ordered_json;

// Names of a model may hold any bytes; JSON must be valid UTF-8. Every writer of names uses this form, so
// files agree.
std::string json_text(std::string_view text);

Json build(const ir::Graph& graph, const partition::Partition& partition,
           const std::vector<accel::CompiledRegion>& regions, const chost::HostCode& host);

// Every source has a fate, and code or a reason; every instruction of `instruction_counts[region][section]`
// and every host function leads back to a source. Returns the broken links, at most 20, empty when complete.
struct SectionCounts {
  size_t init = 0, main = 0, finish = 0;
};
std::vector<std::string> find_gaps(const Json& map, const std::vector<SectionCounts>& instruction_counts);

// Queries of `mrvlc map`: readable text, or an error when there is no such thing.
Result<std::string> query_node(const Json& map, const std::string& name_or_source_id);
Result<std::string> query_expression(const Json& map, uint32_t expr_id);
Result<std::string> query_instruction(const Json& map, uint32_t region, const std::string& section,
                                      uint32_t index);
Result<std::string> query_line(const Json& map, const std::string& file, uint32_t line);

// "conv_7 (Conv)" for each expression: names of the ONNX nodes it stands for, joined with " + "; empty when
// there is none.
class Labels {
 public:
  explicit Labels(const Json& map);
  const std::string& of(uint32_t expr_id) const;

 private:
  std::vector<std::string> labels_;
};

}  // namespace mrvlc::idmap
