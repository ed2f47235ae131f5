// A folder in memory that knows what is on the medium and what is not, and can be cut off.
#ifndef WINDHOVER_TESTS_IO_DURABLE_RECORDING_FOLDER_H_
#define WINDHOVER_TESTS_IO_DURABLE_RECORDING_FOLDER_H_

#include <cstdint>
#include <map>
#include <memory>
#include <mutex>
#include <random>
#include <set>
#include <string>
#include <vector>

#include "windhover/io/durable/folder.h"

namespace windhover::testing {

// Harsher than common file systems: of what was not synced, each sector stays, goes or tears on its
// own, each file's end is anywhere between, and each change of a name happens or not on its own.
// Syncing a file says nothing of its name. Any thread may call at any time.
class RecordingFolder final : public Folder {
 public:
  using Bytes = std::vector<std::byte>;

  std::int64_t open_file(const char* name, OpenFile how) noexcept override;
  void close_file(int handle) noexcept override;
  std::int64_t read_some(int handle, std::uint64_t offset,
                         std::span<std::byte> bytes) noexcept override;
  std::int64_t write_some(int handle, std::uint64_t offset,
                          std::span<const std::byte> bytes) noexcept override;
  std::int64_t sync_file(int handle) noexcept override;
  std::int64_t file_size(int handle) noexcept override;
  std::int64_t rename_file(const char* from, const char* to) noexcept override;
  std::int64_t remove_file(const char* name) noexcept override;
  std::int64_t sync_folder() noexcept override;
  std::int64_t list(NameVisitor& visitor) noexcept override;
  std::int64_t lock(const char* name) noexcept override;

  // What a sync that fails does: some of it is on the medium, the rest never will be, and the
  // system thinks that all pages are clean.
  void fail_sync(int handle, std::mt19937_64& random);

  // The power goes: all handles are void, the lock is free.
  void cut_power(std::mt19937_64& random);
  // The process dies: the same, and nothing is lost.
  void kill_process();

  // What files hold now; for damage. Writing here is as if it had always been on the medium.
  Bytes contents(const std::string& name) const;
  void set_contents(const std::string& name, const Bytes& bytes);
  bool has(const std::string& name) const;
  std::vector<std::string> names() const;
  // Calls that change or sync something, so far: where a test may cut.
  std::uint64_t changes() const;
  // Nothing that changes something happens any more once this many changes were made: EIO.
  void stop_after(std::uint64_t changes);
  // Whether a change has been refused because of that.
  bool has_stopped() const;
  std::size_t open_files() const;

 private:
  struct Inode {
    Bytes now;
    Bytes durable;
    std::set<std::uint64_t> dirty;  // sectors of `now` that `durable` may lack
  };
  using Names = std::map<std::string, std::shared_ptr<Inode>>;
  struct Change {
    std::string from;  // empty: made
    std::string to;    // empty: removed
    std::shared_ptr<Inode> inode;
  };

  static void apply(const Change& change, Names& names);
  static void keep_some(Inode& inode, std::mt19937_64& random);
  bool stopped() { return changes_++ >= stop_after_; }
  Inode* inode(int handle);

  mutable std::recursive_mutex mutex_;
  Names names_;
  Names durable_names_;
  std::vector<Change> unsynced_;
  std::vector<std::shared_ptr<Inode>> handles_;
  bool locked_ = false;
  std::uint64_t changes_ = 0;
  std::uint64_t stop_after_ = UINT64_MAX;
};

}  // namespace windhover::testing

#endif  // WINDHOVER_TESTS_IO_DURABLE_RECORDING_FOLDER_H_
