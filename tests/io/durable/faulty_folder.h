#ifndef WINDHOVER_TESTS_IO_DURABLE_FAULTY_FOLDER_H_
#define WINDHOVER_TESTS_IO_DURABLE_FAULTY_FOLDER_H_

#include <array>
#include <cerrno>
#include <cstdint>
#include <random>

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

// Another folder whose calls fail when told to.
class FaultyFolder final : public Folder {
 public:
  struct Fault {
    std::uint64_t from = UINT64_MAX;  // the first call that fails, counted from 0
    std::uint64_t times = 1;
    int error = EIO;
    bool halves = false;  // reading and writing: half of it is done, then as if all were well
  };

  explicit FaultyFolder(RecordingFolder& folder) : folder_(folder) {}

  Fault& fault(Call call) { return faults_[static_cast<std::size_t>(call)]; }
  // Calls so far.
  std::uint64_t& calls(Call call) { return calls_[static_cast<std::size_t>(call)]; }
  // From now on the n-th call of a kind fails.
  void fail(Call call, std::uint64_t n, int error, std::uint64_t times = 1) {
    fault(call) = {calls(call) + n, times, error, false};
  }
  void heal() { faults_.fill({}); }

  std::int64_t open_file(const char* name, OpenFile how) noexcept override {
    if (const int e = next(Call::kOpen)) return -e;
    return folder_.open_file(name, how);
  }
  void close_file(int handle) noexcept override { folder_.close_file(handle); }
  std::int64_t read_some(int handle, std::uint64_t offset,
                         std::span<std::byte> bytes) noexcept override {
    if (const int e = next(Call::kRead)) {
      if (!fault(Call::kRead).halves) return -e;
      bytes = bytes.first((bytes.size() + 1) / 2);
    }
    return folder_.read_some(handle, offset, bytes);
  }
  std::int64_t write_some(int handle, std::uint64_t offset,
                          std::span<const std::byte> bytes) noexcept override {
    if (const int e = next(Call::kWrite)) {
      const std::int64_t half =
          folder_.write_some(handle, offset, bytes.first((bytes.size() + 1) / 2));
      return fault(Call::kWrite).halves ? half : -e;
    }
    return folder_.write_some(handle, offset, bytes);
  }
  std::int64_t sync_file(int handle) noexcept override {
    if (const int e = next(Call::kSync)) {
      folder_.fail_sync(handle, random_);
      return -e;
    }
    return folder_.sync_file(handle);
  }
  std::int64_t file_size(int handle) noexcept override {
    if (const int e = next(Call::kSize)) return -e;
    return folder_.file_size(handle);
  }
  std::int64_t rename_file(const char* from, const char* to) noexcept override {
    if (const int e = next(Call::kRename)) return -e;
    return folder_.rename_file(from, to);
  }
  std::int64_t remove_file(const char* name) noexcept override {
    if (const int e = next(Call::kRemove)) return -e;
    return folder_.remove_file(name);
  }
  std::int64_t sync_folder() noexcept override {
    if (const int e = next(Call::kSyncFolder)) return -e;
    return folder_.sync_folder();
  }
  std::int64_t list(NameVisitor& visitor) noexcept override {
    if (const int e = next(Call::kList)) return -e;
    return folder_.list(visitor);
  }
  std::int64_t lock(const char* name) noexcept override {
    if (const int e = next(Call::kLock)) return -e;
    return folder_.lock(name);
  }

 private:
  // 0, or what this call fails with.
  int next(Call call) {
    const std::uint64_t n = calls(call)++;
    const Fault& f = fault(call);
    return n >= f.from && n - f.from < f.times ? f.error : 0;
  }

  static constexpr auto kCalls = static_cast<std::size_t>(Call::kCount);

  RecordingFolder& folder_;
  std::array<Fault, kCalls> faults_;
  std::array<std::uint64_t, kCalls> calls_{};
  std::mt19937_64 random_{7};
};

}  // namespace windhover::testing

#endif  // WINDHOVER_TESTS_IO_DURABLE_FAULTY_FOLDER_H_
