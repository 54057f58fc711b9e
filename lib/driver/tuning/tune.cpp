// `mrvlc tune`: stages of trials in turn, then the whole with what was fastest against the whole without.
#include "mrvlc/driver/tune.h"

#include <algorithm>
#include <chrono>

#include "mrvlc/driver/interrupt.h"
#include "mrvlc/support/file.h"
#include "tuning/machine.h"
#include "tuning/select.h"
#include "tuning/trial.h"

namespace mrvlc::driver {
namespace fs = std::filesystem;
namespace {

constexpr int64_t kRounds = 5, kWholeRounds = 15;  // of a stage, and of the whole

using chost::Tuning, chost::Variant;

class Tuner {
 public:
  Tuner(const TuneOptions& options, Diagnostics& diagnostics) : o_(options), diagnostics_(diagnostics) {}

  std::optional<std::string> run() {
    const InterruptGuard guard;
    Result<std::string> summary = measure();
    if (summary.ok()) return *std::move(summary);
    if (interrupted() == 0 && !diagnostics_.has_errors()) diagnostics_.add(summary.error());
    return std::nullopt;
  }

 private:
  Result<std::string> measure() {
    MRVLC_TRY(check_out());
    MRVLC_ASSIGN(file_.machine, tuning_machine(o_.run));
    Tuning untuned;
    untuned.measuring = true;
    MRVLC_TRY(place());
    MRVLC_ASSIGN(TrialCompile plain, compiled(untuned));
    kinds_ = kinds_of(plain.choices);
    begin_file(plain.model);
    const bool more = std::ranges::any_of(file_.rounds, [](int64_t n) { return n < kRounds; });
    if (!kinds_.empty() && (more || !file_.network)) {
      MRVLC_TRY(measure_stage(
          0, [](const LayerKind& kind, const TunedLayer&) { return kernels_to_measure(kind); }));
      MRVLC_TRY(measure_stage(1, blocks_to_measure));
      MRVLC_TRY(choose());
    }
    MRVLC_TRY(write());
    return summary();
  }

  Status place() {
    Said said;
    Result<PlacedModel> placed = place_for_trials(o_, said);
    for (const Diag& d : said.diagnostics.list()) diagnostics_.add(d);
    if (!placed.ok()) return placed.error();
    placed_ = *std::move(placed);
    return {};
  }

  // What the first one says is told, and errors.
  Result<TrialCompile> compiled(const Tuning& tuning) {
    Said said;
    auto out = compile_trial(*placed_, tuning, said);
    for (const Diag& d : said.diagnostics.list())
      if (!told_ || d.severity() == Severity::Error) diagnostics_.add(d);
    told_ = true;
    return out;
  }

  Status check_out() const {
    std::error_code ec;
    if (!fs::equivalent(o_.compile.model, o_.out, ec)) return {};
    return make_diag<DiagCode::MRV0004>(
        fmt::format("-o {} is the model that is read", printable(o_.out.string())));
  }

  Status write() const { return write_file_atomic(o_.out, tuning_text(file_)); }

  // What an earlier call has measured of the same layers with the same means is kept.
  void begin_file(const std::string& model) {
    file_.model = model;
    for (const auto& [text, kind] : kinds_) {
      const std::string expected = to_text(kind.expected);
      file_.layers.push_back({text, kind.count, expected, expected, {}});
    }
    std::error_code ec;
    if (!fs::exists(o_.out, ec)) return;
    const Result<std::string> text = read_file(o_.out, kMaxTuningBytes);
    if (!text.ok()) return;
    auto earlier = parse_tuning(*text, o_.out.string());
    if (earlier.ok() && continues(*earlier)) {
      file_ = *std::move(earlier);
      resumed_ = true;
    }
  }

  bool continues(const TuningFile& earlier) const {
    const auto same = [](const TunedLayer& a, const TunedLayer& b) {
      return a.layer == b.layer && a.count == b.count && a.expected == b.expected;
    };
    return earlier.model == file_.model && earlier.machine == file_.machine &&
           std::ranges::equal(earlier.layers, file_.layers, same);
  }

  bool is_late() const {
    const std::chrono::duration<double> passed = std::chrono::steady_clock::now() - begin_;
    return o_.seconds > 0 && passed.count() >= o_.seconds;
  }

  void tell(std::string_view step, int64_t done, int64_t of) const {
    if (o_.progress) o_.progress(step, static_cast<size_t>(done), static_cast<size_t>(of));
  }

  template <class ToMeasure>
  Status measure_stage(size_t stage, ToMeasure to_measure) {
    constexpr std::string_view kStages[] = {"kernels", "blocks"};
    int64_t& done = file_.rounds[stage];
    if (done >= kRounds || (stage > 0 && is_late())) return {};
    std::vector<Tuning> tunings;
    for (const TunedLayer& layer : file_.layers) {
      const LayerKind& kind = kinds_.find(layer.layer)->second;
      const std::vector<Variant> variants = to_measure(kind, layer);
      tunings.resize(std::max(tunings.size(), variants.size()));
      lists_[layer.layer] = variants;
    }
    for (size_t k = 0; k < tunings.size(); ++k) {
      tunings[k].measuring = true;
      for (const auto& [layer, variants] : lists_)
        tunings[k].variants[layer] = variants[k < variants.size() ? k : 0];
    }
    MRVLC_ASSIGN(std::vector<TuningTrial> trials, build(tunings));
    for (bool first = true; done < kRounds && (first || !is_late()); first = false) {
      tell(kStages[stage], done, kRounds);
      for (TuningTrial& trial : trials) {
        MRVLC_TRY(trial.run(true));
        trial.note(file_.layers);
      }
      ++done;
      MRVLC_TRY(write());
    }
    tell(kStages[stage], kRounds, kRounds);
    return {};
  }

  Result<std::vector<TuningTrial>> build(const std::vector<Tuning>& tunings) {
    std::vector<TuningTrial> trials;
    for (const Tuning& tuning : tunings) {
      tell("building", static_cast<int64_t>(trials.size()), static_cast<int64_t>(tunings.size()));
      MRVLC_ASSIGN(TrialCompile compiled, compiled(tuning));
      MRVLC_ASSIGN(TuningTrial trial, TuningTrial::build(o_, std::move(compiled)));
      trials.push_back(std::move(trial));
    }
    tell("building", 1, 1);
    return trials;
  }

  // What is fastest by itself, if the whole is faster with it: first all, then what gains much, or nothing.
  Status choose() {
    constexpr double kMuch = 0.15;
    std::optional<TuningTrial> untuned;
    for (const double least : {kLeastGain, kMuch}) {
      std::vector<std::string> choices;
      for (const TunedLayer& layer : file_.layers) choices.push_back(fastest(layer, least));
      MRVLC_ASSIGN(const bool faster, is_faster(choices, untuned));
      if (faster) return {};
    }
    for (TunedLayer& layer : file_.layers) layer.choice = layer.expected;
    if (!untuned) return {};
    file_.network = TuningFile::Network{untuned->whole_ns(), untuned->whole_ns()};
    return {};
  }

  Result<bool> is_faster(std::vector<std::string> choices, std::optional<TuningTrial>& untuned) {
    MRVLC_ASSIGN(auto compiled, settle(choices));
    if (!compiled) return false;
    if (!untuned) {
      MRVLC_ASSIGN(std::vector<TuningTrial> plain, build({Tuning()}));
      untuned.emplace(std::move(plain.front()));
    }
    MRVLC_ASSIGN(TuningTrial tuned, TuningTrial::build(o_, *std::move(compiled)));
    for (int64_t round = 0; round < kWholeRounds; ++round) {
      tell("whole", round, kWholeRounds);
      for (TuningTrial* trial : {&*untuned, &tuned}) MRVLC_TRY(trial->run(false));
    }
    tell("whole", kWholeRounds, kWholeRounds);
    constexpr double kLeast = 0.005;  // less is chance
    if (tuned.whole_ns() >= untuned->whole_ns() * (1 - kLeast)) return false;
    for (size_t i = 0; i < choices.size(); ++i) file_.layers[i].choice = choices[i];
    file_.network = TuningFile::Network{untuned->whole_ns(), tuned.whole_ns()};
    return true;
  }

  // The network with these choices. Where layers of one text differ in what they can be, or have no memory
  // left for it, the choice goes back to what is expected, or becomes what was taken. Nothing when no choice
  // is left that differs from what is expected.
  Result<std::optional<TrialCompile>> settle(std::vector<std::string>& choices) {
    constexpr int kMostTries = 8;
    for (int i = 0; i < kMostTries; ++i) {
      const Tuning tuning = differing(choices);
      if (tuning.variants.empty()) break;
      MRVLC_ASSIGN(TrialCompile compiled, compiled(tuning));
      bool settled = true;
      for (const chost::LayerChoice& c : compiled.choices) {
        const auto at = std::ranges::lower_bound(file_.layers, c.layer, {}, &TunedLayer::layer);
        if (at == file_.layers.end() || at->layer != c.layer) continue;
        std::string& choice = choices[static_cast<size_t>(at - file_.layers.begin())];
        if (choice == to_text(c.taken)) continue;
        choice = choice == at->expected ? to_text(c.taken) : at->expected;
        settled = false;
      }
      if (settled) return std::optional<TrialCompile>(std::move(compiled));
    }
    return std::optional<TrialCompile>();
  }

  Tuning differing(const std::vector<std::string>& choices) const {
    Tuning tuning;
    for (size_t i = 0; i < choices.size(); ++i) {
      const TunedLayer& layer = file_.layers[i];
      if (const auto variant = chost::parse_variant(choices[i]); variant && choices[i] != layer.expected)
        tuning.variants[layer.layer] = *variant;
    }
    return tuning;
  }

  std::string summary() const {
    int64_t layers = 0;
    std::string lines;
    for (const TunedLayer& l : file_.layers) {
      layers += l.count;
      if (l.choice == l.expected) continue;
      lines += fmt::format("  {}{}: {} instead of {}", printable(l.layer),
                           l.count == 1 ? "" : fmt::format(" ({} layers)", l.count), printable(l.choice),
                           l.expected);
      const auto now = l.ns.find(l.choice), before = l.ns.find(l.expected);
      if (now != l.ns.end() && before != l.ns.end())
        lines += fmt::format(", {:.1f} instead of {:.1f} us", 1e-3 * now->second, 1e-3 * before->second);
      lines += "\n";
    }
    std::string text =
        fmt::format("{}: {} layers with more than one kernel, {} different{}\n", printable(o_.out.string()),
                    layers, file_.layers.size(), resumed_ ? "; an earlier call's times were used" : "");
    text += lines;
    if (lines.empty() || !file_.network)
      return text + "nothing was faster than what the model of costs takes\n";
    const auto& [untuned, tuned] = *file_.network;
    return text + fmt::format("an inference takes {:.3f} ms, {:.3f} ms untuned: {:.1f} % less\n",
                              1e-6 * tuned, 1e-6 * untuned, untuned > 0 ? 100 * (1 - tuned / untuned) : 0);
  }

  const TuneOptions& o_;
  Diagnostics& diagnostics_;
  const std::chrono::steady_clock::time_point begin_ = std::chrono::steady_clock::now();
  std::optional<PlacedModel> placed_;
  bool told_ = false;
  LayerKinds kinds_;
  std::map<std::string, std::vector<Variant>> lists_;  // of the stage that is measured
  TuningFile file_;
  bool resumed_ = false;
};

}  // namespace

std::optional<std::string> tune(const TuneOptions& options, Diagnostics& diagnostics) {
  return Tuner(options, diagnostics).run();
}

}  // namespace mrvlc::driver
