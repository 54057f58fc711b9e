// Where those begin again who try several ways: a model that is read and simplified once.
#pragma once
#include <variant>

#include "stages/stages.h"

namespace mrvlc::driver {

// Behind simplify_model(); in front of it where constraints are resolved by trials that heed the choice.
class Fork {
 public:
  static std::optional<Fork> open(Session& session, OpenedModel opened, Said& said);
  static std::optional<Fork> open(Session& session, const CompileOptions& options, Said& said);

  const CompileOptions& options() const { return imported().options; }
  // There may be another way to try, and the model is small: a copy takes about 500 bytes a node, and weights
  // are not given back while the fork is there. Where it is not, it is read again.
  bool worth_keeping() const;

  // Placed from a copy, by other options of what follows.
  std::optional<PlacedModel> place(Session& session, const CompileOptions& options,
                                   const std::optional<AccuracyChoice>& choice, Said& said) const;
  // The last one: nothing is copied.
  std::optional<PlacedModel> take(Session& session, const std::optional<AccuracyChoice>& choice,
                                  Said& said) &&;

 private:
  using Model = std::variant<ImportedModel, SimplifiedModel>;
  explicit Fork(Model model) : model_(std::move(model)) {}
  const ImportedModel& imported() const {
    const auto* simplified = std::get_if<SimplifiedModel>(&model_);
    return simplified != nullptr ? *simplified : std::get<ImportedModel>(model_);
  }
  static std::optional<PlacedModel> placed(Session& session, Model model,
                                           const std::optional<AccuracyChoice>& choice, Said& said);

  Model model_;
};

}  // namespace mrvlc::driver
