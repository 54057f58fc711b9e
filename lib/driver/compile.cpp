// `mrvlc compile`, to be read as one page.
#include <fmt/format.h>

#include "compile_noted.h"
#include "explore/choose.h"
#include "explore/compile_frontier.h"
#include "explore/fit.h"
#include "explore/precision.h"
#include "mesh/compile_mesh.h"
#include "mrvlc/driver/last_compile.h"
#include "mrvlc/support/diag/general.h"
#include "mrvlc/support/diag/mesh.h"
#include "output/gates.h"
#include "output/output.h"
#include "stages/placement_log.h"

namespace mrvlc::driver {
namespace {

// As far as there is code and its errors are known, until all values fit.
std::optional<Probed> probed_fitting(Session& session, const OpenedModel& opened, Said& said) {
  Fitting fitting(opened.options);
  std::optional<Fork> fork;
  Said begun;
  for (;;) {
    if (!fork) begun = {}, fork = Fork::open(session, opened, begun);
    Said tried;
    std::optional<PlacedModel> placed;
    if (fork && fork->worth_keeping())
      placed = fork->place(session, fork->options(), fitting.choice(), tried);
    else if (fork)
      placed = (*std::exchange(fork, std::nullopt)).take(session, fitting.choice(), tried);
    auto probed = placed ? probe_model(session, *std::move(placed), nullptr, tried) : std::nullopt;
    if (probed && !fitting.stays(probed->model)) continue;
    // What a compile says that is not the last one is not said.
    said.add(begun), said.add(tried);
    return probed;
  }
}

// A trial becomes the compile itself.
std::optional<Probed> as_compiled(Made made, const CompileOptions& options, const AccuracyChoice& choice,
                                  Said& said) {
  ProbedModel& m = made.probed.model;
  m.options = options;
  m.choice = m.accuracy.choice = choice;
  said.add(made.said);
  tell_placement(m, options.log);
  if (options.fail_on_fallback && !check_fallback(m, said.diagnostics)) return std::nullopt;
  return std::move(made.probed);
}

// ... by the choice that --accuracy or --objective ask for.
std::optional<Probed> probed_as_chosen(Session& session, const OpenedModel& opened, Said& said) {
  auto fork = Fork::open(session, opened, said);
  if (!fork) return std::nullopt;
  Chosen chosen = choose_for_accuracy(session, *fork);
  if (chosen.made) return as_compiled(*std::move(chosen.made), fork->options(), *chosen.choice, said);
  auto placed = (*std::exchange(fork, std::nullopt)).take(session, chosen.choice, said);
  const Probe* like = chosen.probe ? &*chosen.probe : nullptr;
  return placed ? probe_model(session, *std::move(placed), like, said) : std::nullopt;
}

// Each node that a row of --frontier moves says so.
AccuracyChoice with_reasons(AccuracyChoice choice, size_t pick) {
  for (const std::string& id : choice.on_cpu)
    choice.reasons.try_emplace(
        id, fmt::format("Row {} of --frontier keeps it on the CPU: there nothing is rounded to fp16.", pick));
  return choice;
}

std::optional<Probed> probed_as_picked(Session& session, const OpenedModel& opened, size_t pick,
                                       FrontierChoice how, Said& said) {
  OpenedModel picked = opened;
  picked.options = std::move(how.options);
  if (!how.choice) return probed_fitting(session, picked, said);
  auto fork = Fork::open(session, std::move(picked), said);
  if (!fork) return std::nullopt;
  auto placed =
      (*std::exchange(fork, std::nullopt)).take(session, with_reasons(*std::move(how.choice), pick), said);
  return placed ? probe_model(session, *std::move(placed), nullptr, said) : std::nullopt;
}

// ... the row of --frontier that --pick names; without it what is compiled without --frontier.
std::optional<Probed> probed_of_frontier(Session& session, const OpenedModel& opened, Said& said) {
  auto found = explore_frontier(session, opened, said);
  if (!found) return std::nullopt;
  std::vector<FrontierRow>& rows = found->frontier.rows;
  const std::optional<size_t> pick = opened.options.pick;
  if (pick > rows.size()) {
    said.diagnostics.add(make_diag<DiagCode::MRV0004>(
        fmt::format("--pick {}: the table of --frontier has {} rows", *pick, rows.size())));
    return std::nullopt;
  }
  const std::optional<size_t> row = pick ? *pick - 1 : found->unasked;
  if (row) rows[*row].compiled = true;
  said.texts.push_back(frontier_text(found->frontier));
  auto probed = pick ? probed_as_picked(session, opened, *pick, std::move(found->choices[*row]), said)
                     : probed_fitting(session, opened, said);
  if (probed) probed->model.frontier = std::make_shared<const Frontier>(std::move(found->frontier));
  return probed;
}

// What happens in each stage, and in which library: docs/architecture.md.
std::optional<Finished> run_compiler(Session& session, const CompileOptions& options, Said& said) {
  auto opened = open_targets(session, options, said);
  if (!opened || !quantize_for(opened->options, opened->has_accelerator, said.diagnostics))
    return std::nullopt;
  auto probed = options.frontier   ? probed_of_frontier(session, *opened, said)
                : chooses(options) ? probed_as_chosen(session, *opened, said)
                                   : probed_fitting(session, *opened, said);
  return probed ? finish_model(session, *std::move(probed), std::nullopt, said) : std::nullopt;
}

std::optional<Finished> compile_and_tell(Session& session, const CompileOptions& options,
                                         Diagnostics& diagnostics,
                                         const std::function<void(std::string)>& dump,
                                         std::vector<std::string>* summary) {
  Said said;
  auto done = run_compiler(session, options, said);
  for (const std::string& text : said.texts) dump(text);
  for (const Diag& d : said.diagnostics.list()) diagnostics.add(d);
  if (!done || summary == nullptr) return done;
  const auto warnings = std::ranges::count(diagnostics.list(), Severity::Warning, &Diag::severity);
  *summary = driver::summary(done->model, done->model.options, done->report, static_cast<size_t>(warnings));
  return done;
}

}  // namespace

bool compile(const CompileOptions& options, Diagnostics& diagnostics,
             const std::function<void(std::string)>& dump, std::vector<std::string>* summary) {
  if (for_mesh(options)) return compile_mesh(options, diagnostics, dump, summary);
  Session session(options);
  return compile_and_tell(session, options, diagnostics, dump, summary).has_value();
}

bool compile_last(const CompileOptions& options, Diagnostics& diagnostics,
                  const std::function<void(std::string)>& dump, std::vector<std::string>* summary) {
  if (for_mesh(options)) return compile_mesh(options, diagnostics, dump, summary);
  static const Finished* kept = nullptr;  // leak checkers see that it is meant
  Session session(options);
  auto done = compile_and_tell(session, options, diagnostics, dump, summary);
  if (done) kept = new Finished(*std::move(done));
  return kept != nullptr;
}

bool compile_noted(const CompileOptions& options, Diagnostics& diagnostics, std::vector<ReadFile>& read) {
  if (for_mesh(options)) {
    diagnostics.add(make_diag<DiagCode::MRV1308>("'mrvlc batch'"));
    return false;
  }
  const auto print_nothing = [](const std::string&) {};
  Session session(options);
  const bool done = compile_and_tell(session, options, diagnostics, print_nothing, nullptr).has_value();
  read = session.read;
  return done;
}

}  // namespace mrvlc::driver
