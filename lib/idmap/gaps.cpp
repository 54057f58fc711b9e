// What the ID map does not account for: nodes, expressions, lines or instructions without an owner.
#include <fmt/format.h>

#include <map>
#include <set>

#include "mrvlc/idmap/idmap.h"

namespace mrvlc::idmap {
namespace {

class GapFinder {
 public:
  GapFinder(const Json& map, const std::vector<SectionCounts>& counts) : map_(map), counts_(counts) {}

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
    for (const Json& s : map_.at("sources")) sources_.insert(s.at("id").get<std::string>());
    if (sources_.size() != map_.at("sources").size()) gap("two sources share an id");
  }

  void check_expressions() {
    uint32_t next = 0;
    for (const Json& e : map_.at("expressions")) {
      if (e.at("expr_id") != next) gap(fmt::format("expression {} is missing", next));
      ++next;
      if (e.at("sources").empty()) gap(fmt::format("expression {} has no source", next - 1));
      for (const Json& s : e.at("sources")) {
        if (!sources_.contains(s.get<std::string>()))
          gap(fmt::format("expression {} names an unknown source", next - 1));
      }
      for (const Json& f : e.at("from")) {
        if (f.get<uint32_t>() >= map_.at("expressions").size())
          gap(fmt::format("expression {} is from nothing", next - 1));
      }
    }
    expressions_ = next;
  }

  void reach(const Json& expr_id, const std::string& who) {
    auto id = expr_id.get<uint32_t>();
    if (id >= expressions_) return gap(who + " leads to no expression");
    for (const Json& s : map_.at("expressions")[id].at("sources")) reached_.insert(s.get<std::string>());
  }

  void check_layers() {
    std::set<std::pair<uint32_t, uint32_t>> with_code;
    std::map<uint32_t, uint32_t> next;  // layer that comes next, by region
    for (const Json& i : map_.at("instructions")) with_code.emplace(i.at("region"), i.at("layer"));
    for (const Json& l : map_.at("layers")) {
      std::pair<uint32_t, uint32_t> key(l.at("region"), l.at("layer"));
      if (uint32_t& n = next[key.first]; n++ != key.second)
        gap(fmt::format("layer {} of region {} is missing", n - 1, key.first));
      if (!layers_.insert(key).second)
        gap(fmt::format("layer {} of region {} stands twice", key.second, key.first));
      if (l.at("exprs").empty())
        gap(fmt::format("layer {} of region {} has no expression", key.second, key.first));
      if (!with_code.contains(key)) continue;
      for (const Json& e : l.at("exprs"))
        reach(e, fmt::format("layer {} of region {}", key.second, key.first));
    }
  }

  // Ranges are in order, without holes, and cover each section whole.
  void check_instructions() {
    std::vector<std::array<uint32_t, 3>> next(counts_.size(), {0, 0, 0});
    for (const Json& i : map_.at("instructions")) {
      auto region = i.at("region").get<size_t>();
      const std::string& section = i.at("section").get_ref<const std::string&>();
      size_t s = section == "init" ? 0 : section == "main" ? 1 : 2;
      if (region >= counts_.size()) {
        gap("instructions of a region that does not exist");
        continue;
      }
      if (i.at("begin") != next[region][s])
        gap(fmt::format("region {} {}: a hole at {}", region, section, next[region][s]));
      next[region][s] = i.at("end");
      if (!layers_.contains({i.at("region"), i.at("layer")}))
        gap("instructions of a layer that does not exist");
      reach(i.at("expr_id"), "an instruction");
    }
    for (size_t r = 0; r < counts_.size(); ++r) {
      if (next[r][0] != counts_[r].init || next[r][1] != counts_[r].main || next[r][2] != counts_[r].finish) {
        gap(fmt::format("region {}: not every instruction is mapped", r));
      }
    }
  }

  void check_functions() {
    for (const Json& f : map_.at("host_functions")) {
      if (f.at("first_line") > f.at("last_line")) gap("a host function without lines");
      reach(f.at("expr_id"), f.at("symbol").get<std::string>());
      for (const Json& e : f.at("fused")) reach(e, f.at("symbol").get<std::string>());
    }
  }

  void check_sources() {
    for (const Json& s : map_.at("sources")) {
      const std::string& id = s.at("id").get_ref<const std::string&>();
      const std::string& fate = s.at("fate").get_ref<const std::string&>();
      if (!reached_.contains(id) && s.at("reason").get_ref<const std::string&>().empty()) {
        gap("source " + id + " has neither code nor a reason");
      }
      bool known =
          fate == "accelerator" || fate == "cpu" || fate == "both" || fate == "folded" || fate == "removed";
      if (!known) gap("source " + id + " has no fate");
    }
  }

  const Json& map_;
  const std::vector<SectionCounts>& counts_;
  std::vector<std::string> gaps_;
  std::set<std::string> sources_, reached_;
  std::set<std::pair<uint32_t, uint32_t>> layers_;
  uint32_t expressions_ = 0;
};

}  // namespace

std::vector<std::string> find_gaps(const Json& map, const std::vector<SectionCounts>& counts) {
  return GapFinder(map, counts).run();
}

}  // namespace mrvlc::idmap
