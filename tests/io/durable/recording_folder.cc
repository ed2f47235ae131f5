#include "windhover/tests/io/durable/recording_folder.h"

#include <algorithm>
#include <cerrno>
#include <cstring>

namespace windhover::testing {
namespace {

constexpr std::uint64_t kSector = 512;

}  // namespace

RecordingFolder::Inode* RecordingFolder::inode(int handle) {
  const auto index = static_cast<std::size_t>(handle);
  return handle >= 0 && index < handles_.size() ? handles_[index].get() : nullptr;
}

// An entry is that of one file: a change that was lost does not make a later one act on another.
void RecordingFolder::apply(const Change& change, Names& names) {
  const auto found = names.find(change.from);
  if (found != names.end() && found->second == change.inode) names.erase(found);
  if (!change.to.empty()) names[change.to] = change.inode;
}

std::int64_t RecordingFolder::open_file(const char* name, OpenFile how) noexcept {
  const std::lock_guard lock(mutex_);
  auto found = names_.find(name);
  const bool makes = how == OpenFile::kCreate || how == OpenFile::kMake;
  if (found == names_.end() && !makes) return -ENOENT;
  if (makes && stopped()) return -EIO;
  if (found == names_.end()) {
    const Change change{"", name, std::make_shared<Inode>()};
    apply(change, names_);
    unsynced_.push_back(change);
    found = names_.find(name);
  }
  if (how == OpenFile::kCreate) {
    Inode& inode = *found->second;
    inode.now.clear();
    inode.dirty.clear();
  }
  handles_.push_back(found->second);
  return static_cast<std::int64_t>(handles_.size() - 1);
}

void RecordingFolder::close_file(int handle) noexcept {
  const std::lock_guard lock(mutex_);
  if (inode(handle) != nullptr) handles_[static_cast<std::size_t>(handle)].reset();
}

std::int64_t RecordingFolder::read_some(int handle, std::uint64_t offset,
                                        std::span<std::byte> bytes) noexcept {
  const std::lock_guard lock(mutex_);
  const Inode* file = inode(handle);
  if (file == nullptr) return -EBADF;
  if (offset >= file->now.size()) return 0;
  const auto length = std::min<std::size_t>(bytes.size(), file->now.size() - offset);
  std::memcpy(bytes.data(), file->now.data() + offset, length);
  return static_cast<std::int64_t>(length);
}

std::int64_t RecordingFolder::write_some(int handle, std::uint64_t offset,
                                         std::span<const std::byte> bytes) noexcept {
  const std::lock_guard lock(mutex_);
  if (stopped()) return -EIO;
  Inode* file = inode(handle);
  if (file == nullptr) return -EBADF;
  file->now.resize(std::max<std::size_t>(file->now.size(), offset + bytes.size()));
  std::memcpy(file->now.data() + offset, bytes.data(), bytes.size());
  for (std::uint64_t s = offset / kSector; s * kSector < offset + bytes.size(); ++s) {
    file->dirty.insert(s);
  }
  return static_cast<std::int64_t>(bytes.size());
}

std::int64_t RecordingFolder::sync_file(int handle) noexcept {
  const std::lock_guard lock(mutex_);
  if (stopped()) return -EIO;
  Inode* file = inode(handle);
  if (file == nullptr) return -EBADF;
  file->durable.resize(file->now.size());
  for (const std::uint64_t s : file->dirty) {
    const std::size_t begin = s * kSector;
    if (begin >= file->now.size()) continue;
    const std::size_t length = std::min<std::size_t>(kSector, file->now.size() - begin);
    std::memcpy(file->durable.data() + begin, file->now.data() + begin, length);
  }
  file->dirty.clear();
  return 0;
}

std::int64_t RecordingFolder::file_size(int handle) noexcept {
  const std::lock_guard lock(mutex_);
  const Inode* file = inode(handle);
  return file == nullptr ? -EBADF : static_cast<std::int64_t>(file->now.size());
}

std::int64_t RecordingFolder::rename_file(const char* from, const char* to) noexcept {
  const std::lock_guard lock(mutex_);
  if (stopped()) return -EIO;
  if (!has(from)) return -ENOENT;
  unsynced_.push_back({from, to, names_[from]});
  apply(unsynced_.back(), names_);
  return 0;
}

std::int64_t RecordingFolder::remove_file(const char* name) noexcept {
  const std::lock_guard lock(mutex_);
  if (!has(name)) return -ENOENT;
  if (stopped()) return -EIO;
  unsynced_.push_back({name, "", names_[name]});
  apply(unsynced_.back(), names_);
  return 0;
}

std::int64_t RecordingFolder::sync_folder() noexcept {
  const std::lock_guard lock(mutex_);
  if (stopped()) return -EIO;
  durable_names_ = names_;
  unsynced_.clear();
  return 0;
}

std::int64_t RecordingFolder::list(NameVisitor& visitor) noexcept {
  const std::lock_guard lock(mutex_);
  for (const std::string& name : names()) visitor.name(name.c_str());
  return 0;
}

std::int64_t RecordingFolder::lock(const char* /*name*/) noexcept {
  const std::lock_guard lock(mutex_);
  if (locked_) return -EWOULDBLOCK;
  locked_ = true;
  return 0;
}

// Old and new sectors, and torn ones of both; a length between the two.
void RecordingFolder::keep_some(Inode& inode, std::mt19937_64& random) {
  const std::size_t shortest = std::min(inode.durable.size(), inode.now.size());
  const std::size_t longest = std::max(inode.durable.size(), inode.now.size());
  std::size_t length = inode.now.size();
  if (longest > shortest) {
    const std::uint64_t choice = random() % 3;
    if (choice == 0) length = inode.durable.size();
    if (choice == 1) length = shortest + random() % (longest - shortest);
  }
  inode.durable.resize(length);
  for (const std::uint64_t s : inode.dirty) {
    const std::size_t begin = s * kSector;
    const std::size_t end = std::min({begin + kSector, inode.now.size(), length});
    if (begin >= end) continue;
    std::size_t from = begin;
    std::size_t to = end;
    switch (random() % 4) {
      case 0:
        to = begin;
        break;
      case 1:
        to = begin + random() % (end - begin);
        break;
      case 2:
        from = begin + random() % (end - begin);
        break;
      default:
        break;
    }
    std::copy(inode.now.begin() + static_cast<std::ptrdiff_t>(from),
              inode.now.begin() + static_cast<std::ptrdiff_t>(to),
              inode.durable.begin() + static_cast<std::ptrdiff_t>(from));
  }
  inode.dirty.clear();
}

void RecordingFolder::fail_sync(int handle, std::mt19937_64& random) {
  const std::lock_guard lock(mutex_);
  ++changes_;
  if (Inode* file = inode(handle)) {
    keep_some(*file, random);
    file->durable.resize(file->now.size());
  }
}

void RecordingFolder::kill_process() {
  const std::lock_guard lock(mutex_);
  handles_.clear();
  locked_ = false;
  stop_after_ = UINT64_MAX;
}

void RecordingFolder::cut_power(std::mt19937_64& random) {
  const std::lock_guard lock(mutex_);
  kill_process();
  std::set<Inode*> inodes;
  for (const auto& [name, inode] : names_) inodes.insert(inode.get());
  for (const auto& [name, inode] : durable_names_) inodes.insert(inode.get());
  for (const Change& change : unsynced_) {
    inodes.insert(change.inode.get());
  }
  for (Inode* inode : inodes) {
    keep_some(*inode, random);
    inode->now = inode->durable;
  }
  // Half of the time in order up to a point, as a journal does, half of the time any of them.
  const bool journal = random() % 2 == 0;
  const std::size_t kept = unsynced_.empty() ? 0 : random() % (unsynced_.size() + 1);
  for (std::size_t i = 0; i < unsynced_.size(); ++i) {
    if (journal ? i < kept : random() % 2 == 0) apply(unsynced_[i], durable_names_);
  }
  unsynced_.clear();
  names_ = durable_names_;
}

RecordingFolder::Bytes RecordingFolder::contents(const std::string& name) const {
  const std::lock_guard lock(mutex_);
  const auto found = names_.find(name);
  return found == names_.end() ? Bytes() : found->second->now;
}

void RecordingFolder::set_contents(const std::string& name, const Bytes& bytes) {
  const std::lock_guard lock(mutex_);
  auto inode = std::make_shared<Inode>();
  inode->now = bytes;
  inode->durable = bytes;
  names_[name] = inode;
  durable_names_[name] = inode;
}

bool RecordingFolder::has(const std::string& name) const {
  const std::lock_guard lock(mutex_);
  return names_.count(name) > 0;
}

std::uint64_t RecordingFolder::changes() const {
  const std::lock_guard lock(mutex_);
  return changes_;
}

void RecordingFolder::stop_after(std::uint64_t changes) {
  const std::lock_guard lock(mutex_);
  stop_after_ = changes;
}

bool RecordingFolder::has_stopped() const {
  const std::lock_guard lock(mutex_);
  return changes_ > stop_after_;
}

std::vector<std::string> RecordingFolder::names() const {
  const std::lock_guard lock(mutex_);
  std::vector<std::string> all;
  for (const auto& [name, inode] : names_) all.push_back(name);
  return all;
}

std::size_t RecordingFolder::open_files() const {
  const std::lock_guard lock(mutex_);
  return static_cast<std::size_t>(
      std::count_if(handles_.begin(), handles_.end(), [](const auto& h) { return h != nullptr; }));
}

}  // namespace windhover::testing
