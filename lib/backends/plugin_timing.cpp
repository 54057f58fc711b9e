// Cycles of an inference, and of ranges of instructions. Ranges may overlap in time: where they add up to
// more than an inference takes, each layer has its share of that, so that shares add up to the whole.
#include "plugin_timing.h"

#include <algorithm>
#include <cmath>

namespace mrvlc::backends {
namespace {

class Told : public backend::Timing {
 public:
  explicit Told(plugin::File file) : file_(std::move(file)) {
    for (const plugin::File::RangeTime& r : file_.ranges) sum_ += static_cast<double>(r.cycles);
  }
  uint64_t cycles() const override { return file_.cycles; }
  std::map<uint32_t, uint64_t> layer_cycles(const std::vector<backend::CodeRange>& ranges) const override {
    return shares(ranges);
  }
  report::Region profile(const backend::CodeIndex& index, uint32_t region, bool) const override {
    report::Region r;
    r.id = region;
    r.detailed = false;
    r.main_cycles = file_.cycles;
    r.layers = index.layers(region);
    const std::vector<backend::CodeSpan> spans = index.spans(region);
    for (const auto& [layer, cycles] : shares(spans))
      if (layer < r.layers.size()) r.layers[layer].cycles = cycles;
    uint64_t begin = 0;
    for (const plugin::File::RangeTime& t : file_.ranges) {
      const auto* span = holder(spans, begin);
      if (span != nullptr) r.ranges.push_back({begin, t.end, t.cycles, span->layer, span->expr});
      begin = t.end;
    }
    return r;
  }
  std::vector<report::MemoryUse> memory(const std::vector<backend::MemoryUse>&) const override { return {}; }

 private:
  // Of main, in order: the one that holds an instruction, or null.
  template <class Span>
  static const Span* holder(const std::vector<Span>& spans, uint64_t instruction) {
    const auto at = std::ranges::upper_bound(spans, instruction, {}, &Span::end);
    return at == spans.end() || at->section != backend::Section::Main || instruction < at->begin ? nullptr
                                                                                                 : &*at;
  }

  // What a layer has of the whole, by layer. Rounded from sums, so that no cycle is lost.
  template <class Span>
  std::map<uint32_t, uint64_t> shares(const std::vector<Span>& spans) const {
    std::map<uint32_t, uint64_t> out;
    const auto whole = static_cast<double>(file_.cycles);
    const double scale = sum_ > whole ? whole / sum_ : 1;
    double told = 0;
    uint64_t begin = 0, given = 0;
    for (const plugin::File::RangeTime& t : file_.ranges) {
      told += static_cast<double>(t.cycles);
      const uint64_t upto = std::min(static_cast<uint64_t>(std::llround(told * scale)), file_.cycles);
      if (const Span* span = holder(spans, begin)) out[span->layer] += upto - given;
      given = std::max(given, upto);
      begin = t.end;
    }
    return out;
  }

  plugin::File file_;
  double sum_ = 0;  // of all ranges
};

}  // namespace

std::unique_ptr<backend::Timing> plugin_timing(plugin::File file) {
  return std::make_unique<Told>(std::move(file));
}

}  // namespace mrvlc::backends
