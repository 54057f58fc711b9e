// Many models compiled in one go: a process each, a cache of what was compiled before, one summary.
#pragma once
#include <filesystem>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "mrvlc/driver/options.h"
#include "mrvlc/support/diag.h"
#include "mrvlc/support/json_fields.h"
#include "mrvlc/support/result.h"

namespace mrvlc::driver {

struct BatchOptions {
  CompileOptions compile;                     // for all of them; model, out and name are not used
  std::string options;                        // the same as they were typed: what results are known by
  std::vector<std::filesystem::path> models;  // files; of folders all *.onnx in and below them
  std::filesystem::path out;
  unsigned jobs = 0;               // processes at a time; 0: one for each processor
  uint32_t shard = 1, shards = 1;  // of the models every shards-th, from the shard-th on
  double timeout = 600;            // seconds of one model; 0: no limit
  int64_t memory = 0;              // bytes of one model's process; 0: no limit
  std::filesystem::path cache;     // empty: none
  bool again = false;              // failures are tried again
  // When a model is done, or was done before; may be null.
  std::function<void(const struct BatchModel& model, size_t done, size_t of)> progress;
};

// What one compile came to. Messages are diagnostics as the process that made them wrote them down.
struct BatchMessage {
  std::string code, severity, node, op_type, text;
  static void fields(auto& f, auto& m) {
    f("code", m.code)("severity", m.severity)("node", m.node)("op_type", m.op_type)("message", m.text);
  }
};
// Of the report, by name; null: not known.
using BatchTotals = json::Dictionary<std::optional<json::Number>>;
struct BatchModel {
  enum class From : uint8_t { Compile, Cache, Before } from = From::Compile;
  std::filesystem::path model;
  std::string name;    // of its folder below `out`
  int exit_code = 0;   // as `mrvlc compile`
  double seconds = 0;  // of this run
  std::vector<BatchMessage> messages;
  BatchTotals totals;  // empty of a failure
};

std::span<const std::string_view> words(BatchModel::From);

struct Batch {
  std::vector<BatchModel> models;  // of the shard, in order
  size_t all = 0, done = 0;        // models of all shards; those of them that have a result
};

// Compiles each model into `out`/NAME, and writes `out`/batch.json when all models of all shards have a
// result (docs/batch.md). A model whose files, options and compiler are those of its result is not compiled
// again. nullopt: `diagnostics` say why nothing began, or that an interrupt ended it.
std::optional<Batch> batch(const BatchOptions& options, Diagnostics& diagnostics);
// A line a model, and failures by code.
std::string batch_text(const Batch& batch);
// Of the first model that failed, or 0.
int exit_code(const Batch& batch);

struct CacheOptions {
  std::filesystem::path cache;
  std::optional<double> max_age;    // seconds since an entry was last used
  std::optional<int64_t> max_size;  // bytes of all entries: the least recently used go
  bool json = false;
};
// What a cache holds, after entries were removed as the options say. MRV0003: the folder is no cache.
Result<std::string> cache(const CacheOptions& options);

}  // namespace mrvlc::driver
