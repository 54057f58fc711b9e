// Groups of other files, `@file::group`: written out when all files are read.
#include <algorithm>
#include <filesystem>
#include <map>

#include "mrvlc/support/nearest.h"
#include "parser.h"

namespace mrvlc::rules {
namespace {

constexpr size_t kMaxOperators = 1024;  // of an element, written out
constexpr size_t kMaxSteps = 1u << 16;  // of all of them together

class GroupsOfFiles {
 public:
  GroupsOfFiles(std::vector<GroupUse>& groups, Messages& messages) : messages_(messages) {
    for (GroupUse& g : groups) {
      const std::filesystem::path file(g.origin);
      by_name_.try_emplace({file.filename().string(), g.name}, &g);
      by_name_.try_emplace({file.stem().string(), g.name}, &g);
    }
  }

  void write_out(std::string_view origin, std::vector<Operator>& operators) {
    std::vector<Operator> out;
    std::vector<const GroupUse*> inside;
    add(origin, operators, inside, out);
    operators = std::move(out);
  }

 private:
  void add(std::string_view origin, const std::vector<Operator>& from, std::vector<const GroupUse*>& inside,
           std::vector<Operator>& out) {
    for (const Operator& op : from) {
      if (out.size() >= kMaxOperators || ++steps_ > kMaxSteps) return;
      if (!op.group) {
        out.push_back(op);
        continue;
      }
      auto it = by_name_.find({op.domain, op.name});
      if (it == by_name_.end()) {
        missing(origin, op);
        continue;
      }
      use(origin, op, *it->second, inside, out);
    }
  }

  void use(std::string_view origin, const Operator& op, GroupUse& g, std::vector<const GroupUse*>& inside,
           std::vector<Operator>& out) {
    g.used = true;
    if (std::ranges::find(inside, &g) != inside.end()) {
      messages_.add<DiagCode::MRV0301>(origin, op.at, "group '" + g.name + "' is part of itself");
      return;
    }
    inside.push_back(&g);
    const size_t before = out.size();
    add(g.origin, g.operators, inside, out);
    for (size_t i = before; i < out.size(); ++i) out[i].at = op.at;
    inside.pop_back();
  }

  void missing(std::string_view origin, const Operator& op) {
    std::vector<std::string_view> files, names;
    for (const auto& [key, group] : by_name_) {
      files.push_back(key.first);
      if (key.first == op.domain) names.push_back(key.second);
    }
    std::string what = names.empty() ? fmt::format("no file '{}' with groups is read{}", printable(op.domain),
                                                   did_you_mean(op.domain, files))
                                     : fmt::format("file '{}' has no group '{}'{}", printable(op.domain),
                                                   printable(op.name), did_you_mean(op.name, names));
    messages_.add<DiagCode::MRV0301>(origin, op.at, std::move(what));
  }

  Messages& messages_;
  size_t steps_ = 0;
  std::map<std::pair<std::string, std::string>, GroupUse*> by_name_;
};

}  // namespace

void write_out_groups(std::vector<Rule>& rules, std::vector<GroupUse>& groups, Messages& messages) {
  GroupsOfFiles all(groups, messages);
  for (Rule& r : rules) {
    for (Element& e : r.pattern) {
      if (std::ranges::any_of(e.operators, &Operator::group)) all.write_out(r.origin, e.operators);
    }
  }
}

}  // namespace mrvlc::rules
