// Layers and instructions of regions, to look up what an instruction belongs to.
#pragma once
#include <map>

#include "mrvlc/backend/region_code.h"
#include "mrvlc/report/report.h"

namespace mrvlc::backend {

struct CodeSpan {
  Section section = Section::Main;
  uint32_t begin = 0, end = 0;
  uint32_t layer = 0;
  uint32_t expr = 0;
};

class CodeIndex {
 public:
  // Of a section in order of `begin`; a layer's number is its index.
  void add(uint32_t region, const CodeSpan& span);
  void add(uint32_t region, report::Layer layer);

  // The span that holds an instruction, or null.
  const CodeSpan* find(uint32_t region, Section section, uint32_t instruction) const;
  std::vector<CodeSpan> spans(uint32_t region) const;
  // Numbers, kinds, rules and ONNX operators; everything else is 0.
  std::vector<report::Layer> layers(uint32_t region) const;

 private:
  struct Region {
    std::array<std::vector<CodeSpan>, 3> spans;  // by section
    std::vector<report::Layer> layers;
  };
  const Region* region(uint32_t id) const;
  std::map<uint32_t, Region> regions_;
};

}  // namespace mrvlc::backend
