#include "windhover/tools/daemon/daemon_log.h"

#include <fcntl.h>
#include <poll.h>
#include <spdlog/async_logger.h>
#include <spdlog/details/thread_pool.h>
#include <spdlog/sinks/sink.h>
#include <unistd.h>

#include <array>
#include <atomic>
#include <cerrno>
#include <chrono>
#include <cstring>
#include <thread>
#include <utility>

#include "windhover/tools/error.h"

namespace windhover {
namespace {

using std::chrono::milliseconds;
constexpr milliseconds kWriterPatience{100};
constexpr milliseconds kDrainAtMost{1000};

spdlog::level::level_enum spdlog_level(LogLevel level) noexcept {
  switch (level) {
    case LogLevel::kDebug:
      return spdlog::level::debug;
    case LogLevel::kInfo:
      return spdlog::level::info;
    case LogLevel::kWarning:
      return spdlog::level::warn;
    case LogLevel::kError:
      return spdlog::level::err;
    case LogLevel::kOff:
      break;
  }
  return spdlog::level::off;
}

LogLevel level_of(spdlog::level::level_enum level) noexcept {
  switch (level) {
    case spdlog::level::debug:
      return LogLevel::kDebug;
    case spdlog::level::info:
      return LogLevel::kInfo;
    case spdlog::level::warn:
      return LogLevel::kWarning;
    default:
      return LogLevel::kError;
  }
}

int open_for_appending(const std::string& path) noexcept {
  return ::open(path.c_str(), O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC | O_NONBLOCK, 0640);
}

}  // namespace

// Used instead of spdlog's own sinks, which format into memory that grows and write through stdio.
class DescriptorSink final : public spdlog::sinks::sink {
 public:
  DescriptorSink(LogFormat format, int descriptor) : format_(format), descriptor_(descriptor) {}

  // On the log's thread.
  void log(const spdlog::details::log_msg& message) override {
    std::array<char, kStampedLine> line;
    const std::string_view payload(message.payload.data(), message.payload.size());
    if (!write(stamp(format_, message.time, to_string(level_of(message.level)), payload, line))) {
      lost_.fetch_add(1, std::memory_order_relaxed);
    }
    taken_.fetch_add(1, std::memory_order_release);
  }
  void flush() override {}
  void set_pattern(const std::string&) override {}
  void set_formatter(std::unique_ptr<spdlog::formatter>) override {}

  std::uint64_t lost() const noexcept { return lost_.load(std::memory_order_relaxed); }
  std::uint64_t taken() const noexcept { return taken_.load(std::memory_order_acquire); }

 private:
  // A pipe or terminal that poll() calls writable takes a whole line. Standard error must not
  // become non-blocking: other processes share it.
  bool write(std::string_view line) noexcept {
    while (!line.empty()) {
      pollfd ready{descriptor_, POLLOUT, 0};
      const int found = ::poll(&ready, 1, stuck_ ? 0 : static_cast<int>(kWriterPatience.count()));
      if (found < 0 && errno == EINTR) continue;
      const ssize_t written = found > 0 ? ::write(descriptor_, line.data(), line.size()) : -1;
      if (written < 0 && found > 0 && errno == EINTR) continue;
      stuck_ = written < 0;
      if (stuck_) return false;
      line.remove_prefix(static_cast<std::size_t>(written));
    }
    return true;
  }

  const LogFormat format_;
  const int descriptor_;
  bool stuck_ = false;
  std::atomic<std::uint64_t> lost_{0};
  std::atomic<std::uint64_t> taken_{0};
};

struct DaemonLog::Impl {
  explicit Impl(DaemonLogOptions from) : options(std::move(from)) {}
  ~Impl() {
    pool.reset();  // ends its thread once the queue is empty
    if (!options.file.empty()) ::close(descriptor);
  }

  DaemonLogOptions options;
  int descriptor = STDERR_FILENO;
  std::shared_ptr<DescriptorSink> sink;
  std::shared_ptr<spdlog::details::thread_pool> pool;
  std::shared_ptr<spdlog::async_logger> logger;
  std::atomic<std::uint64_t> posted{0};
};

DaemonLog::DaemonLog(const DaemonLogOptions& options) : impl_(std::make_unique<Impl>(options)) {
  if (!options.file.empty()) {
    const int opened = open_for_appending(options.file);
    if (opened < 0) {
      impl_->options.file.clear();
      throw RunError(fmt::format("process.log_file {} cannot be opened: {}", options.file,
                                 std::strerror(errno)));
    }
    impl_->descriptor = opened;
  }
  impl_->sink = std::make_shared<DescriptorSink>(options.format, impl_->descriptor);
  impl_->pool = std::make_shared<spdlog::details::thread_pool>(
      kQueued, 1, [] { pthread_setname_np(pthread_self(), "wh-messages"); });
  // No name: it would take room in the queue.
  impl_->logger = std::make_shared<spdlog::async_logger>(
      "", impl_->sink, impl_->pool, spdlog::async_overflow_policy::overrun_oldest);
  impl_->logger->set_level(spdlog_level(options.level));
}

DaemonLog::~DaemonLog() = default;

LogLine DaemonLog::line(LogLevel level, std::string_view event) const noexcept {
  return {impl_->options.format, level, event};
}

void DaemonLog::write(const LogLine& line) noexcept {
  if (line.level() < impl_->options.level) return;
  impl_->posted.fetch_add(1, std::memory_order_relaxed);
  const std::string_view view = line.view();
  impl_->logger->log(spdlog_level(line.level()), spdlog::string_view_t(view.data(), view.size()));
}

int DaemonLog::reopen() noexcept {
  if (impl_->options.file.empty()) return 0;
  const int opened = open_for_appending(impl_->options.file);
  if (opened < 0) return errno;
  // dup3() replaces the file in one step: the log's thread may be writing.
  const int replaced = ::dup3(opened, impl_->descriptor, O_CLOEXEC);
  const int why = replaced < 0 ? errno : 0;
  ::close(opened);
  return why;
}

std::uint64_t DaemonLog::dropped() const noexcept {
  return impl_->pool->overrun_counter() + impl_->sink->lost();
}

void DaemonLog::drain() noexcept {
  const auto deadline = std::chrono::steady_clock::now() + kDrainAtMost;
  const std::uint64_t posted = impl_->posted.load(std::memory_order_relaxed);
  while (impl_->sink->taken() + impl_->pool->overrun_counter() < posted &&
         std::chrono::steady_clock::now() < deadline) {
    std::this_thread::sleep_for(milliseconds(1));
  }
}

std::vector<DaemonOption> log_options(DaemonLogOptions& options) {
  return {
      choice("process.log_format", "of the log's lines", options.format,
             Choices<LogFormat>{{"text", LogFormat::kText}, {"json", LogFormat::kJson}}),
      choice("process.log_level", "the least that is logged", options.level,
             Choices<LogLevel>{{"debug", LogLevel::kDebug},
                               {"info", LogLevel::kInfo},
                               {"warning", LogLevel::kWarning},
                               {"error", LogLevel::kError},
                               {"off", LogLevel::kOff}}),
      text("process.log_file", "opened anew on SIGHUP; empty: standard error", options.file),
  };
}

}  // namespace windhover
