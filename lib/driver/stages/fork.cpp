// A simplified model kept, copied, or handed on.
#include "stages/fork.h"

namespace mrvlc::driver {
namespace {

// Of docs/decisions/0066-stages-are-values.md.
constexpr size_t kFewNodes = 20'000;
constexpr int64_t kFewBytes = int64_t{32} << 20;

}  // namespace

std::optional<Fork> Fork::open(Session& session, const CompileOptions& options, Said& said) {
  auto opened = open_targets(session, options, said);
  return opened ? open(session, *std::move(opened), said) : std::nullopt;
}

std::optional<Fork> Fork::open(Session& session, OpenedModel opened, Said& said) {
  auto imported = import_model(session, std::move(opened), said);
  if (!imported) return std::nullopt;
  if (resolved_by_trial(imported->options)) return Fork(*std::move(imported));
  auto simplified = simplify_model(session, *std::move(imported), {}, said);
  if (!simplified) return std::nullopt;
  return Fork(*std::move(simplified));
}

bool Fork::worth_keeping() const {
  if (!imported().has_accelerator) return false;
  const ir::Graph& graph = imported().model.graph;
  if (graph.node_slots() > kFewNodes) return false;
  int64_t bytes = 0;
  for (size_t i = 0; i < graph.value_slots(); ++i)
    if (const Tensor* constant = graph.constant(ir::ValueId(i)); constant != nullptr)
      bytes += constant->type().bytes();
  return bytes <= kFewBytes;
}

std::optional<PlacedModel> Fork::placed(Session& session, Model model,
                                        const std::optional<AccuracyChoice>& choice, Said& said) {
  if (auto* simplified = std::get_if<SimplifiedModel>(&model))
    return place_model(session, std::move(*simplified), choice, said);
  auto made =
      simplify_model(session, std::get<ImportedModel>(std::move(model)), {std::nullopt, choice}, said);
  return made ? place_model(session, *std::move(made), choice, said) : std::nullopt;
}

std::optional<PlacedModel> Fork::place(Session& session, const CompileOptions& options,
                                       const std::optional<AccuracyChoice>& choice, Said& said) const {
  Model copy = model_;
  std::visit([&](ImportedModel& m) { m.options = options; }, copy);
  return placed(session, std::move(copy), choice, said);
}

std::optional<PlacedModel> Fork::take(Session& session, const std::optional<AccuracyChoice>& choice,
                                      Said& said) && {
  return placed(session, std::move(model_), choice, said);
}

}  // namespace mrvlc::driver
