#include "profile/trace.h"

#include <fmt/format.h>

#include <iterator>
#include <nlohmann/json.hpp>

#include "mrvlc/backend/region_code.h"
#include "mrvlc/support/file_writer.h"

namespace mrvlc::driver {
namespace {

std::string quoted(std::string_view text) {
  return nlohmann::json(text).dump(-1, ' ', false, nlohmann::json::error_handler_t::replace);
}

class Trace {
 public:
  Trace(FileWriter writer, const BarLabel& label) : writer_(std::move(writer)), label_(label) {}

  Status write(const std::vector<report::Region>& regions) {
    MRVLC_TRY(writer_.append(R"({"traceEvents":[)"));
    for (const report::Region& r : regions) MRVLC_TRY(region(r));
    MRVLC_TRY(writer_.append("\n],\"displayTimeUnit\":\"ns\"}\n"));
    return writer_.commit();
  }

 private:
  Status region(const report::Region& r) {
    MRVLC_TRY(add(R"({{"ph":"M","name":"process_name","pid":{0},"args":{{"name":"region {0}"}}}})", r.id));
    for (size_t t = 0; t < r.tiles * report::kQueues; ++t)
      MRVLC_TRY(add(R"({{"ph":"M","name":"thread_name","pid":{},"tid":{},"args":{{"name":"tile {} {}"}}}})",
                    r.id, t, t / report::kQueues, report::queue_names()[t % report::kQueues]));
    for (const report::Bar& bar : r.bars) MRVLC_TRY(event(r.id, bar));
    return {};
  }

  // A copy is drawn while its bytes move: the latency after overlaps with the next one, which slices cannot.
  Status event(uint32_t region, const report::Bar& bar) {
    const bool copy = bar.queue < 2;  // DMA in, DMA out
    const uint64_t start = copy ? bar.begin : bar.start, length = (copy ? bar.moved : bar.end) - start;
    return add(
        R"({{"ph":"X","name":{},"pid":{},"tid":{},"ts":{}.{:03},"dur":{}.{:03},"args":{{"section":"{}",)"
        R"("instruction":{},"bound":"{}","waited":{},"ddr_bytes":{}}}}})",
        quoted(label_(region, bar)), region, bar.tile * report::kQueues + bar.queue, start / 1000,
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
};

}  // namespace

Status write_trace(const std::filesystem::path& file, const std::vector<report::Region>& regions,
                   const BarLabel& label) {
  MRVLC_ASSIGN(FileWriter writer, FileWriter::create(file));
  return Trace(std::move(writer), label).write(regions);
}

}  // namespace mrvlc::driver
