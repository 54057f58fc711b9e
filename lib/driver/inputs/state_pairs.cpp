// The pairs of --state, by names or by likeness of names.
#include "inputs/state_pairs.h"

#include <algorithm>
#include <array>
#include <map>
#include <optional>

#include "mrvlc/support/characters.h"
#include "mrvlc/support/diag/chost.h"
#include "mrvlc/support/nearest.h"

namespace mrvlc::driver {
namespace {

using Pair = chost::StatePair;
using Names = std::vector<std::string>;

Names names_of(const ir::Graph& graph, const std::vector<ir::ValueId>& values) {
  Names names;
  for (ir::ValueId v : values) names.push_back(graph.value(v).name);
  return names;
}

std::optional<size_t> position(const Names& names, std::string_view name) {
  const auto it =
      std::ranges::find_if(names, [&](const std::string& n) { return n == name || printable(n) == name; });
  return it == names.end() ? std::nullopt : std::optional<size_t>(it - names.begin());
}

Diag refused(std::string_view past, std::string_view present, const std::string& why) {
  return make_diag<DiagCode::MRV0612>(
      printable(present.empty() ? std::string(past) : fmt::format("{}={}", past, present)), why);
}

std::string unknown(std::string_view kind, std::string_view name, const Names& names) {
  std::vector<std::string_view> views(names.begin(), names.end());
  return fmt::format("the model has no {} '{}'{}", kind, printable(name), did_you_mean(name, views));
}

// What the '*' of a pattern stands for in `name`.
std::optional<std::string_view> matched(std::string_view pattern, std::string_view name) {
  const size_t star = pattern.find('*');
  const std::string_view before = pattern.substr(0, star), behind = pattern.substr(star + 1);
  if (name.size() < before.size() + behind.size() || !name.starts_with(before) || !name.ends_with(behind))
    return std::nullopt;
  return name.substr(before.size(), name.size() - before.size() - behind.size());
}

std::string filled(std::string_view pattern, std::string_view text) {
  const size_t star = pattern.find('*');
  return fmt::format("{}{}{}", pattern.substr(0, star), text, pattern.substr(star + 1));
}

class Finder {
 public:
  explicit Finder(const ir::Graph& graph)
      : graph_(graph), inputs_(names_of(graph, graph.inputs())), outputs_(names_of(graph, graph.outputs())) {}

  Status add(const std::string& text) {
    if (text == "auto") return add_alike();
    // Names may hold '=' themselves: the first place that parts an input from an output.
    size_t best = std::string::npos;
    for (size_t eq = text.find('='); eq != std::string::npos; eq = text.find('=', eq + 1)) {
      const std::string_view past = std::string_view(text).substr(0, eq),
                             present = std::string_view(text).substr(eq + 1);
      if (best == std::string::npos || (position(inputs_, past) && position(outputs_, present))) best = eq;
    }
    if (best == std::string::npos || best == 0 || best + 1 == text.size())
      return refused(text, "", "it is written PAST=PRESENT, the names of an input and an output, or auto");
    return add_pair(std::string_view(text).substr(0, best), std::string_view(text).substr(best + 1));
  }

  std::vector<Pair> take() {
    std::vector<Pair> pairs;
    for (const auto& [input, output] : output_of_) pairs.push_back({input, output});
    return pairs;
  }

 private:
  Status add_pair(std::string_view past, std::string_view present) {
    const auto input = position(inputs_, past), output = position(outputs_, present);
    if (input && output) return join(*input, *output);
    const auto stars = [](std::string_view text) { return std::ranges::count(text, '*'); };
    if (stars(past) == 1 && stars(present) == 1) return add_pattern(past, present);
    return refused(past, present,
                   input ? unknown("output", present, outputs_) : unknown("input", past, inputs_));
  }

  Status add_pattern(std::string_view past, std::string_view present) {
    bool any = false;
    for (size_t i = 0; i < inputs_.size(); ++i) {
      const auto text = matched(past, inputs_[i]);
      const auto output = text ? position(outputs_, filled(present, *text)) : std::nullopt;
      if (!output) continue;
      MRVLC_TRY(join(i, *output));
      any = true;
    }
    return any ? Status() : refused(past, present, "no input and output have such names");
  }

  Status join(size_t input, size_t output) {
    const auto [it, is_new] = output_of_.emplace(input, output);
    if (!is_new && it->second == output) return {};
    const bool taken =
        std::ranges::count_if(output_of_, [&](const auto& p) { return p.second == output; }) > 1;
    if (is_new && !taken) return {};
    return refused(inputs_[input], outputs_[output],
                   !is_new ? "the input is in a pair with another output"
                           : "the output is in a pair with another input");
  }

  Status add_alike();

  const ir::Graph& graph_;
  Names inputs_, outputs_;
  std::map<size_t, size_t> output_of_;
};

// The words of a name in lower case, without those for before and after: "past_key_values.0.key" and
// "present.0.key" (Hugging Face), "state" and "stateN" (silero), "cache_in" and "cache_out".
std::string bare_name(std::string_view name) {
  constexpr auto kDropped = std::to_array<std::string_view>(
      {"past", "present", "in",  "out",     "input", "output",  "prev",   "previous", "next", "new",
       "old",  "last",    "cur", "current", "n",     "updated", "values", "t",        "init", "final"});
  std::vector<std::string> words(1);
  for (size_t i = 0; i < name.size(); ++i) {
    const unsigned char c = static_cast<unsigned char>(name[i]);
    const bool upper = c >= 'A' && c <= 'Z', letter = upper || (c >= 'a' && c <= 'z'),
               digit = c >= '0' && c <= '9';
    const bool same_kind =
        !words.back().empty() && digit == (words.back().back() >= '0' && words.back().back() <= '9');
    const bool hump = upper && i > 0 && name[i - 1] >= 'a' && name[i - 1] <= 'z';
    if ((!letter && !digit) || !same_kind || hump) words.emplace_back();
    if (letter || digit) words.back() += static_cast<char>(upper ? c - 'A' + 'a' : c);
  }
  std::string bare;
  bool was_past = false, of_time = false;
  for (const std::string& word : words) {
    const bool of_cache = was_past && word == "key";  // past_key_values
    if (!word.empty() && !of_cache && std::ranges::find(kDropped, word) == kDropped.end()) bare += word + " ";
    of_time = of_time || word == "past" || word == "present";
    if (!word.empty()) was_past = word == "past" && name.find("values") != name.npos;
  }
  return bare.empty() && of_time ? "state" : bare;  // nothing else is in the name
}

Status Finder::add_alike() {
  std::map<std::string, std::pair<std::vector<size_t>, std::vector<size_t>>> alike;
  for (size_t i = 0; i < inputs_.size(); ++i) alike[bare_name(inputs_[i])].first.push_back(i);
  for (size_t i = 0; i < outputs_.size(); ++i) alike[bare_name(outputs_[i])].second.push_back(i);
  for (const auto& [name, both] : alike) {
    const auto& [in, out] = both;
    if (name.empty() || in.size() != 1 || out.size() != 1) continue;
    const TensorType &a = graph_.value(graph_.inputs()[in[0]]).type,
                     &b = graph_.value(graph_.outputs()[out[0]]).type;
    const bool plain =
        a.wrapper == Wrapper::None && b.wrapper == Wrapper::None && a.is_static() && b.is_static();
    if (plain && a.elem == b.elem && a.shape == b.shape && inputs_[in[0]] != outputs_[out[0]])
      MRVLC_TRY(join(in[0], out[0]));
  }
  if (output_of_.empty())
    return refused(
        "auto", "",
        "no input and output have one fixed shape and names that are alike; --state PAST=PRESENT names them");
  return {};
}

}  // namespace

Result<std::vector<Pair>> state_pairs(const std::vector<std::string>& texts, const ir::Graph& graph) {
  Finder finder(graph);
  for (const std::string& text : texts) MRVLC_TRY(finder.add(text));
  return finder.take();
}

}  // namespace mrvlc::driver
