// Nodes of a placement.json found in the model, which may have changed since.
#include <map>
#include <set>

#include "constraints.h"
#include "mrvlc/idmap/idmap.h"
#include "mrvlc/support/diag/partition.h"
#include "mrvlc/support/diag/tools.h"

namespace mrvlc::driver {
namespace {

using Node = PlacementFile::Node;
using Source = AssignedNodes::Source;

// As messages show it: by its name, where it has one.
std::string shown_node(std::string_view id, std::string_view name, std::string_view op_type) {
  return fmt::format("'{}' ({})", printable(name.empty() ? id : name, 80), printable(op_type, 80));
}
std::string shown_node(const Source& s) {
  return shown_node(s.id, s.name, s.op_type);
}

class Matcher {
 public:
  Matcher(const AssignedNodes& placed, const std::string& shown) : shown_(shown) {
    for (const Source& s : placed.sources) {
      by_id_.emplace(s.id, &s);
      if (!s.name.empty()) by_name_[{idmap::json_text(s.name), idmap::json_text(s.op_type)}].push_back(&s);
    }
  }

  Status run(PlacementFile& file, Diagnostics& diagnostics) {
    for (Node& n : file.nodes) {
      MRVLC_ASSIGN(const Source* source, source_of(n));
      if (!taken_.insert(source).second) return fault(n, "it is there twice");
      if (n.id != source->id && moved_++ == 0)
        first_moved_ = fmt::format("{}, {} in the file and {} in the model", shown_node(*source),
                                   printable(n.id), printable(source->id));
      n.id = source->id;
      look_at_unread(n, *source);
    }
    if (moved_ > 0) diagnostics.add(make_diag<DiagCode::MRV1071>(shown_, moved_, first_moved_));
    for (const auto& [member, where] : unread_)
      diagnostics.add(make_diag<DiagCode::MRV1072>(
          shown_,
          fmt::format("'{}' of {}{}", member, where.first,
                      where.count > 1 ? fmt::format(" and of {} more nodes", where.count - 1) : ""),
          "'where', 'target' and 'region' can be changed; --rules and --no-default-rules decide about "
          "rules"));
    return {};
  }

 private:
  static bool same(const Node& n, const Source& s) {
    return (!n.name || *n.name == idmap::json_text(s.name)) &&
           (!n.op_type || *n.op_type == idmap::json_text(s.op_type));
  }

  Diag fault(const Node& n, std::string_view why) const {
    const std::string node = n.name || n.op_type
                                 ? fmt::format("node '{}', {}", printable(n.id),
                                               shown_node(n.id, n.name.value_or(""), n.op_type.value_or("")))
                                 : fmt::format("node '{}'", printable(n.id));
    return make_diag<DiagCode::MRV0413>(shown_, fmt::format("{}: {}", node, why));
  }

  Result<const Source*> source_of(const Node& n) const {
    const auto by_id = by_id_.find(n.id);
    if (by_id != by_id_.end() && same(n, *by_id->second)) return by_id->second;
    if (n.name && n.op_type && !n.name->empty()) {
      const auto named = by_name_.find({*n.name, *n.op_type});
      if (named != by_name_.end() && named->second.size() == 1) return named->second.front();
    }
    if (by_id == by_id_.end()) return fault(n, "the model has no such node");
    return fault(n,
                 fmt::format("in the model that id is {}; take the node out of the file, or write the file "
                             "anew with this model",
                             shown_node(*by_id->second)));
  }

  void look_at_unread(const Node& n, const Source& s) {
    if (n.where != s.where) return;  // what else is said of it is of another place
    if (n.rule && *n.rule != s.rule) note("rule", s);
    if (n.call && *n.call != s.call) note("call", s);
  }

  void note(const char* member, const Source& s) {
    Unread& u = unread_[member];
    if (u.count++ == 0) u.first = shown_node(s);
  }

  struct Unread {
    std::string first;
    size_t count = 0;
  };
  const std::string& shown_;
  std::map<std::string_view, const Source*> by_id_;
  std::map<std::pair<std::string, std::string>, std::vector<const Source*>> by_name_;  // and operator
  std::set<const Source*> taken_;
  std::string first_moved_;
  size_t moved_ = 0;
  std::map<std::string, Unread> unread_;  // by member
};

}  // namespace

Result<PlacementFile> matched(PlacementFile file, const AssignedNodes& placed, const std::string& shown,
                              Diagnostics& diagnostics) {
  MRVLC_TRY(Matcher(placed, shown).run(file, diagnostics));
  return file;
}

}  // namespace mrvlc::driver
