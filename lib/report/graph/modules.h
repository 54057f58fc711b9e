// Large graphs folded by module, so that they can be read whole: a page opens with a graph of at most
// kMostModules items, each of which opens the graph of what is in it.
#pragma once
#include "mrvlc/report/graph.h"

namespace mrvlc::report {

inline constexpr size_t kMostModules = 12;
// Graphs of up to this many items stay as they are: the model's, and a module's.
inline constexpr size_t kReadableGraph = 80, kReadableModule = 40;

// The graphs of `document`, in their order, and behind them those by module. `start`: the one to open first.
struct FoldedDocument {
  GraphDocument document;
  uint32_t start = 0;
};
FoldedDocument fold_by_module(const GraphDocument& document);

}  // namespace mrvlc::report
