// Warnings and errors about the expected error and values beyond fp16; report.json's `accuracy` and its line.
#include "model/accuracy.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <cmath>

#include "model/compiled_model.h"
#include "mrvlc/idmap/idmap.h"
#include "mrvlc/support/diag/accuracy.h"
#include "mrvlc/support/diag/general.h"

namespace mrvlc::driver {

namespace {

// Of samples, that are to be within what warnings allow.
constexpr double kJudgedShare = 0.95;
// From here on silence about errors would be taken for their absence.
constexpr double kMostMacs = 0.5;
// What a small output may lose of its own size without a word.
constexpr double kMostOfSmall = 0.05;

// Infinities in JSON, which has none.
constexpr double kInfinite = 1e300;

// The last digits of math functions differ between machines, and what is written to OUT must not: of a value
// five digits are the same, of the error of a value two.
double rounded(double v, int digits) {
  if (!std::isfinite(v)) return kInfinite;
  const std::string text = fmt::format("{:.{}e}", v, digits - 1);
  double read = 0;
  std::from_chars(text.data(), text.data() + text.size(), read);
  return read;
}

std::string_view name(Accuracy::How how) {
  constexpr std::string_view kNames[] = {"none", "probe", "input-range", "calibration"};
  return kNames[static_cast<size_t>(how)];
}

// Where a number was seen, for messages.
std::string_view seen_in(const Accuracy& accuracy, bool calibrated) {
  if (calibrated) return "in the calibration data";
  switch (accuracy.how) {
    case Accuracy::How::InputRange:
      return "seen by a probe with inputs of --input-range";
    case Accuracy::How::Calibration:
      return accuracy.on_data ? "seen by a probe on samples of the calibration data"
                              : "seen by a probe with inputs like the calibration data";
    default:
      return "seen by a probe with seeded inputs";
  }
}

const Accuracy::Output& worst(const Accuracy& accuracy) {
  return *std::ranges::max_element(accuracy.outputs, {}, &Accuracy::Output::expected);
}

class Judge {
 public:
  Judge(const CompileOptions& options, Diagnostics& diagnostics)
      : options_(options), diagnostics_(diagnostics) {}

  void loss(Diag diag) {
    if (options_.fail_on_accuracy) {
      failed_ = true;
      Diag error = make_diag<DiagCode::MRV0009>("--fail-on-accuracy: " + diag.message);
      diagnostics_.add(at_node(std::move(error), diag.node, diag.op_type));
    } else {
      diagnostics_.add(std::move(diag));
    }
  }
  void note(Diag diag) { diagnostics_.add(std::move(diag)); }
  // A gate that has nothing to judge by does not open.
  void unknown(Diag diag, bool calibrated) { calibrated ? note(std::move(diag)) : loss(std::move(diag)); }
  void fail(Diag diag) {
    failed_ = true;
    diagnostics_.add(std::move(diag));
  }
  bool passed() const { return !failed_; }

 private:
  const CompileOptions& options_;
  Diagnostics& diagnostics_;
  bool failed_ = false;
};

void judge_value(const Accuracy& accuracy, const Accuracy::Beyond& b, Judge& out) {
  const std::string value = printable(b.value);
  const std::string_view seen = seen_in(accuracy, b.calibrated);
  if (!b.wide) {
    out.loss(at_node(make_diag<DiagCode::MRV0902>(value, b.magnitude, seen), b.node, b.op_type));
  } else if (b.input_range) {
    out.note(make_diag<DiagCode::MRV0903>(value, b.magnitude, seen));
  }
}

std::string seen_at(const Accuracy& accuracy, const Accuracy::Output& o) {
  std::string text(seen_in(accuracy, false));
  if (o.in_front > o.error)
    text += fmt::format(", in front of what hides it there: at '{}', with the largest slope behind",
                        printable(o.front));
  return text;
}

// Who says --no-probe knows; else nobody is to take silence for accuracy.
void judge_unknown(const Accuracy& accuracy, const CompileOptions& options, Judge& out) {
  if (options.given.contains("--no-probe") || accuracy.mac_share < kMostMacs)
    return out.unknown(make_diag<DiagCode::MRV0904>(accuracy.reason), accuracy.calibrated);
  out.loss(make_diag<DiagCode::MRV0930>(100 * accuracy.mac_share, accuracy.reason));
}

// What was asked for is met, and was seen to be.
void judge_asked(const Accuracy& accuracy, double asked, Judge& out) {
  if (!accuracy.known())
    return out.fail(make_diag<DiagCode::MRV0909>(asked, "it cannot be measured: " + accuracy.reason));
  const double error = accuracy.expected_error();
  if (error <= asked) return;
  const std::string reached =
      std::isfinite(error) ? fmt::format("an error of {:.2g}", error) : "infinite or NaN";
  const std::string output = printable(worst(accuracy).name);
  out.fail(
      make_diag<DiagCode::MRV0909>(asked, fmt::format("the best that was found is {} at output '{}' ({})",
                                                      reached, output, seen_in(accuracy, false))));
}

}  // namespace

double Accuracy::Output::relative() const {
  constexpr double kSmall = 0.2;
  return magnitude > 0 && magnitude < kSmall ? difference / magnitude : 0;
}

double Accuracy::expected_error() const {
  return outputs.empty() ? 0 : worst(*this).expected();
}

double Accuracy::error_of_share(double share) const {
  std::vector<double> errors;
  for (const Output& o : outputs) {
    errors.resize(std::max(errors.size(), o.by_sample.size()), 0);
    for (size_t k = 0; k < o.by_sample.size(); ++k) errors[k] = std::max(errors[k], o.by_sample[k]);
  }
  if (errors.empty()) return 0;
  std::ranges::sort(errors);
  const double rank = std::ceil(share * static_cast<double>(errors.size()));
  return errors[static_cast<size_t>(std::max(rank, 1.0)) - 1];
}

double Accuracy::judged_error() const {
  return on_data ? error_of_share(kJudgedShare) : expected_error();
}

bool judge(const Accuracy& accuracy, const CompileOptions& options, Diagnostics& diagnostics) {
  using Probe = CompileOptions::Probe;
  if (options.probe == Probe::Unsaid) return true;
  Judge out(options, diagnostics);
  if (accuracy.choice)
    for (const AccuracyChoice::Kept& k : accuracy.choice->kept)
      out.note(make_diag<DiagCode::MRV0911>(k.value, k.magnitude, k.precision));
  if (options.accuracy && accuracy.on_accelerator) judge_asked(accuracy, *options.accuracy, out);
  for (const Accuracy::Beyond& b : accuracy.beyond) judge_value(accuracy, b, out);
  if (!accuracy.on_accelerator) return true;
  if (options.probe == Probe::Never && !options.given.contains("--no-probe"))
    return out.passed();  // of verify
  if (!accuracy.known()) {
    judge_unknown(accuracy, options, out);
  } else if (const double error = accuracy.judged_error(); error > options.accuracy_warning) {
    const std::string what = std::isinf(error) ? std::string("be infinite or NaN where float32 is not")
                                               : fmt::format("be off by {:.2g} of 1 + its magnitude", error);
    out.loss(make_diag<DiagCode::MRV0901>(printable(worst(accuracy).name), what, options.accuracy_warning,
                                          seen_at(accuracy, worst(accuracy))));
  }
  for (const Accuracy::Output& o : accuracy.outputs) {
    if (o.blind) out.note(make_diag<DiagCode::MRV0931>(printable(o.name)));
    if (!o.blind && o.front.empty() && o.relative() > kMostOfSmall)
      out.loss(make_diag<DiagCode::MRV0932>(printable(o.name), o.magnitude, 100 * o.relative(),
                                            seen_in(accuracy, false)));
  }
  return out.passed();
}

namespace {

int64_t kept(const Accuracy& a, partition::Precision::Kind kind) {
  if (!a.choice) return 0;
  return std::ranges::count_if(a.choice->precisions, [&](const auto& p) { return p.second.kind == kind; });
}

int64_t known_by(const Accuracy& a, range::How how) {
  return std::ranges::count_if(a.stored, [&](const Accuracy::Stored& s) { return s.known.how == how; });
}

std::string stored_as(bool wide) {
  return wide ? "fp32" : "fp16";
}

}  // namespace

std::vector<StoredRange> stored_ranges(const Accuracy& accuracy) {
  std::vector<StoredRange> out;
  for (const Accuracy::Stored& s : accuracy.stored) {
    StoredRange& range = out.emplace_back(StoredRange{
        s.value, std::string(range::word(s.known.how)), {}, stored_as(s.type == ElementType::F32)});
    if (s.known.how != range::How::Unknown) range.max_abs = rounded(s.known.max_abs(), 5);
  }
  return out;
}

ReportedAccuracy reported(const Accuracy& a, const CompileOptions& options) {
  ReportedAccuracy out;
  if (a.known()) {
    out.expected_error = rounded(a.expected_error(), 2);
    out.median_error = rounded(a.error_of_share(0.5), 2);
    out.p95_error = rounded(a.error_of_share(kJudgedShare), 2);
  }
  out.how = name(a.how);
  out.worst_value = idmap::json_text(a.worst_value);
  out.reason = idmap::json_text(a.reason);
  out.samples = a.samples;
  if (a.choice && a.choice->asked > 0) out.asked = a.choice->asked;
  if (a.choice && a.choice->runs > 0) out.predicted = rounded(a.choice->predicted, 2);
  out.kept_as_pairs = kept(a, partition::Precision::Kind::Pair);
  out.kept_scaled = kept(a, partition::Precision::Kind::Half);
  out.runs = a.choice ? a.choice->runs : 0;
  out.warning_above = options.accuracy_warning;
  out.known = {known_by(a, range::How::Proved), known_by(a, range::How::Observed),
               known_by(a, range::How::Unknown)};
  for (const Accuracy::Limit& l : a.limits) {
    out.input_limits.push_back({idmap::json_text(l.input), l.limit.least, l.limit.most});
    if (l.limit.smallest > 0)
      out.input_limits.back().smallest = l.limit.smallest, out.input_limits.back().zero = l.limit.zero;
  }
  for (const Accuracy::Output& o : a.outputs) {
    ReportedOutput& output =
        out.outputs.emplace_back(ReportedOutput{idmap::json_text(o.name), rounded(o.error, 2)});
    if (!o.front.empty()) output.in_front = rounded(o.in_front, 2), output.front = idmap::json_text(o.front);
    output.hardly_moves = o.blind;
    if (o.relative() > 0) output.relative = rounded(o.relative(), 2);
    output.elements_differing = o.elements;
  }
  for (const Accuracy::Beyond& b : a.beyond)
    out.beyond_fp16.push_back({idmap::json_text(b.value), idmap::json_text(b.node), b.op_type,
                               rounded(b.magnitude, 5), stored_as(b.wide),
                               b.calibrated ? "calibration" : "probe"});
  return out;
}

std::string expected_error_text(const ReportedAccuracy& a) {
  if (!a.expected_error) return "not known";
  return *a.expected_error >= kInfinite ? "infinite" : fmt::format("{:.2g}", *a.expected_error);
}

std::string accuracy_detail(const ReportedAccuracy& a) {
  const auto lost = std::ranges::count(a.beyond_fp16, "fp16", &ReportedBeyond::stored);
  std::string text = a.reason;
  if (lost > 0) text += fmt::format("; {} value{} beyond fp16", lost, lost == 1 ? "" : "s");
  if (!a.worst_value.empty()) text += "; worst: '" + a.worst_value + "'";
  for (const ReportedLimit& l : a.input_limits) {
    text += fmt::format("; the program tells of '{}' beyond {:.6g} to {:.6g}", l.input, l.min, l.max);
    if (l.smallest)
      text += fmt::format(", or all smaller than {:.3g}{}", *l.smallest,
                          l.zero.value_or(false) ? " but not all zero" : "");
  }
  return text;
}

std::string accuracy_line(const ReportedAccuracy& a) {
  return fmt::format("{}{} ({})", a.expected_error ? "expected error " : "", expected_error_text(a),
                     accuracy_detail(a));
}

}  // namespace mrvlc::driver
