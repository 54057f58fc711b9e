// Which memory is needed when, and where in the arena it lies.
#include <fmt/ranges.h>

#include <algorithm>
#include <numeric>

#include "mrvlc/alloc/alloc.h"
#include "mrvlc/partition/partition.h"
#include "mrvlc/support/diag/chost.h"
#include "mrvlc/support/diag/general.h"
#include "text.h"

namespace mrvlc::chost {
namespace {

struct LiveRange {
  int64_t bytes = 0, begin = 0, end = 0;  // moments [begin, end)
};

class ArenaPlanner {
 public:
  explicit ArenaPlanner(const Program& program) : program_(program) { find_live_ranges(); }

  Result<ArenaResult> run() const {
    std::vector<alloc::Item> items;
    int64_t all = 0;
    for (const auto& [buffer, range] : live_ranges_) {
      items.push_back({range.begin, range.end, range.bytes});
      if (__builtin_add_overflow(all, range.bytes, &all) || all > kMaxAll)
        return make_diag<DiagCode::MRV0641>(kMaxAll, describe_all(largest()));
    }
    alloc::Options options{.alignment = kArenaAlign};
    alloc::Placement plan = alloc::minimise_peak(items, options);
    int64_t limit = program_.options.arena_limit;
    if (plan.peak > limit && plan.lower_bound <= limit) {  // it matters: as long again as the first attempt
      if (auto fits = alloc::place_within(items, limit, options)) plan = *std::move(fits);
    }
    const alloc::Peak peak = alloc::peak_load(items, kArenaAlign);
    if (plan.peak > limit) return too_large(plan, peak);
    ArenaResult result{plan.peak, plan.lower_bound, told(peak), {}, {}};
    size_t i = 0;
    for (const auto& [buffer, range] : live_ranges_) {
      result.offsets[buffer] = plan.offsets[i++];
      result.steps[buffer] = {static_cast<size_t>(range.begin / kMomentsOfStep),
                              static_cast<size_t>((range.end - 1) / kMomentsOfStep)};
    }
    return result;
  }

 private:
  // Bytes of all tensors together that the planner can calculate with.
  static constexpr int64_t kMaxAll = int64_t{1} << 60;

  int64_t end_of_run() const { return end_of_steps(program_) + 1; }

  void touch(BufferId id, int64_t moment) {
    if (!id.valid()) return;
    BufferId root = program_.resolve(id).first;
    const Buffer& s = program_.buffers[root.index()];
    if (s.kind != Buffer::Kind::Arena) return;
    auto [it, is_new] =
        live_ranges_.try_emplace(root, LiveRange{std::max<int64_t>(s.bytes, 1), moment, moment + 1});
    it->second.begin = std::min(it->second.begin, moment);
    it->second.end = s.kept ? end_of_run() : std::max(it->second.end, moment + 1);
  }

  void find_live_ranges() {
    for_each_touch(program_, [this](const Touch& t) { touch(t.buffer, t.moment); });
  }

  // The value that is all of it, else one that is part of it, else the work it is scratch memory of.
  std::string describe(BufferId buffer, int64_t begin) const {
    std::string part;
    for (const auto& [value, s] : program_.value_buffers) {
      if (program_.resolve(s).first != buffer) continue;
      if (s == buffer) return "'" + printable(program_.graph.value(value).name) + "'";
      if (part.empty()) part = "'" + printable(program_.graph.value(value).name) + "'";
    }
    if (!part.empty()) return part;
    for (const auto& [form, s] : program_.device_buffers)
      if (program_.resolve(s).first == buffer)
        return "'" + printable(program_.graph.value(form.first).name) + "' for the device";
    const ir::Node* node = node_at(begin);
    return node ? "scratch of '" + printable(node->name) + "'" : "scratch";
  }

  const ir::Node* node_at(int64_t moment) const {
    auto step = static_cast<size_t>(moment / kMomentsOfStep);
    if (step >= program_.steps.size() || program_.steps[step].group.nodes.empty()) return nullptr;
    return &program_.node(program_.steps[step].group.nodes[0]);
  }

  // Of live ranges, the largest first.
  std::vector<uint32_t> largest() const {
    std::vector<int64_t> bytes;
    for (const auto& [buffer, range] : live_ranges_) bytes.push_back(range.bytes);
    std::vector<uint32_t> order(bytes.size());
    std::iota(order.begin(), order.end(), 0u);
    std::ranges::stable_sort(order, std::greater(), [&](uint32_t i) { return bytes[i]; });
    return order;
  }

  std::string describe_all(const std::vector<uint32_t>& items) const {
    constexpr size_t kMaxNamed = 8;
    std::vector<std::pair<BufferId, LiveRange>> buffers(live_ranges_.begin(), live_ranges_.end());
    std::vector<std::string> texts;
    for (uint32_t i : items) {
      if (texts.size() == kMaxNamed) {
        texts.push_back(fmt::format("{} more", items.size() - kMaxNamed));
        break;
      }
      const auto& [buffer, range] = buffers[i];
      texts.push_back(fmt::format("{} {}", describe(buffer, range.begin), range.bytes));
    }
    return fmt::format("{}", fmt::join(texts, ", "));
  }

  ArenaPeak told(const alloc::Peak& peak) const {
    const ir::Node* node = node_at(peak.time);
    return {node ? node->name : "", node ? std::string(node->op->name) : "", describe_all(peak.items)};
  }

  Diag too_large(const alloc::Placement& plan, const alloc::Peak& peak) const {
    int64_t limit = program_.options.arena_limit;
    Diag diag = make_diag<DiagCode::MRV0604>(plan.peak, plan.peak - limit, limit, plan.lower_bound,
                                             describe_all(peak.items));
    const ir::Node* node = node_at(peak.time);
    return node ? at_node(std::move(diag), node->name, node->op->name) : diag;
  }

  const Program& program_;
  std::map<BufferId, LiveRange> live_ranges_;
};

}  // namespace

Result<ArenaResult> plan_program_arena(const Program& program) {
  return ArenaPlanner(program).run();
}

}  // namespace mrvlc::chost
