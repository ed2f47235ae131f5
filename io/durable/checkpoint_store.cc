#include "windhover/io/durable/checkpoint_store.h"

#include <algorithm>
#include <cerrno>
#include <charconv>
#include <cstring>
#include <string_view>
#include <system_error>

namespace windhover {
namespace {

constexpr std::string_view kCheckpointPrefix = "checkpoint-";
constexpr const char* kNewCheckpoint = "checkpoint.new";
constexpr std::size_t kCheckpointDigits = 12;
constexpr std::uint64_t kLastCheckpoint = 999'999'999'999;

// The number in a checkpoint's name, or 0.
std::uint64_t number_of(std::string_view name) noexcept {
  if (name.size() != kCheckpointPrefix.size() + kCheckpointDigits ||
      name.substr(0, kCheckpointPrefix.size()) != kCheckpointPrefix) {
    return 0;
  }
  std::uint64_t number = 0;
  const char* end = name.data() + name.size();
  const auto read = std::from_chars(name.data() + kCheckpointPrefix.size(), end, number);
  return read.ec == std::errc{} && read.ptr == end ? number : 0;
}

// Keeps the newest numbers, rising.
class NewestNumbers final : public NameVisitor {
 public:
  void name(const char* name) noexcept override {
    const std::uint64_t number = number_of(name);
    if (number == 0) return;
    const auto begin = numbers.begin();
    if (count == numbers.size()) {
      if (number < numbers.front()) return;
      std::copy(begin + 1, numbers.end(), begin);
      --count;
    }
    const auto end = begin + static_cast<std::ptrdiff_t>(count);
    const auto place = std::lower_bound(begin, end, number);
    std::copy_backward(place, end, end + 1);
    *place = number;
    ++count;
  }

  std::array<std::uint64_t, CheckpointStore::kMaxListed> numbers{};
  std::size_t count = 0;
};

}  // namespace

CheckpointName::CheckpointName(std::uint64_t number) noexcept : text{} {
  std::copy(kCheckpointPrefix.begin(), kCheckpointPrefix.end(), text.begin());
  for (std::size_t i = kCheckpointDigits; i > 0; --i) {
    text[kCheckpointPrefix.size() + i - 1] = static_cast<char>('0' + number % 10);
    number /= 10;
  }
}

bool is_checkpoint_file(std::string_view name) noexcept {
  return name.starts_with(kCheckpointPrefix) || name == kNewCheckpoint;
}

CheckpointStore::CheckpointStore(Folder& folder, std::span<std::byte> buffer) noexcept
    : folder_(&folder), buffer_(buffer), writer_(buffer) {}

Result<CheckpointStore> CheckpointStore::open(Folder& folder,
                                              std::span<std::byte> buffer) noexcept {
  if (buffer.size() < kMinCheckpointBuffer) {
    return Error{Status::kArenaTooSmall, "checkpoints need a buffer of 4096 bytes",
                 static_cast<double>(kMinCheckpointBuffer)};
  }
  CheckpointStore store(folder, buffer);
  const std::int64_t removed = folder.remove_file(kNewCheckpoint);
  if (removed < 0 && removed != -ENOENT) {
    return error_of(removed, "an unfinished checkpoint cannot be removed");
  }
  // The log must not let frames go because of a checkpoint whose name is not on disk yet.
  if (const std::int64_t synced = folder.sync_folder(); synced < 0) {
    return error_of(synced, "the checkpoints' folder cannot be synced");
  }
  NewestNumbers newest;
  if (const std::int64_t listed = folder.list(newest); listed < 0) {
    return error_of(listed, "the checkpoints' folder cannot be listed");
  }
  if (newest.count > 0 && newest.numbers[newest.count - 1] == kLastCheckpoint) {
    return Error{Status::kRefused,
                 "checkpoint-999999999999 leaves no number for the next one: give it a smaller one",
                 0};
  }
  for (std::size_t i = 0; i < newest.count; ++i) {
    store.entries_[i].number = newest.numbers[i];
    store.look_at(store.entries_[i]);
  }
  store.count_ = newest.count;
  if (newest.count > 0) store.next_number_ = newest.numbers[newest.count - 1] + 1;
  return store;
}

void CheckpointStore::look_at(Entry& entry) noexcept {
  const Result<CheckpointFacts> facts =
      CheckpointReader::peek(*folder_, CheckpointName(entry.number).text.data());
  if (facts.ok()) entry.facts = facts.value();
  entry.bad = facts.status() == Status::kMalformed;
  entry.why = facts.error();
}

std::uint64_t CheckpointStore::frames_needed() const noexcept {
  std::uint64_t needed = UINT64_MAX;
  for (const Entry& entry : entries()) {
    if (!entry.bad) needed = std::min(needed, entry.facts.frames);
  }
  return needed == UINT64_MAX ? 0 : needed;
}

Status CheckpointStore::fail(const Error& error) noexcept {
  error_ = error;
  return error.status;
}

Status CheckpointStore::begin(const CheckpointFacts& facts) noexcept {
  give_up();
  error_ = {Status::kOk, "", 0};
  if (const Status status = writer_.begin(*folder_, kNewCheckpoint, facts); !ok(status)) {
    return fail(error_of(-writer_.error_number(), "a checkpoint cannot be begun"));
  }
  begun_ = true;
  return Status::kOk;
}

void CheckpointStore::give_up() noexcept {
  if (!begun_) return;
  begun_ = false;
  if (const int number = writer_.error_number(); number != 0) {
    error_ = error_of(-number, "a checkpoint cannot be written");
  }
  writer_.close();
  // If it stays, the next checkpoint begins by emptying it.
  (void)folder_->remove_file(kNewCheckpoint);
}

Status CheckpointStore::finish() noexcept {
  if (!begun_) return fail({Status::kNotReady, "no checkpoint was begun", 0});
  if (const Status status = writer_.finish(); !ok(status)) {
    const Error error = error_of(-writer_.error_number(), "a checkpoint cannot be written");
    give_up();
    return fail(error);
  }
  const std::uint64_t number = next_number_++;
  const CheckpointName name(number);
  std::int64_t result = folder_->rename_file(kNewCheckpoint, name.text.data());
  if (result < 0) {
    give_up();
    return fail(error_of(result, "a checkpoint cannot be given its name"));
  }
  begun_ = false;
  result = folder_->sync_folder();
  if (result < 0) {
    // It may or may not be there after a power cut, so nothing may be let go because of it.
    (void)folder_->remove_file(name.text.data());
    return fail(error_of(result, "the checkpoints' folder cannot be synced"));
  }
  if (count_ == entries_.size()) {
    std::copy(entries_.begin() + 1, entries_.end(), entries_.begin());
    --count_;
  }
  entries_[count_].number = number;
  look_at(entries_[count_++]);
  error_ = {};
  prune();
  return Status::kOk;
}

// Removes all but the newest kKept that are not known to be bad. One that cannot be removed stays
// listed.
void CheckpointStore::prune() noexcept {
  std::size_t good = 0;
  std::size_t kept = entries_.size();
  for (std::size_t i = count_; i > 0; --i) {
    const Entry entry = entries_[i - 1];
    const bool keep = !entry.bad && good < kKept;
    if (keep) ++good;
    const std::int64_t removed =
        keep ? -EEXIST : folder_->remove_file(CheckpointName(entry.number).text.data());
    if (removed < 0 && removed != -ENOENT) entries_[--kept] = entry;
  }
  count_ = entries_.size() - kept;
  std::copy(entries_.begin() + static_cast<std::ptrdiff_t>(kept), entries_.end(), entries_.begin());
}

Result<CheckpointReader> CheckpointStore::open_one(std::uint64_t number) noexcept {
  return CheckpointReader::open(*folder_, CheckpointName(number).text.data(), buffer_);
}

Result<CheckpointReader> CheckpointStore::open_newest() noexcept {
  std::size_t passed = 0;
  for (std::size_t i = count_; i > 0; --i) {
    Entry& entry = entries_[i - 1];
    Result<CheckpointReader> reader = open_one(entry.number);
    if (reader.ok()) return reader;
    // Only damage makes it bad: a file that cannot be read now may be the newest later.
    entry.bad = reader.status() == Status::kMalformed;
    entry.why = reader.error();
    ++passed;
  }
  return Error{Status::kUnavailable, "there is no checkpoint that can be used",
               static_cast<double>(passed)};
}

}  // namespace windhover
