// Entries of a tuning that a compile did not heed, as diagnostics.
#include "stages/ineffective_tuning.h"

#include <algorithm>

#include "mrvlc/support/diag/chost.h"
#include "mrvlc/support/diag/general.h"

namespace mrvlc::driver {
namespace {

std::string_view why_not(const chost::LayerChoice& layer, const std::string& asked) {
  if (!chost::parse_variant(asked)) return "this version of mrvlc does not know";
  return layer.refused ? "this layer cannot be computed by, exactly enough and within these options"
                       : "takes more scratch memory than --arena-limit leaves";
}

}  // namespace

void warn_ineffective_tuning(const CompileOptions& options, const TuningFile& file,
                             const chost::HostCode& host, Diagnostics& diagnostics) {
  if (options.tuning.empty()) return;
  if (host.choices.empty())
    return diagnostics.add(make_diag<DiagCode::MRV0010>(
        "--tuning", "no layer that runs on the host could be computed in another way", "leave it away"));
  const chost::LayerChoice* first = nullptr;
  size_t known = 0, others = 0;
  for (const chost::LayerChoice& c : host.choices) {
    known += file.find(c.layer) != nullptr ? 1 : 0;
    if (c.tuned || file.find(c.layer) == nullptr) continue;
    if (file.find(c.layer)->choice == chost::to_text(c.taken)) continue;
    if (first == nullptr)
      first = &c;
    else
      ++others;
  }
  const std::string shown = printable(options.tuning.string(), 4096);
  if (known == 0) return diagnostics.add(make_diag<DiagCode::MRV0608>(shown, host.choices.size()));
  if (first == nullptr) return;
  const std::string& asked = file.find(first->layer)->choice;
  const std::string more = others == 0 ? "" : fmt::format("; and {} more layers", others);
  diagnostics.add(at_node(make_diag<DiagCode::MRV0607>(shown, printable(asked), why_not(*first, asked),
                                                       chost::to_text(first->taken), more),
                          first->name, first->op));
}

}  // namespace mrvlc::driver
