#include "kinds.h"

#include <algorithm>

#include "legal.h"

namespace mrvlc::partition {
namespace {

using Epilogue = KindInfo::Epilogue;

std::vector<KindInfo> table() {
  return {
      {"conv", Epilogue::Chain, true, legal_conv, {}},
      {"conv_transpose", Epilogue::Chain, true, legal_conv_transpose, {}},
      {"fc", Epilogue::Chain, true, legal_fc, {}},
      {"matmul", Epilogue::Chain, true, legal_matmul, {}},
      {"pool", Epilogue::None, false, legal_pool, {}},
      {"elementwise", Epilogue::Functions, false, legal_elementwise, {}},
      {"reduce", Epilogue::None, false, legal_reduce, {}},
      {"softmax", Epilogue::None, false, legal_softmax, {}},
      {"norm", Epilogue::None, false, legal_norm, {}},
      {"resize", Epilogue::None, false, legal_resize, {}},
      {"concat", Epilogue::None, false, legal_concat, {}},
      {"move", Epilogue::None, false, legal_move, {}},
      {"reshape", Epilogue::None, false, legal_reshape, {}},
  };
}

// The facet is a list of kinds, separated by blanks.
bool names_kind(std::string_view facet, std::string_view kind) {
  while (!facet.empty()) {
    size_t end = std::min(facet.find(' '), facet.size());
    if (facet.substr(0, end) == kind) return true;
    facet.remove_prefix(std::min(end + 1, facet.size()));
  }
  return false;
}

std::vector<KindInfo> with_anchors() {
  std::vector<KindInfo> out = table();
  for (KindInfo& kind : out) {
    for (const ops::OpDef* op : ops::all_ops()) {
      if (names_kind(op->accel, kind.name)) kind.anchors.push_back(op);
    }
  }
  return out;
}

}  // namespace

const std::vector<KindInfo>& kinds() {
  static const std::vector<KindInfo> kKinds = with_anchors();
  return kKinds;
}

const KindInfo* find_kind(std::string_view name) {
  auto it = std::ranges::find(kinds(), name, &KindInfo::name);
  return it == kinds().end() ? nullptr : &*it;
}

bool can_anchor(const KindInfo& kind, const ir::Node& node) {
  return std::ranges::any_of(kind.anchors, [&](const ops::OpDef* op) { return node.op == op; });
}

bool is_elementwise(const ir::Node& node) {
  static const KindInfo& kind = *find_kind("elementwise");
  return can_anchor(kind, node);
}

}  // namespace mrvlc::partition
