// What a run found, as a table for the terminal and as JSON.
#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <nlohmann/json.hpp>
#include <numeric>

#include "mrvlc/conformance/conformance.h"

namespace mrvlc::conformance {
namespace {

constexpr std::array<std::string_view, kVerdicts> kNames = {"passed", "wrong", "refused", "crashed", "unfit"};
constexpr std::array<std::string_view, 2> kEngineNames = {"interpreter", "C"};

const std::optional<Outcome>& of(const CaseResult& c, Engine engine) {
  return c.of[static_cast<size_t>(engine)];
}

std::string counts(const Tally& t) {
  std::string text;
  for (size_t v = 0; v < kVerdicts; ++v) {
    const bool usual = v != static_cast<size_t>(Verdict::Unfit);
    if (usual || t.by[v] > 0) text += fmt::format("{}{} {}", text.empty() ? "" : ", ", t.by[v], kNames[v]);
    if (static_cast<Verdict>(v) != Verdict::Refused || t.codes.empty()) continue;
    std::string codes;
    for (const auto& [code, count] : t.codes)
      codes += fmt::format("{}{} {}", codes.empty() ? "" : ", ", code, count);
    text += " (" + codes + ")";
  }
  return text;
}

void engine_line(std::string& out, const Release& release, const std::string& suite, Engine engine) {
  const Tally t = tally(release, suite, engine);
  if (t.total() == 0) return;
  out += fmt::format("{:20} {:11} {}\n", suite.empty() ? "all" : suite, name(engine), counts(t));
}

bool is_listed(Verdict verdict, bool refusals) {
  return verdict == Verdict::Wrong || verdict == Verdict::Crashed ||
         (refusals && (verdict == Verdict::Refused || verdict == Verdict::Unfit));
}

void case_lines(std::string& out, const CaseResult& c, bool refusals) {
  for (Engine engine : kEngines) {
    const auto& outcome = of(c, engine);
    if (!outcome || !is_listed(outcome->verdict, refusals)) continue;
    out += fmt::format("{}: {}: {}: {}{}{}\n", c.name, name(engine), name(outcome->verdict), outcome->code,
                       outcome->code.empty() ? "" : ": ", outcome->message);
  }
}

nlohmann::ordered_json to_json(const Tally& t) {
  nlohmann::ordered_json json;
  for (size_t v = 0; v < kVerdicts; ++v) json[std::string(kNames[v])] = t.by[v];
  json["codes"] = nlohmann::ordered_json::object();
  for (const auto& [code, count] : t.codes) json["codes"][code] = count;
  return json;
}

nlohmann::ordered_json to_json(const CaseResult& c) {
  nlohmann::ordered_json json = {{"name", c.name}};
  for (Engine engine : kEngines) {
    const auto& outcome = of(c, engine);
    if (!outcome) continue;
    auto& at = json[std::string(name(engine))];
    at["verdict"] = name(outcome->verdict);
    if (!outcome->code.empty()) at["code"] = outcome->code;
    if (!outcome->message.empty()) at["message"] = outcome->message;
  }
  return json;
}

nlohmann::ordered_json to_json(const Release& release) {
  nlohmann::ordered_json json = {{"name", release.name}};
  std::vector<std::string> names = suites(release);
  names.emplace_back();
  for (const std::string& suite : names) {
    for (Engine engine : kEngines) {
      const Tally t = tally(release, suite, engine);
      if (t.total() > 0)
        json["suites"][suite.empty() ? "all" : suite][std::string(name(engine))] = to_json(t);
    }
  }
  json["cases"] = nlohmann::ordered_json::array();
  for (const CaseResult& c : release.cases) json["cases"].push_back(to_json(c));
  return json;
}

}  // namespace

std::string_view name(Verdict verdict) {
  return kNames[static_cast<size_t>(verdict)];
}

std::string_view name(Engine engine) {
  return kEngineNames[static_cast<size_t>(engine)];
}

int Tally::total() const {
  return std::accumulate(by.begin(), by.end(), 0);
}

Tally tally(const Release& release, std::string_view suite, Engine engine) {
  Tally t;
  std::map<std::string, int> codes;
  for (const CaseResult& c : release.cases) {
    const auto& outcome = of(c, engine);
    if (!outcome || (!suite.empty() && c.suite != suite)) continue;
    ++t.by[static_cast<size_t>(outcome->verdict)];
    if (outcome->verdict == Verdict::Refused) ++codes[outcome->code];
  }
  t.codes.assign(codes.begin(), codes.end());
  std::stable_sort(t.codes.begin(), t.codes.end(),
                   [](const auto& a, const auto& b) { return a.second > b.second; });
  return t;
}

std::vector<std::string> suites(const Release& release) {
  std::vector<std::string> names;
  for (const CaseResult& c : release.cases) {
    if (names.empty() || names.back() != c.suite) names.push_back(c.suite);
  }
  return names;
}

std::string text_report(const std::vector<Release>& releases, bool refusals) {
  std::string out;
  for (const Release& release : releases) {
    for (const CaseResult& c : release.cases) case_lines(out, c, refusals);
    out += fmt::format("{}: {} cases\n", release.name, release.cases.size());
    for (const std::string& suite : suites(release)) {
      for (Engine engine : kEngines) engine_line(out, release, suite, engine);
    }
    for (Engine engine : kEngines) engine_line(out, release, {}, engine);
  }
  return out;
}

std::string json_report(const std::vector<Release>& releases) {
  nlohmann::ordered_json json;
  json["releases"] = nlohmann::ordered_json::array();
  for (const Release& release : releases) json["releases"].push_back(to_json(release));
  return json.dump(1) + "\n";
}

}  // namespace mrvlc::conformance
