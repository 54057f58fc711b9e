// Every buffer lies in its PE, beside the constants and the other buffers.
#include <algorithm>

#include "check/checker.h"

namespace mrvlc::mesh {
namespace {

struct Range {
  uint64_t begin = 0, bytes = 0;
};

}  // namespace

void Checker::memory() {
  std::vector<std::vector<Range>> of_pe(p_.pes.size());
  constexpr uint64_t kMost = uint64_t{1} << 40;
  for (uint32_t i = 0; i < p_.tasks.size(); ++i) {
    const Task& t = p_.tasks[i];
    const auto sized = [&](uint64_t offset, uint64_t bytes, int64_t need, uint32_t slots, const char* what) {
      if (bytes != static_cast<uint64_t>(need) || offset > kMost || bytes > kMost / slots)
        return fault("{} of {} has {} bytes, it takes {}", what, task_name(i), bytes, need);
      of_pe[t.pe].push_back({offset, bytes * slots});
    };
    const auto bytes_of = [](const Tensor3& x, const Box& b) {
      return b.rows * x.width * b.channels * size_of(x.elem);
    };
    sized(t.offset, t.bytes, bytes_of(result(t), t.box), 1, "the result");
    for (size_t k = 0; k < t.inboxes.size(); ++k) {
      const Inbox& in = t.inboxes[k];
      sized(in.offset, in.bytes, bytes_of(p_.tensors[p_.layers[t.layer].inputs[k]], in.box), in.slots,
            "an operand");
    }
  }
  for (size_t p = 0; p < p_.pes.size(); ++p) {
    const PlannedPe& pe = p_.pes[p];
    auto& ranges = of_pe[p];
    ranges.push_back({0, pe.blob_bytes});
    std::ranges::sort(ranges, {}, [](const Range& r) { return std::pair(r.begin, r.bytes); });
    for (size_t i = 1; i < ranges.size(); ++i)
      if (ranges[i - 1].begin + ranges[i - 1].bytes > ranges[i].begin)
        fault("PE {}.{}: what lies at {} reaches over what lies at {}", pe.chip, pe.core, ranges[i - 1].begin,
              ranges[i].begin);
    if (ranges.back().begin + ranges.back().bytes > pe.memory_bytes)
      fault("PE {}.{}: a buffer ends behind its memory of {} bytes", pe.chip, pe.core, pe.memory_bytes);
    const auto sram = static_cast<uint64_t>(p_.machine.pe.sram_bytes.value);
    const uint64_t whole =
        std::min(pe.memory_bytes, kMost) + static_cast<uint64_t>(p_.machine.pe.code_bytes.value);
    f_.most_memory = std::max(f_.most_memory, whole);
    if (whole > sram) fault("PE {}.{} needs {} bytes of {}", pe.chip, pe.core, whole, sram);
    if (pe.blob_bytes > blob_bytes_ || pe.blob_offset > blob_bytes_ - pe.blob_bytes)
      fault("PE {}.{}: its constants lie behind the end of the blob", pe.chip, pe.core);
  }
}

}  // namespace mrvlc::mesh
