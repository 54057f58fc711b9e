// Programs, policies and placements tried; the fastest by estimate is taken.
#include "schedule.h"

#include <algorithm>
#include <bit>
#include <map>
#include <set>

#include "code/codegen.h"
#include "code/emit.h"
#include "code/interleave.h"
#include "mrvlc/support/checked.h"
#include "place/placement.h"
#include "plan/policies.h"
#include "plan/search.h"
#include "plan/second_window.h"
#include "plan/stripe_search.h"
#include "plan/sub_batch.h"
#include "primitive/cost_limits.h"

namespace mrvlc::accel {
namespace {

// Instructions of all that is tried together, where there is a choice: a large program is not tried in as
// many ways as a small one. Each kind of trial has a share.
constexpr int64_t kMostOrders = 400'000;         // when orders of the images of a batch have been tried,
constexpr int64_t kMostGenerated = 600'000;      // then policies,
constexpr int64_t kMostWithStripes = 1'200'000;  // and then stripes

// Bytes on chip that tensors take, by primitive.
std::vector<int64_t> tensor_bytes(const std::vector<Residence>& residences, size_t primitives) {
  std::vector<int64_t> change(primitives + 1, 0);
  for (const Residence& h : residences) {
    if (!h.on_chip) continue;
    // The heir of a tensor takes over its memory after the primitive at which both live.
    size_t first = h.shares != UINT32_MAX ? h.first + 1 : h.first;
    if (first > h.last) continue;
    change[first] += h.bytes;
    change[h.last + 1] -= h.bytes;
  }
  for (size_t i = 1; i < change.size(); ++i) change[i] += change[i - 1];
  return change;
}

// Whether each primitive sends what it makes to other tiles: not when a later one makes the same rows again,
// or their other half, before anybody reads them.
std::vector<bool> exchangers(const Program& program, const std::vector<Cut>& cuts, uint32_t tiles) {
  std::vector<bool> out(program.primitives.size(), true);
  struct Made {
    size_t by = 0;
    std::vector<Rect> rects;  // by tile
  };
  std::map<uint32_t, std::vector<Made>> pending;  // by buffer: written, not read yet
  for (size_t i = 0; i < program.primitives.size(); ++i) {
    std::map<uint32_t, std::vector<Rect>> made;
    for (uint32_t t = 0; t < tiles; ++t)
      for (const Touch& touch : touches(program.primitives[i], cuts[i], t, program)) {
        if (!touch.write) {
          const uint32_t base = program.buffers[touch.buffer].copy_of;
          pending.erase(base != UINT32_MAX ? base : touch.buffer);
          continue;
        }
        std::vector<Rect>& rects = made[touch.buffer];
        rects.resize(tiles);
        rects[t] = hull(rects[t], touch.rect);
      }
    for (auto& entry : made) {
      std::vector<Rect>& rects = entry.second;
      std::vector<Made>& before = pending[entry.first];
      std::erase_if(before, [&](const Made& m) {
        bool again = m.by != i;
        for (uint32_t t = 0; t < tiles; ++t) again = again && contains(rects[t], m.rects[t]);
        if (again) out[m.by] = false;
        return again;
      });
      before.push_back({i, std::move(rects)});
    }
  }
  return out;
}

// Weights are there for the whole program.
void pin(TileProgram& program, int64_t weight_bytes) {
  auto constant = [&](const Item& i) {
    return std::ranges::all_of(i.loads, [&](const Load& l) { return l.transfer.ddr < weight_bytes; });
  };
  for (uint32_t k : program.fetches) {
    Item& item = program.items[k];
    if (item.last < 0 || !constant(item)) continue;
    item.prefetch = false;
    item.pinned = true;
    item.first = 0;
    item.last = static_cast<int64_t>(program.steps.size()) - 1;
  }
  std::erase_if(program.fetches, [&](uint32_t k) { return program.items[k].pinned; });
}

struct Built {
  TileProgram program;
  std::vector<Residence> residences;
  std::optional<Shortage> shortage;
  PlacementResult placed;
};

// Outputs made by several primitives, by the last of them.
std::map<size_t, std::vector<uint32_t>> collected_outputs(const Program& program,
                                                          const std::vector<Residence>& residences) {
  std::map<size_t, std::vector<uint32_t>> out;
  for (uint32_t b = 0; b < residences.size(); ++b) {
    bool output = program.buffers[b].kind == Buffer::Kind::Output;
    if (output && residences[b].on_chip && residences[b].collected)
      out[residences[b].last_write].push_back(b);
  }
  return out;
}

// A program under one policy.
class TileBuilder {
 public:
  TileBuilder(const NameNode& name, const Program& program, const std::vector<Cut>& cuts,
              const target::Machine& machine, const Options& options)
      : name_(name), p_(program), cuts_(cuts), m_(machine), options_(options) {}

  Result<Built> build(const std::vector<Residence>& residences, double fetch_share) const {
    Built out;
    out.program.constant_end = p_.buffers[kWeights].bytes;
    out.program.tiles = options_.tiles;
    MRVLC_ASSIGN(out.shortage, generate_all(residences, out.program));
    if (out.shortage) return out;
    if (options_.pin_weights) pin(out.program, out.program.constant_end);
    out.placed = place(out.program, m_, fetch_share);
    out.shortage = out.placed.shortage;
    return out;
  }

 private:
  // An error where a primitive does not fit although it has all memory to itself.
  Result<std::optional<Shortage>> generate_all(const std::vector<Residence>& residences,
                                               TileProgram& out) const {
    StepWriter writer(out, m_, options_.tiles);
    TableItems tables(p_, m_);
    CodegenContext c{p_,
                     cuts_,
                     residences,
                     tables,
                     writer,
                     collected_outputs(p_, residences),
                     std::vector<uint32_t>(residences.size(), kNoItem)};
    std::vector<int64_t> taken = tensor_bytes(residences, p_.primitives.size());
    std::vector<bool> exchanges = exchangers(p_, cuts_, options_.tiles);
    for (size_t i = 0; i < p_.primitives.size(); ++i) {
      c.primitive = i;
      c.exchanges = exchanges[i];
      c.budget = m_.ocm_bytes - taken[i] - tables.resident_bytes();
      writer.set_primitive(i);
      Status done = std::visit([&](const auto& v) { return generate(v, c); }, p_.primitives[i]);
      if (static_cast<int64_t>(out.code.size()) > kMostInstructions) done = too_many_instructions();
      if (done.ok()) {
        c.store_collected();
        continue;
      }
      bool hopeless = c.budget == m_.ocm_bytes || done.error().exit_class() == ExitClass::Limit;
      if (hopeless) return name_(std::move(done).error(), owner_of(p_.primitives[i]).expr);
      return std::optional(Shortage{static_cast<uint32_t>(i)});
    }
    return std::optional<Shortage>();
  }

  const NameNode& name_;
  const Program& p_;
  const std::vector<Cut>& cuts_;
  const target::Machine& m_;
  const Options& options_;
};

// Sends the largest tensor that lives at a primitive to DDR; false when there is none.
bool spill_at(uint32_t primitive, const std::vector<Residence>& residences, std::vector<bool>& spilled) {
  size_t best = residences.size();
  for (size_t b = 0; b < residences.size(); ++b) {
    const Residence& h = residences[b];
    if (!h.on_chip || h.first > primitive || h.last < primitive) continue;
    if (best == residences.size() || h.bytes > residences[best].bytes) best = b;
  }
  if (best == residences.size()) return false;
  spilled[best] = true;
  return true;
}

Result<Built> plan_tiles(const NameNode& name, const Program& program, const std::vector<Cut>& cuts,
                         const target::Machine& machine, const Options& options, double fetch_share,
                         int64_t& generated) {
  std::vector<bool> spilled(program.buffers.size(), false);
  TileBuilder builder(name, program, cuts, machine, options);
  constexpr int kMostAttempts = 24;
  int64_t before = generated;
  for (int attempt = 0;; ++attempt) {
    std::vector<Residence> residences = choose_residency(program, cuts, machine, options.tiles, spilled);
    MRVLC_ASSIGN(Built built, builder.build(residences, fetch_share));
    generated += static_cast<int64_t>(built.program.code.size());
    if (!built.shortage) {
      built.residences = std::move(residences);
      return built;
    }
    bool patient = attempt < kMostAttempts && generated - before < kMostGenerated;
    if (patient && spill_at(built.shortage->primitive, residences, spilled)) continue;
    bool all = std::ranges::find(spilled, false) == spilled.end();
    if (all && options.pin_weights)
      return make_diag<DiagCode::MRV0504>(program.buffers[kWeights].bytes, built.placed.short_bytes,
                                          machine.ocm_bytes);
    if (all) return make_diag<DiagCode::MRV0501>(machine.ocm_bytes);
    spilled.assign(spilled.size(), true);
  }
}

std::vector<target::Machine> columns(const target::Machine& machine, target::Column column) {
  if (column == target::Column::Default) return {machine};
  if (column == target::Column::Conservative) return {target::pessimistic(machine)};
  return {machine, target::pessimistic(machine)};
}

// The best schedule of a program; the first at equal cycles.
class Scheduler {
 public:
  // `machine`: what estimates are made with; `timed_on`: whose cycles count.
  Scheduler(const NameNode& name, const target::Machine& machine,
            const std::vector<target::Machine>& timed_on, const Options& options)
      : name_(name), m_(machine), timed_on_(timed_on), options_(options) {}

  double cycles() const { return least_; }

  Result<Scheduled> run(Program program) {
    std::vector<Policy> all = policies(program, m_, options_.tiles, options_.effort > 1);
    if (program.images > 1) MRVLC_TRY(choose_images(program, all.front()));
    most_ = kMostGenerated;
    for (const Policy& policy : all) MRVLC_TRY(consider(program, policy, true));
    if (options_.effort > 1) MRVLC_TRY(other_plans(program));
    most_ = kMostWithStripes;
    MRVLC_TRY(cascade(program));
    return std::move(best_);
  }

 private:
  // How many images each primitive works on at a time; `program` is in the best order afterwards.
  Status choose_images(Program& program, const Policy& policy) {
    most_ = kMostOrders;
    const int64_t chip = int64_t{m_.ocm_bytes} * options_.tiles;
    std::vector<ImagesAtOnce> orders;
    const auto add = [&](ImagesAtOnce order) {
      constexpr int64_t kMostMore = 20'000;  // primitives
      int64_t more = 0;
      for (int64_t n : order) more += ceil_div(program.images, n) - 1;
      if (more > kMostMore) return;
      if (std::ranges::find(orders, order) == orders.end()) orders.push_back(std::move(order));
    };
    for (int64_t percent : {50, 25, 70, 35, 100}) add(images_within(program, chip / 100 * percent));
    for (uint64_t n = std::bit_ceil(static_cast<uint64_t>(program.images)); n >= 1; n /= 2)
      add(images_at_most(program, static_cast<int64_t>(n)));
    // Where the whole batch fits the chip, parts of it soon take longer and longer.
    const bool fits = orders.front() == images_at_most(program, program.images);
    constexpr int kPatience = 2;
    int worse = 0;
    std::optional<Program> best;
    for (const ImagesAtOnce& order : orders) {
      if (fits && worse == kPatience) break;
      Program ordered = in_sub_batches(program, order);
      const double before = least_;
      tell(order);
      MRVLC_TRY(consider(ordered, policy, false));
      const bool better = !best || least_ < before;
      if (better) best = std::move(ordered);
      worse = better ? 0 : worse + 1;
    }
    program = std::move(*best);
    return {};
  }

  // As on a machine whose ports, or whose DDR, are slower: what meets at them at one time is in no estimate.
  Status other_plans(const Program& program) {
    target::Machine ports = m_, channel = m_;
    ports.ocm_read_bytes = std::max(1u, m_.ocm_read_bytes / 2);
    ports.ocm_write_bytes = std::max(1u, m_.ocm_write_bytes / 2);
    channel.ddr_bytes = std::max(1u, m_.ddr_bytes / 2);
    for (const target::Machine& other : {ports, channel})
      for (Policy policy : policies(program, other, options_.tiles, false)) {
        policy.planned_for = &other;
        MRVLC_TRY(consider(program, policy, true));
      }
    return {};
  }

  // Where large tensors go through DDR between layers, cascades may do better.
  Status cascade(const Program& program) {
    std::vector<Residence> residences = choose_residency(program, best_.cuts, m_, options_.tiles,
                                                         std::vector<bool>(program.buffers.size(), false));
    std::vector<Run> runs = find_runs(program, residences, m_, options_.tiles);
    constexpr size_t kMostRuns = 8;
    if (runs.size() > kMostRuns) runs.resize(kMostRuns);
    Policy policy = policy_;
    policy.price.compact = true;  // stripes are there to keep tensors on chip
    const auto choices = [&](const Run& run) { return grids_for(program, run, m_, options_.tiles); };
    const auto better = [&](const Striping& s) -> Result<bool> {
      std::optional<Program> striped = in_stripes(program, s.runs, s.grids);
      if (!striped) return false;
      tell(s);
      const double before = least_;
      MRVLC_TRY(consider(std::move(*striped), policy, false));
      return least_ < before;
    };
    return search_stripes(std::move(runs), program.primitives.size(), {choices, better});
  }

  // `whole`: the program without stripes.
  Status consider(Program program, const Policy& policy, bool whole) {
    auto size = static_cast<int64_t>(best_.tiles.code.size());
    if (!best_.cuts.empty() && generated_ + size > most_ * options_.effort) return {};
    MemoryMap map = plan_memory(program, m_);
    MRVLC_TRY(check_device_memory(map.input_end - map.input_begin + map.output_end - map.output_begin +
                                  map.end - map.scratch_begin));
    const bool own = policy.planned_for == nullptr;
    const target::Machine& planned_for = own ? m_ : *policy.planned_for;
    std::vector<Cut> cuts = choose_cuts(program, planned_for, options_.tiles, policy.price);
    if (whole && own && !tried_.emplace(policy.fetch_share, cuts).second) return {};
    std::optional<Program> parted = with_second_windows(program, cuts, options_.tiles);
    // Later trials of large programs have windows as the best of the first ones does.
    constexpr size_t kBothKinds = 2;
    constexpr int64_t kSmall = 100'000;  // instructions
    const bool both = (whole && tried_.size() <= kBothKinds) || generated_ < kSmall;
    if (!parted || both || !second_windows_) {
      std::vector<Cut> same = cuts;
      const double before = least_;
      MRVLC_TRY(consider(std::move(program), std::move(same), map, policy, whole));
      if (before == 0 || least_ < before) second_windows_ = false;
    }
    if (!parted || (!both && !second_windows_)) return {};
    const double before = least_;
    MRVLC_TRY(consider(std::move(*parted), std::move(cuts), map, policy, whole));
    if (least_ < before) second_windows_ = true;
    return {};
  }

  Status consider(Program program, std::vector<Cut> cuts, const MemoryMap& map, const Policy& policy,
                  bool whole) {
    const bool own = policy.planned_for == nullptr;
    const target::Machine& planned_for = own ? m_ : *policy.planned_for;
    Result<Built> planned =
        plan_tiles(name_, program, cuts, planned_for, options_, policy.fetch_share, generated_);
    if (!planned.ok()) tell(policy, "it does not fit");
    if (!planned.ok() && !best_.cuts.empty()) return {};  // another one works
    MRVLC_ASSIGN(Built built, std::move(planned));
    const PlacementResult& placed = built.placed;
    constexpr double kClose = 1.06;
    // The estimate knows less of what streams: what counts that is timed.
    const bool unlikely = own && !policy.price.streaming && placed.cycles >= estimate_ * kClose;
    if (!best_.cuts.empty() && options_.effort < 2 &&
        (whole ? unlikely : placed.cycles >= estimate_ * kClose)) {
      tell(policy, fmt::format("{:.0f} cycles by estimate, not timed", placed.cycles));
      return {};
    }
    MRVLC_ASSIGN(Ordered timed,
                 best_order(draft(TileProgram(built.program), static_cast<uint64_t>(map.end)), timed_on_));
    const double cycles = timed.cycles;
    tell(policy, fmt::format("{:.0f} cycles{}, {:.0f} by estimate", cycles,
                             timed.order.empty() ? "" : " interleaved", placed.cycles));
    // What is about as fast by itself need not be beside stripes and neighbours.
    const bool other_kind = whole && policy.price.streaming && !policy_.price.streaming;
    constexpr double kWorth = 0.985;
    if (!best_.cuts.empty() && cycles >= least_ * (other_kind ? kWorth : 1)) return {};
    least_ = cycles;
    if (own) estimate_ = placed.cycles;
    policy_ = policy;
    policy_.planned_for = nullptr;
    best_ = {std::move(program),
             std::move(cuts),
             std::move(built.residences),
             std::move(built.program),
             std::move(timed.order),
             map,
             estimate_,
             placed.peak,
             placed.peak_bound};
    return {};
  }

  void tell(const Policy& policy, std::string_view cost) const {
    if (options_.log.shows(LogLevel::Debug))
      options_.log.debug("{}: {}: {}", options_.name, text(policy), cost);
  }

  void tell(const ImagesAtOnce& order) const {
    if (!options_.log.shows(LogLevel::Debug)) return;
    std::string all;
    for (size_t i = 0; i < order.size(); ++i)
      if (i == 0 || order[i] != order[i - 1]) all += fmt::format(" {} from {}", order[i], i);
    options_.log.debug("{}: images at a time:{}", options_.name, all);
  }

  void tell(const Striping& s) const {
    if (!options_.log.shows(LogLevel::Debug)) return;
    std::string all;
    for (size_t k = 0; k < s.runs.size(); ++k)
      all +=
          fmt::format(" {}-{} in {} x {}", s.runs[k].first, s.runs[k].last, s.grids[k].rows, s.grids[k].cols);
    options_.log.debug("{}: primitives in stripes:{}", options_.name, all);
  }

  const NameNode& name_;
  const target::Machine& m_;
  const std::vector<target::Machine>& timed_on_;
  const Options& options_;
  int64_t generated_ = 0;                                // instructions, of all that was tried,
  int64_t most_ = kMostGenerated;                        // and of what may be
  std::set<std::pair<double, std::vector<Cut>>> tried_;  // of the program without stripes
  Scheduled best_;
  Policy policy_;                    // of the best
  bool second_windows_ = false;      // the best has them
  double least_ = 0, estimate_ = 0;  // cycles of the best, timed and estimated
};

}  // namespace

Result<Scheduled> schedule(const NameNode& name, Program program, const target::Machine& machine,
                           const Options& options) {
  const std::vector<target::Machine> machines = columns(machine, options.column);
  std::optional<Scheduled> best;
  double least = 0;
  for (size_t k = 0; k < machines.size(); ++k) {
    Scheduler scheduler(name, machines[k], machines, options);
    const bool last = k + 1 == machines.size();
    MRVLC_ASSIGN(Scheduled found, scheduler.run(last ? std::move(program) : Program(program)));
    if (best && scheduler.cycles() >= least) continue;
    least = scheduler.cycles();
    best = std::move(found);
  }
  return *std::move(best);
}

}  // namespace mrvlc::accel
