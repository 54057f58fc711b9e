// Events of a trace one by one: bars of queues, counters of DDR and on-chip memory, estimated host steps.
#include "profile/trace.h"

#include <fmt/format.h>

#include <algorithm>
#include <iterator>
#include <nlohmann/json.hpp>

#include "mrvlc/backend/region_code.h"
#include "mrvlc/support/file_writer.h"
#include "mrvlc/support/json_document.h"
#include "profile/counters.h"

namespace mrvlc::driver {
namespace {

std::string json_quoted(std::string_view text) {
  return json_line(nlohmann::json(text));
}

class Trace {
 public:
  Trace(FileWriter writer, const BarLabel& label) : writer_(std::move(writer)), label_(label) {}

  Status write(const std::vector<report::Region>& regions, const std::vector<TraceStep>& steps) {
    MRVLC_TRY(writer_.append(R"({"traceEvents":[)"));
    if (steps.empty())
      for (const report::Region& r : regions) MRVLC_TRY(region(r));
    else
      MRVLC_TRY(program(regions, steps));
    MRVLC_TRY(writer_.append("\n],\"displayTimeUnit\":\"ns\"}\n"));
    return writer_.commit();
  }

 private:
  Status program(const std::vector<report::Region>& regions, const std::vector<TraceStep>& steps) {
    for (const report::Region& r : regions) host_ = std::max(host_, r.id + 1);
    MRVLC_TRY(
        add(R"({{"ph":"M","name":"process_name","pid":{},"args":{{"name":"host, estimated"}}}})", host_));
    MRVLC_TRY(add(R"({{"ph":"M","name":"thread_name","pid":{},"tid":0,"args":{{"name":"steps"}}}})", host_));
    for (const TraceStep& s : steps) {
      MRVLC_TRY(slices(s.before));
      if (s.region) {
        MRVLC_TRY(region(regions[*s.region]));
        offset_ += regions[*s.region].cycles();
      }
      MRVLC_TRY(slices(s.after));
    }
    return {};
  }

  Status slices(const std::vector<TraceStep::Slice>& list) {
    for (const TraceStep::Slice& s : list) {
      MRVLC_TRY(add(
          R"({{"ph":"X","name":{},"pid":{},"tid":0,"ts":{}.{:03},"dur":{}.{:03},"args":{{"estimated":true}}}})",
          json_quoted(s.name), host_, offset_ / 1000, offset_ % 1000, s.cycles / 1000, s.cycles % 1000));
      offset_ += s.cycles;
    }
    return {};
  }

  Status counter(uint32_t region, const std::string& name, const char* unit,
                 const std::vector<CounterStep>& steps) {
    for (const CounterStep& s : steps) {
      const uint64_t at = offset_ + s.at;
      MRVLC_TRY(add(R"({{"ph":"C","name":"{}","pid":{},"ts":{}.{:03},"args":{{"{}":{}}}}})", name, region,
                    at / 1000, at % 1000, unit, s.value));
    }
    return {};
  }

  // About a thousand steps of DDR, however long the region is.
  Status counters(const report::Region& r) {
    const uint64_t window = std::max<uint64_t>(r.cycles() / 1000, 16);
    const std::string unit = fmt::format("bytes in {} cycles", window);
    MRVLC_TRY(counter(r.id, "DDR read", unit.c_str(), ddr_bytes(r, 0, window)));
    MRVLC_TRY(counter(r.id, "DDR write", unit.c_str(), ddr_bytes(r, 1, window)));
    for (uint32_t t = 0; t < r.tiles && !r.memory.empty(); ++t)
      MRVLC_TRY(counter(r.id, fmt::format("on-chip memory, tile {}", t), "bytes held", held_bytes(r, t)));
    return {};
  }

  Status region(const report::Region& r) {
    MRVLC_TRY(add(R"({{"ph":"M","name":"process_name","pid":{0},"args":{{"name":"region {0}"}}}})", r.id));
    for (size_t t = 0; t < r.tiles * report::kQueues; ++t)
      MRVLC_TRY(add(R"({{"ph":"M","name":"thread_name","pid":{},"tid":{},"args":{{"name":"tile {} {}"}}}})",
                    r.id, t, t / report::kQueues, report::queue_names()[t % report::kQueues]));
    for (const report::Bar& bar : r.bars) MRVLC_TRY(event(r.id, bar));
    return r.bars.empty() ? Status() : counters(r);
  }

  // A copy is drawn while its bytes move: the latency after overlaps with the next one, which slices cannot.
  Status event(uint32_t region, const report::Bar& bar) {
    const bool copy = bar.queue < 2;  // DMA in, DMA out
    const uint64_t own = copy ? bar.begin : bar.start, length = (copy ? bar.moved : bar.end) - own;
    const uint64_t start = offset_ + own;
    return add(
        R"({{"ph":"X","name":{},"pid":{},"tid":{},"ts":{}.{:03},"dur":{}.{:03},"args":{{"section":"{}",)"
        R"("instruction":{},"bound":"{}","waited":{},"ddr_bytes":{}}}}})",
        json_quoted(label_(region, bar)), region, bar.tile * report::kQueues + bar.queue, start / 1000,
        start % 1000, length / 1000, length % 1000, backend::kSectionNames[bar.section], bar.instruction,
        report::bound_keys()[bar.bound], bar.wait, bar.bytes);
  }

  template <class... Args>
  Status add(fmt::format_string<Args...> form, Args&&... args) {
    line_.assign(std::exchange(first_, false) ? "\n" : ",\n");
    fmt::format_to(std::back_inserter(line_), form, std::forward<Args>(args)...);
    return writer_.append(line_);
  }

  FileWriter writer_;
  const BarLabel& label_;
  std::string line_;
  bool first_ = true;
  uint64_t offset_ = 0;  // where in the program, cycles
  uint32_t host_ = 0;    // pid
};

}  // namespace

Status write_trace(const std::filesystem::path& file, const std::vector<report::Region>& regions,
                   const BarLabel& label, const std::vector<TraceStep>& steps) {
  MRVLC_ASSIGN(FileWriter writer, FileWriter::create(file));
  return Trace(std::move(writer), label).write(regions, steps);
}

}  // namespace mrvlc::driver
