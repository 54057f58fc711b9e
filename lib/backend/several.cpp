// Several accelerators in one compile, as one: what is asked with a layer or a region is asked of its own.
#include "mrvlc/backend/several.h"

#include <algorithm>

#include "mrvlc/support/diag/general.h"

namespace mrvlc::backend {
namespace {

class Several : public Backend {
 public:
  explicit Several(std::vector<std::shared_ptr<const Backend>> parts) : parts_(std::move(parts)) {
    machine_ = parts_.front()->machine();
    for (const auto& part : std::span(parts_).subspan(1)) machine_.name += "," + part->machine().name;
  }

  // Its name is that of all, its numbers are the first one's.
  const target::Machine& machine() const override { return machine_; }
  std::vector<const Accelerator*> parts() const override {
    std::vector<const Accelerator*> out;
    for (const auto& part : parts_) out.push_back(part.get());
    return out;
  }
  const Backend& part(uint32_t index) const override { return *parts_[index]; }

  bool half() const override {
    return std::ranges::any_of(parts_, [](const auto& p) { return p->half(); });
  }
  bool needs_product() const override {
    return std::ranges::all_of(parts_, [](const auto& p) { return p->needs_product(); });
  }
  bool sees_integers() const override {
    return std::ranges::any_of(parts_, [](const auto& p) { return p->sees_integers(); });
  }
  const std::vector<rules::LayerWord>& layer_words() const override { return parts_.front()->layer_words(); }
  rules::RuleFile rule_file() const override { return parts_.front()->rule_file(); }
  const partition::SoundRules& rules() const override { return parts_.front()->rules(); }
  partition::Legality legal(const ir::Graph& graph, const partition::Layer& layer) const override {
    return parts_[layer.accelerator]->legal(graph, layer);
  }
  partition::RegionForms forms(const ir::Graph& graph, const partition::Region& region) const override {
    return parts_[region.accelerator]->forms(graph, region);
  }
  double layer_seconds(const ir::Graph& graph, const partition::Layer& layer) const override {
    return parts_[layer.accelerator]->layer_seconds(graph, layer);
  }
  double border_seconds(const ir::Graph& graph, const partition::Region& region) const override {
    return parts_[region.accelerator]->border_seconds(graph, region);
  }

  Status fault() const override {
    for (const auto& part : parts_) MRVLC_TRY(part->fault());
    return {};
  }

  // What any of them takes may be made; what one of them does not take must not be.
  PassLimits pass_limits() const override {
    PassLimits out;
    for (const auto& part : parts_) {
      const PassLimits of = part->pass_limits();
      out.half_weights = out.half_weights || of.half_weights;
      out.integers = out.integers || of.integers;
      out.longest_row = std::min(out.longest_row, of.longest_row);
      out.largest_batch = std::min(out.largest_batch, of.largest_batch);
      const bool first = &part == &parts_.front(),
                 smaller = of.tiles * of.tile_bytes < out.tiles * out.tile_bytes;
      if (first || smaller) out.tiles = of.tiles, out.tile_bytes = of.tile_bytes;
    }
    return out;
  }
  bool runs_here() const override {
    return std::ranges::all_of(parts_, [](const auto& p) { return p->runs_here(); });
  }
  uint32_t tiles() const override { return parts_.front()->tiles(); }

  Result<RegionCode> generate(const ir::Graph& graph, const partition::Region& region,
                              const std::string& name, const Log& log) const override {
    MRVLC_ASSIGN(RegionCode code, parts_[region.accelerator]->generate(graph, region, name, log));
    code.accelerator = region.accelerator;
    return code;
  }
  std::vector<StoredValue> stored_values(const ir::Graph& graph,
                                         const partition::Region& region) const override {
    return parts_[region.accelerator]->stored_values(graph, region);
  }

  Result<std::unique_ptr<Timing>> time(std::string_view) const override { return whose(); }
  Result<std::unique_ptr<Executor>> executor(std::string_view) const override { return whose(); }
  Result<std::string> disassembly(std::string_view, const std::vector<CodeRange>&) const override {
    return whose();
  }

 private:
  static Diag whose() {
    return make_diag<DiagCode::MRV0007>("a binary is of one accelerator, Backend::part()");
  }

  std::vector<std::shared_ptr<const Backend>> parts_;
  target::Machine machine_;
};

}  // namespace

std::shared_ptr<const Backend> as_one(std::vector<std::shared_ptr<const Backend>> parts) {
  if (parts.size() == 1) return std::move(parts.front());
  return std::make_shared<Several>(std::move(parts));
}

}  // namespace mrvlc::backend
