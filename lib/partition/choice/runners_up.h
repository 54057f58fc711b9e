// What the nodes of each chosen layer would take elsewhere, with everything else as it is.
#pragma once
#include "choice/tariff.h"

namespace mrvlc::partition {

// By rank; null where the host alone can compute a node. The least first; the host's is called "host".
std::vector<std::shared_ptr<const std::vector<TargetCost>>> runners_up(const Placement& placement,
                                                                       const Offers& offers,
                                                                       const Tariff& tariff,
                                                                       const Choice& choice);

}  // namespace mrvlc::partition
