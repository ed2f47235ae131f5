#include "windhover/tools/kept/kept_folder.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <filesystem>
#include <string_view>

#include "windhover/io/durable/error_text.h"
#include "windhover/io/durable/log_format.h"
#include "windhover/tools/error.h"

namespace windhover {
namespace {

constexpr std::string_view kPrefix = "checkpoint-";
constexpr std::size_t kDigits = 12;
constexpr std::size_t kBufferBytes = 1 << 20;

class Names final : public NameVisitor {
 public:
  void name(const char* name) noexcept override {
    const std::string_view text = name;
    identity |= text == "identity";
    segments |= text.starts_with("segment-");
    if (text.size() != kPrefix.size() + kDigits || !text.starts_with(kPrefix)) return;
    std::uint64_t number = 0;
    for (const char digit : text.substr(kPrefix.size())) {
      if (digit < '0' || digit > '9') return;
      number = 10 * number + static_cast<std::uint64_t>(digit - '0');
    }
    if (number > 0) checkpoints.push_back(number);
  }

  bool identity = false;
  bool segments = false;
  std::vector<std::uint64_t> checkpoints;
};

PosixFolder open_folder(const std::string& path) {
  Result<PosixFolder> folder = PosixFolder::open(path.c_str(), false);
  if (folder.ok()) return std::move(folder).value();
  const int reason = static_cast<int>(folder.error().number);
  const std::string text = fmt::format("{}: {}", path, std::strerror(reason));
  if (reason == ENOENT || reason == ENOTDIR) throw UserError(text + "; give a data folder");
  throw RunError(text);
}

Names names_in(PosixFolder& folder, const std::string& path) {
  Names names;
  if (const std::int64_t listed = folder.list(names); listed < 0) {
    throw RunError(
        fmt::format("{} cannot be listed: {}", path, std::strerror(static_cast<int>(-listed))));
  }
  return names;
}

bool holds_history(const Names& names) { return names.identity || !names.checkpoints.empty(); }

// The folders of models in the data folder of a daemon that serves several, for a sentence.
std::string models_in(const std::string& path) {
  constexpr std::size_t kShown = 5;
  std::vector<std::string> found;
  std::error_code ignored;
  for (const auto& entry : std::filesystem::directory_iterator(path, ignored)) {
    const std::string model = entry.path().string();
    if (entry.path().filename().string().starts_with('.')) continue;
    Result<PosixFolder> folder = PosixFolder::open(model.c_str(), false);
    Names names;
    if (folder.ok() && folder.value().list(names) >= 0 && holds_history(names)) {
      found.push_back(model);
    }
  }
  std::ranges::sort(found);
  if (found.size() <= kShown) return fmt::format("{}", fmt::join(found, ", "));
  const std::size_t others = found.size() - kShown;
  found.resize(kShown);
  return fmt::format("{} or one of {} others", fmt::join(found, ", "), others);
}

}  // namespace

KeptFolder::KeptFolder(const std::string& path)
    : path_(path), folder_(open_folder(path)), buffer_(kBufferBytes) {
  const Names names = names_in(folder_, path_);
  if (holds_history(names)) return;
  if (const std::string models = models_in(path_); !models.empty()) {
    throw UserError(fmt::format("{} holds the folders of a daemon's models: give one of them, {}",
                                path_, models));
  }
  throw UserError(fmt::format(
      "{} is no data folder of windhoverd: it holds neither a log nor checkpoints", path_));
}

std::vector<std::uint64_t> KeptFolder::checkpoints() {
  std::vector<std::uint64_t> numbers = names_in(folder_, path_).checkpoints;
  std::sort(numbers.begin(), numbers.end());
  return numbers;
}

std::string KeptFolder::checkpoint_name(std::uint64_t number) {
  return fmt::format("{}{:0{}}", kPrefix, number, kDigits);
}

Result<CheckpointFacts> KeptFolder::peek(std::uint64_t number) {
  return CheckpointReader::peek(folder_, checkpoint_name(number).c_str());
}

Result<CheckpointReader> KeptFolder::open(std::uint64_t number) {
  return CheckpointReader::open(folder_, checkpoint_name(number).c_str(), buffer_);
}

Result<CheckpointReader> KeptFolder::open_unverified(std::uint64_t number) {
  return CheckpointReader::open_unverified(folder_, checkpoint_name(number).c_str(), buffer_);
}

std::optional<LogIdentity> KeptFolder::log_identity(std::vector<std::string>* remarks) {
  const Result<LogIdentity> identity = read_log_identity(folder_);
  if (identity.ok()) {
    demand_segments(identity.value());
    return identity.value();
  }
  if (identity.status() == Status::kUnavailable) {
    if (remarks != nullptr && names_in(folder_, path_).segments) {
      remarks->emplace_back(
          "the identity of the log is missing, without which its segments cannot be read: the rows "
          "that they may hold after the checkpoint were left out");
    }
    return std::nullopt;
  }
  throw RunError(sentence("the log cannot be read", identity.error()));
}

void KeptFolder::demand_segments(const LogIdentity& identity) {
  for (std::size_t i = 0; i < identity.options.segments(); ++i) {
    const SegmentName name(i);
    const Result<File> file =
        File::open(folder_, name.text.data(), OpenFile::kRead, "it cannot be opened");
    if (!file.ok()) {
      throw RunError(fmt::format("{}/{}, a part of the log: {}", path_, name.text.data(),
                                 std::strerror(errno_of(file.error()))));
    }
  }
}

std::string KeptFolder::sentence(const std::string& what, const Error& error) const {
  return fmt::format("{}: {}: {}", path_, what, error_text(error));
}

}  // namespace windhover
