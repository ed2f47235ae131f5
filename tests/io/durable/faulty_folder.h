#ifndef WINDHOVER_TESTS_IO_DURABLE_FAULTY_FOLDER_H_
#define WINDHOVER_TESTS_IO_DURABLE_FAULTY_FOLDER_H_

#include <array>
#include <cerrno>
#include <condition_variable>
#include <cstdint>
#include <map>
#include <mutex>
#include <random>
#include <string>

#include "windhover/tests/io/durable/recording_folder.h"

namespace windhover::testing {

enum class Call : std::uint8_t {
  kOpen,
  kRead,
  kWrite,
  kSync,
  kSize,
  kRename,
  kRemove,
  kSyncFolder,
  kList,
  kLock,
  kCount
};

// Another folder whose calls fail, or wait, when told to. fault() and calls() while no other thread
// calls; the rest at any time.
class FaultyFolder final : public Folder {
 public:
  struct Fault {
    std::uint64_t from = UINT64_MAX;  // the first call that fails, counted from 0
    std::uint64_t times = 1;
    int error = EIO;
    bool halves = false;  // reading and writing: half of it is done, then as if all were well
  };

  explicit FaultyFolder(RecordingFolder& folder) : folder_(folder) { hold_from_.fill(UINT64_MAX); }

  Fault& fault(Call call) { return faults_[static_cast<std::size_t>(call)]; }
  // Calls so far.
  std::uint64_t& calls(Call call) { return calls_[static_cast<std::size_t>(call)]; }
  // From now on the n-th call of a kind fails.
  void fail(Call call, std::uint64_t n, int error, std::uint64_t times = 1, bool halves = false) {
    const std::lock_guard lock(mutex_);
    fault(call) = {calls(call) + n, times, error, halves};
  }
  // Only calls on files whose name begins so fail and wait; by default all, the folder's too.
  void only(const std::string& prefix) {
    const std::lock_guard lock(mutex_);
    only_ = prefix;
  }
  // From the n-th call of a kind from now on they wait until release() or heal().
  void hold(Call call, std::uint64_t n = 0) {
    const std::lock_guard lock(mutex_);
    hold_from_[static_cast<std::size_t>(call)] = calls(call) + n;
  }
  // How many wait, and how many have failed since the beginning.
  std::uint64_t waiting() const {
    const std::lock_guard lock(mutex_);
    return waiting_;
  }
  std::uint64_t failed() const {
    const std::lock_guard lock(mutex_);
    return failed_;
  }
  // Nothing waits any more; what fails goes on failing.
  void release() {
    {
      const std::lock_guard lock(mutex_);
      hold_from_.fill(UINT64_MAX);
    }
    released_.notify_all();
  }
  void heal() {
    {
      const std::lock_guard lock(mutex_);
      faults_.fill({});
      only_.clear();
      hold_from_.fill(UINT64_MAX);
    }
    released_.notify_all();
  }

  std::int64_t open_file(const char* name, OpenFile how) noexcept override {
    if (const int e = next(Call::kOpen, name).error) return -e;
    const std::int64_t handle = folder_.open_file(name, how);
    const std::lock_guard lock(mutex_);
    if (handle >= 0) names_[static_cast<int>(handle)] = name;
    return handle;
  }
  void close_file(int handle) noexcept override { folder_.close_file(handle); }
  std::int64_t read_some(int handle, std::uint64_t offset,
                         std::span<std::byte> bytes) noexcept override {
    if (const Now now = next(Call::kRead, handle); now.error != 0) {
      if (!now.halves) return -now.error;
      bytes = bytes.first((bytes.size() + 1) / 2);
    }
    return folder_.read_some(handle, offset, bytes);
  }
  std::int64_t write_some(int handle, std::uint64_t offset,
                          std::span<const std::byte> bytes) noexcept override {
    if (const Now now = next(Call::kWrite, handle); now.error != 0) {
      const std::int64_t half =
          folder_.write_some(handle, offset, bytes.first((bytes.size() + 1) / 2));
      return now.halves ? half : -now.error;
    }
    return folder_.write_some(handle, offset, bytes);
  }
  std::int64_t sync_file(int handle) noexcept override {
    if (const int e = next(Call::kSync, handle).error) {
      const std::lock_guard lock(mutex_);
      folder_.fail_sync(handle, random_);
      return -e;
    }
    return folder_.sync_file(handle);
  }
  std::int64_t file_size(int handle) noexcept override {
    if (const int e = next(Call::kSize, handle).error) return -e;
    return folder_.file_size(handle);
  }
  std::int64_t rename_file(const char* from, const char* to) noexcept override {
    if (const int e = next(Call::kRename, from).error) return -e;
    return folder_.rename_file(from, to);
  }
  std::int64_t remove_file(const char* name) noexcept override {
    if (const int e = next(Call::kRemove, name).error) return -e;
    return folder_.remove_file(name);
  }
  std::int64_t sync_folder() noexcept override {
    if (const int e = next(Call::kSyncFolder, "").error) return -e;
    return folder_.sync_folder();
  }
  std::int64_t list(NameVisitor& visitor) noexcept override {
    if (const int e = next(Call::kList, "").error) return -e;
    return folder_.list(visitor);
  }
  std::int64_t lock(const char* name) noexcept override {
    if (const int e = next(Call::kLock, name).error) return -e;
    return folder_.lock(name);
  }

 private:
  struct Now {
    int error = 0;  // 0: nothing happens
    bool halves = false;
  };

  Now next(Call call, int handle) {
    std::unique_lock lock(mutex_);
    return next(call, names_[handle], lock);
  }
  Now next(Call call, const char* name) {
    std::unique_lock lock(mutex_);
    return next(call, std::string(name), lock);
  }
  // What happens to this call; waits as long as it is to wait.
  Now next(Call call, const std::string& name, std::unique_lock<std::mutex>& lock) {
    const auto meant = [&] { return name.compare(0, only_.size(), only_) == 0; };
    const auto waits = [&] {
      return meant() && calls(call) >= hold_from_[static_cast<std::size_t>(call)];
    };
    ++waiting_;
    released_.wait(lock, [&] { return !waits(); });
    --waiting_;
    if (!meant()) return {};
    const std::uint64_t n = calls(call)++;
    const Fault& f = fault(call);
    if (n < f.from || n - f.from >= f.times) return {};
    ++failed_;
    return {f.error, f.halves};
  }

  static constexpr auto kCalls = static_cast<std::size_t>(Call::kCount);

  RecordingFolder& folder_;
  mutable std::mutex mutex_;
  std::condition_variable released_;
  std::string only_;
  std::map<int, std::string> names_;  // by handle
  std::uint64_t waiting_ = 0;
  std::uint64_t failed_ = 0;
  std::array<Fault, kCalls> faults_;
  std::array<std::uint64_t, kCalls> hold_from_;
  std::array<std::uint64_t, kCalls> calls_{};
  std::mt19937_64 random_{7};
};

}  // namespace windhover::testing

#endif  // WINDHOVER_TESTS_IO_DURABLE_FAULTY_FOLDER_H_
