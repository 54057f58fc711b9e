#include "profile/trace.h"

#include <fmt/format.h>

#include <iterator>
#include <nlohmann/json.hpp>

#include "mrvlc/support/file_writer.h"
#include "profile/region_profile.h"

namespace mrvlc::driver {
namespace {

constexpr const char* kQueues[] = {"DMA in", "DMA out", "POD", "PE"};

std::string quoted(std::string_view text) {
  return nlohmann::json(text).dump(-1, ' ', false, nlohmann::json::error_handler_t::replace);
}

class Trace {
 public:
  explicit Trace(FileWriter writer) : writer_(std::move(writer)) {}

  Status write(std::span<const TracedRegion> regions) {
    MRVLC_TRY(writer_.append(R"({"traceEvents":[)"));
    for (const TracedRegion& r : regions) MRVLC_TRY(region(r));
    MRVLC_TRY(writer_.append("\n],\"displayTimeUnit\":\"ns\"}\n"));
    return writer_.commit();
  }

 private:
  Status region(const TracedRegion& r) {
    MRVLC_TRY(add(R"({{"ph":"M","name":"process_name","pid":{0},"args":{{"name":"region {0}"}}}})", r.id));
    for (size_t t = 0; t < r.tiles * isa::kQueues; ++t)
      MRVLC_TRY(add(R"({{"ph":"M","name":"thread_name","pid":{},"tid":{},"args":{{"name":"tile {} {}"}}}})",
                    r.id, t, t / isa::kQueues, kQueues[t % isa::kQueues]));
    // Events count from the start of their section; the sections run one after the other.
    const uint64_t begin[] = {0, r.run->init_cycles, r.run->init_cycles + r.run->main_cycles};
    for (const sim::Event& e : r.run->events)
      MRVLC_TRY(event(r.id, e, begin[static_cast<size_t>(e.section)], r.label(e)));
    return {};
  }

  // A copy is drawn while its bytes move: the latency after overlaps with the next one, which slices cannot.
  Status event(uint32_t region, const sim::Event& e, uint64_t section_begin, std::string_view label) {
    bool copy = e.queue == isa::Queue::DmaIn || e.queue == isa::Queue::DmaOut;
    uint64_t start = section_begin + (copy ? e.begin : e.start),
             length = copy ? e.moved - e.begin : e.end - e.start;
    return add(
        R"({{"ph":"X","name":{},"pid":{},"tid":{},"ts":{}.{:03},"dur":{}.{:03},"args":{{"section":"{}",)"
        R"("instruction":{},"bound":"{}","waited":{},"ddr_bytes":{}}}}})",
        quoted(label), region, e.tile * isa::kQueues + static_cast<size_t>(e.queue), start / 1000,
        start % 1000, length / 1000, length % 1000, kSectionNames[static_cast<size_t>(e.section)],
        e.instruction, sim::bound_name(e.bound), e.start - e.ready, e.ddr_read_bytes + e.ddr_write_bytes);
  }

  template <class... Args>
  Status add(fmt::format_string<Args...> form, Args&&... args) {
    line_.assign(std::exchange(first_, false) ? "\n" : ",\n");
    fmt::format_to(std::back_inserter(line_), form, std::forward<Args>(args)...);
    return writer_.append(line_);
  }

  FileWriter writer_;
  std::string line_;
  bool first_ = true;
};

}  // namespace

Status write_trace(const std::filesystem::path& file, std::span<const TracedRegion> regions) {
  MRVLC_ASSIGN(FileWriter writer, FileWriter::create(file));
  return Trace(std::move(writer)).write(regions);
}

}  // namespace mrvlc::driver
