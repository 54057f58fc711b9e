// A compile as functions from value to value, in this order. Each takes what it goes on from by value: a
// plain compile moves it, who tries several ways copies it (docs/architecture.md says who does so where).
// nullopt: the stage failed, and `said` has the errors.
#pragma once
#include "accuracy/probe.h"
#include "model/compiled_model.h"
#include "stages/session.h"

namespace mrvlc::driver {

// Checks what can be refused before anything is read.
std::optional<OpenedModel> open_targets(Session& session, const CompileOptions& options, Said& said);

// Reads the model, or what stands in for it (options.quantized), and all files that options name.
std::optional<ImportedModel> import_model(Session& session, OpenedModel opened, Said& said);

// What stands in the place of what the options say of the placement.
struct PlacementAsked {
  std::optional<std::vector<partition::Constraint>> constraints;
  std::optional<AccuracyChoice> choice;
};
// The constraints resolved, by trials where these are needed, and the passes.
std::optional<SimplifiedModel> simplify_model(Session& session, ImportedModel imported,
                                              const PlacementAsked& asked, Said& said);
// Whether the choice has a say in what simplify_model() makes: constraints that a trial resolves.
bool resolved_by_trial(const CompileOptions& options);

std::optional<PlacedModel> place_model(Session& session, SimplifiedModel simplified,
                                       const std::optional<AccuracyChoice>& choice, Said& said);

// Binaries of the regions. The weights in them are given back as regions are done, where no other copy of the
// model holds them.
std::optional<CodedModel> code_model(Session& session, PlacedModel placed, Said& said);

struct Probed {
  ProbedModel model;
  Probe probe;
};
// The times of all regions, and their errors: code_model() between the two halves of the probe. `like`: of
// the same simplified model with another choice, whose reference serves again; may be null. `coded`, which
// may be null, is shown each region before anybody has used its bytes.
using ShowCode = std::function<void(backend::RegionCode&)>;
std::optional<Probed> probe_model(Session& session, PlacedModel placed, const Probe* like, Said& said,
                                  const ShowCode& coded = {});

struct Finished {
  CompiledModel model;
  Report report;
};
// The host's code, and OUT. `tuning`: in the place of the one that options name.
std::optional<Finished> finish_model(Session& session, Probed probed,
                                     const std::optional<chost::Tuning>& tuning, Said& said);

// All stages as far as the simplified and the placed model.
std::optional<SimplifiedModel> simplified_model(Session& session, const CompileOptions& options,
                                                const PlacementAsked& asked, Said& said);
std::optional<PlacedModel> placed_model(Session& session, const CompileOptions& options,
                                        const PlacementAsked& asked, Said& said);

// These options for a compile that ends before anything is written: nothing beside OUT, and no output on the
// way.
CompileOptions for_trial(const CompileOptions& options);
// The same for one that is measured: nothing is chosen by it, and no gate ends it.
CompileOptions for_measuring(const CompileOptions& options, CompileOptions::Probe probe);

}  // namespace mrvlc::driver
