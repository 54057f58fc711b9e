// What the ID map does not account for: nodes, expressions, lines or instructions without an owner.
#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <set>

#include "mrvlc/idmap/idmap.h"

namespace mrvlc::idmap {
namespace {

class GapFinder {
 public:
  GapFinder(const Map& map, const std::vector<SectionCounts>& counts) : map_(map), counts_(counts) {}

  std::vector<std::string> run() {
    index();
    check_expressions();
    check_layers();
    check_instructions();
    check_functions();
    check_sources();
    return std::move(gaps_);
  }

 private:
  void gap(std::string text) {
    if (gaps_.size() < 20) gaps_.push_back(std::move(text));
  }

  void index() {
    for (const Source& s : map_.sources) sources_.insert(s.id);
    if (sources_.size() != map_.sources.size()) gap("two sources share an id");
  }

  void check_expressions() {
    uint32_t next = 0;
    for (const Expression& e : map_.expressions) {
      if (e.expr_id != next) gap(fmt::format("expression {} is missing", next));
      ++next;
      if (e.sources.empty()) gap(fmt::format("expression {} has no source", next - 1));
      for (const std::string& s : e.sources)
        if (!sources_.contains(s)) gap(fmt::format("expression {} names an unknown source", next - 1));
      for (const uint32_t f : e.from)
        if (f >= map_.expressions.size()) gap(fmt::format("expression {} is from nothing", next - 1));
    }
  }

  void reach(uint32_t id, const std::string& who) {
    if (id >= map_.expressions.size()) return gap(who + " leads to no expression");
    for (const std::string& s : map_.expressions[id].sources) reached_.insert(s);
  }

  void check_layers() {
    std::set<std::pair<uint32_t, uint32_t>> with_code;
    std::map<uint32_t, uint32_t> next;  // layer that comes next, by region
    for (const Instructions& i : map_.instructions) with_code.emplace(i.region, i.layer);
    for (const Layer& l : map_.layers) {
      const std::pair key(l.region, l.layer);
      const std::string who = fmt::format("layer {} of region {}", l.layer, l.region);
      if (uint32_t& n = next[l.region]; n++ != l.layer)
        gap(fmt::format("layer {} of region {} is missing", n - 1, l.region));
      if (!layers_.insert(key).second) gap(who + " stands twice");
      if (l.exprs.empty()) gap(who + " has no expression");
      if (!with_code.contains(key)) continue;
      for (const uint32_t e : l.exprs) reach(e, who);
    }
  }

  // Ranges are in order, without holes, and cover each section whole.
  void check_instructions() {
    std::vector<std::array<uint32_t, 3>> next(counts_.size(), {0, 0, 0});
    for (const Instructions& i : map_.instructions) {
      if (i.region >= counts_.size()) {
        gap("instructions of a region that does not exist");
        continue;
      }
      uint32_t& begins = next[i.region][i.section == "init" ? 0 : i.section == "main" ? 1 : 2];
      if (i.begin != begins) gap(fmt::format("region {} {}: a hole at {}", i.region, i.section, begins));
      begins = i.end;
      if (!layers_.contains({i.region, i.layer})) gap("instructions of a layer that does not exist");
      reach(i.expr_id, "an instruction");
    }
    for (size_t r = 0; r < counts_.size(); ++r) {
      if (next[r][0] != counts_[r].init || next[r][1] != counts_[r].main || next[r][2] != counts_[r].finish) {
        gap(fmt::format("region {}: not every instruction is mapped", r));
      }
    }
  }

  void check_functions() {
    for (const Function& f : map_.host_functions) {
      if (f.first_line > f.last_line) gap("a host function without lines");
      reach(f.expr_id, f.symbol);
      for (const uint32_t e : f.fused) reach(e, f.symbol);
    }
  }

  void check_sources() {
    constexpr std::string_view kFates[] = {"accelerator", "cpu", "both", "folded", "removed"};
    for (const Source& s : map_.sources) {
      if (!reached_.contains(s.id) && s.reason.empty())
        gap("source " + s.id + " has neither code nor a reason");
      if (std::ranges::find(kFates, s.fate) == std::end(kFates)) gap("source " + s.id + " has no fate");
    }
  }

  const Map& map_;
  const std::vector<SectionCounts>& counts_;
  std::vector<std::string> gaps_;
  std::set<std::string> sources_, reached_;
  std::set<std::pair<uint32_t, uint32_t>> layers_;
};

}  // namespace

std::vector<std::string> find_gaps(const Map& map, const std::vector<SectionCounts>& counts) {
  return GapFinder(map, counts).run();
}

}  // namespace mrvlc::idmap
