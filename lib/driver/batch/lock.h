// One batch at a time writes a model's result: a lock in the folder of results, which ends with the process.
#pragma once
#include "mrvlc/driver/batch.h"

namespace mrvlc::driver {

class BatchLock {
 public:
  // Of the whole folder, or of a shard. MRV1081: another batch has it.
  static Result<BatchLock> take(const BatchOptions& options);
  BatchLock(BatchLock&& other) noexcept;
  BatchLock& operator=(BatchLock&&) = delete;
  ~BatchLock();

 private:
  BatchLock() = default;
  Status add(const std::filesystem::path& file, int how, const BatchOptions& options);

  std::vector<int> files_;
};

}  // namespace mrvlc::driver
