// Which span of a section's instructions holds one, by binary search.
#include "mrvlc/backend/code_index.h"

#include <algorithm>

namespace mrvlc::backend {

void CodeIndex::add(uint32_t region, const CodeSpan& span) {
  regions_[region].spans[static_cast<size_t>(span.section)].push_back(span);
}

void CodeIndex::add(uint32_t region, report::Layer layer) {
  regions_[region].layers.push_back(std::move(layer));
}

const CodeIndex::Region* CodeIndex::region(uint32_t id) const {
  auto it = regions_.find(id);
  return it == regions_.end() ? nullptr : &it->second;
}

const CodeSpan* CodeIndex::find(uint32_t id, Section section, uint32_t instruction) const {
  const Region* r = region(id);
  if (r == nullptr) return nullptr;
  const auto& spans = r->spans[static_cast<size_t>(section)];
  auto it = std::ranges::upper_bound(spans, instruction, {}, &CodeSpan::end);
  return it == spans.end() || instruction < it->begin ? nullptr : &*it;
}

std::vector<CodeSpan> CodeIndex::spans(uint32_t id) const {
  std::vector<CodeSpan> all;
  const Region* r = region(id);
  if (r == nullptr) return all;
  for (const auto& spans : r->spans) all.insert(all.end(), spans.begin(), spans.end());
  return all;
}

std::vector<report::Layer> CodeIndex::layers(uint32_t id) const {
  const Region* r = region(id);
  return r == nullptr ? std::vector<report::Layer>{} : r->layers;
}

}  // namespace mrvlc::backend
