// LD_PRELOAD: a thread that stands still, or whose system calls fail it, where a test asks for it.
//   WINDHOVER_FAULT_THREAD=NAME  the thread, as ps shows it
//   WINDHOVER_STALL_WHILE=FILE   it does not come back from a wait while FILE is there
//   WINDHOVER_THROW_WHILE=FILE   each of its epoll_wait() throws while FILE is there
#include <dlfcn.h>
#include <poll.h>
#include <pthread.h>
#include <sys/epoll.h>
#include <time.h>
#include <unistd.h>

#include <array>
#include <cstdlib>
#include <stdexcept>
#include <string_view>

namespace {

bool meant() {
  static const char* const name = std::getenv("WINDHOVER_FAULT_THREAD");
  std::array<char, 16> own{};
  return name != nullptr && pthread_getname_np(pthread_self(), own.data(), own.size()) == 0 &&
         std::string_view(own.data()) == name;
}

bool is_there(const char* file) { return file != nullptr && access(file, F_OK) == 0; }

void stall() {
  static const char* const file = std::getenv("WINDHOVER_STALL_WHILE");
  if (file == nullptr || !meant()) return;
  while (is_there(file)) poll(nullptr, 0, 10);
}

}  // namespace

extern "C" int epoll_wait(int epoll, epoll_event* events, int most, int timeout) {
  using Function = int (*)(int, epoll_event*, int, int);
  static const auto real = reinterpret_cast<Function>(dlsym(RTLD_NEXT, "epoll_wait"));
  static const char* const file = std::getenv("WINDHOVER_THROW_WHILE");
  stall();
  if (file != nullptr && meant() && is_there(file)) throw std::runtime_error("as a test asked");
  return real(epoll, events, most, timeout);
}

// The learner's wait.
extern "C" int clock_nanosleep(clockid_t clock, int flags, const timespec* until, timespec* left) {
  using Function = int (*)(clockid_t, int, const timespec*, timespec*);
  static const auto real = reinterpret_cast<Function>(dlsym(RTLD_NEXT, "clock_nanosleep"));
  stall();
  return real(clock, flags, until, left);
}

extern "C" int nanosleep(const timespec* time, timespec* left) {
  using Function = int (*)(const timespec*, timespec*);
  static const auto real = reinterpret_cast<Function>(dlsym(RTLD_NEXT, "nanosleep"));
  stall();
  return real(time, left);
}
