#include "windhover/platform/thread.h"

#include <limits.h>
#include <sched.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include <cstring>

#include "windhover/platform/cpu.h"

namespace windhover {
namespace {

// First come pause instructions, for work that is just being published; then yields, for a producer
// that shares our processor; then short sleeps. A wake-up costs 10 to 50 us of processor time on a
// virtual machine, which is 1 to 5 % at one a millisecond: so sleeps grow after 0.1 s without work.
constexpr int kYields = 8;
constexpr int kShortParks = 100;
constexpr timespec kShortPark{0, 1'000'000};
constexpr timespec kLongPark{0, 4'000'000};

// The layout that the two system calls expect, in its first version of 48 bytes: glibc 2.36
// declares neither the calls nor the structure.
struct SchedulingAttributes {
  std::uint32_t size = sizeof(SchedulingAttributes);
  std::uint32_t policy = 0;
  std::uint64_t flags = 0;
  std::int32_t nice = 0;
  std::uint32_t priority = 0;
  std::uint64_t runtime = 0;  // nanoseconds: the slice of an ordinary thread
  std::uint64_t deadline = 0;
  std::uint64_t period = 0;
};
static_assert(sizeof(SchedulingAttributes) == 48);

void set_slice(std::chrono::nanoseconds slice) noexcept {
  SchedulingAttributes attributes;
  if (syscall(SYS_sched_getattr, 0, &attributes, sizeof(attributes), 0U) != 0) return;
  if (attributes.policy != SCHED_OTHER && attributes.policy != SCHED_BATCH) return;
  attributes.runtime = static_cast<std::uint64_t>(slice.count());
  (void)syscall(SYS_sched_setattr, 0, &attributes, 0U);
}

}  // namespace

std::uint32_t configure_this_thread(const ThreadOptions& options) noexcept {
  std::uint32_t warnings = 0;
  const pthread_t self = pthread_self();

  if (options.name != nullptr) {
    char name[16] = {};
    std::strncpy(name, options.name, sizeof(name) - 1);
    if (pthread_setname_np(self, name) != 0) warnings |= kThreadNotNamed;
  }

  if (options.cpu >= 0) {
    cpu_set_t cpus;
    CPU_ZERO(&cpus);
    const bool representable = options.cpu < CPU_SETSIZE;
    if (representable) CPU_SET(static_cast<std::size_t>(options.cpu), &cpus);
    if (!representable || pthread_setaffinity_np(self, sizeof(cpus), &cpus) != 0) {
      warnings |= kThreadNotPinned;
    }
  }

  if (options.fifo_priority > 0) {
    sched_param priority{};
    priority.sched_priority = options.fifo_priority;
    if (pthread_setschedparam(self, SCHED_FIFO, &priority) != 0) warnings |= kThreadNotPrioritised;
  } else if (options.slice.count() > 0) {
    set_slice(options.slice);
  }
  return warnings;
}

Thread::~Thread() { join(); }

Status Thread::start(const ThreadOptions& options, void (*entry)(void*), void* argument) noexcept {
  if (started_ || entry == nullptr) return Status::kInvalidArgument;
  const auto page = static_cast<std::size_t>(sysconf(_SC_PAGESIZE));
  if (options.stack_bytes < static_cast<std::size_t>(PTHREAD_STACK_MIN) ||
      options.stack_bytes > SIZE_MAX - page) {
    return Status::kInvalidArgument;
  }
  options_ = options;
  entry_ = entry;
  argument_ = argument;
  warnings_ = 0;
  configured_.store(false, std::memory_order_relaxed);

  pthread_attr_t attributes;
  if (pthread_attr_init(&attributes) != 0) return Status::kUnavailable;
  const std::size_t stack_bytes = (options.stack_bytes + page - 1) / page * page;
  int failure = pthread_attr_setstacksize(&attributes, stack_bytes);
  if (failure == 0) failure = pthread_create(&handle_, &attributes, &Thread::run, this);
  pthread_attr_destroy(&attributes);
  if (failure != 0) return Status::kUnavailable;

  started_ = true;
  configured_.wait(false, std::memory_order_acquire);
  return Status::kOk;
}

void Thread::join() noexcept {
  if (!started_) return;
  pthread_join(handle_, nullptr);
  started_ = false;
}

// The new thread configures itself, so that the entry's first instruction already runs in the right
// place.
void* Thread::run(void* self) {
  auto& thread = *static_cast<Thread*>(self);
  thread.warnings_ = configure_this_thread(thread.options_);
  thread.configured_.store(true, std::memory_order_release);
  thread.configured_.notify_one();
  thread.entry_(thread.argument_);
  return nullptr;
}

void IdleStrategy::idle(int work_done) noexcept {
  if (work_done > 0) {
    idle_turns_ = 0;
    return;
  }
  if (kind_ == kSpin) {
    pause_processor();
    return;
  }
  const int first_long_park = pauses_ + kYields + kShortParks;
  if (idle_turns_ == first_long_park) {
    clock_nanosleep(CLOCK_MONOTONIC, 0, &kLongPark, nullptr);
    return;
  }
  if (idle_turns_ < pauses_) {
    pause_processor();
  } else if (idle_turns_ < pauses_ + kYields) {
    sched_yield();
  } else {
    clock_nanosleep(CLOCK_MONOTONIC, 0, &kShortPark, nullptr);
  }
  ++idle_turns_;
}

}  // namespace windhover
