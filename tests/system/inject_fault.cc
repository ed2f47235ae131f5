// LD_PRELOAD: a thread that stands still, or whose system calls fail it, where a test asks for it.
//   WINDHOVER_FAULT_THREAD=NAME  the thread, as ps shows it
//   WINDHOVER_STALL_WHILE=FILE   it does not come back from a wait while FILE is there
//   WINDHOVER_THROW_WHILE=FILE   each of its epoll_wait() throws while FILE is there
//   WINDHOVER_FULL_WHILE=FILE    no file becomes longer by it while FILE is there: the disk is full
//   WINDHOVER_STALL_LIST=FILE    it makes FILE.reached before it renames a file to added.toml, and
//                                does not go on while FILE is there
//   WINDHOVER_NO_SYNC_WHILE=FILE no folder with an added.toml is synced by it while FILE is there
//   WINDHOVER_STAYS_WHILE=FILE   it removes no file segment-0001 while FILE is there
#include <dlfcn.h>
#include <fcntl.h>
#include <poll.h>
#include <pthread.h>
#include <sys/epoll.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <cstdlib>
#include <stdexcept>
#include <string>
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

// Whether there is no room for so many bytes there; < 0: at the file's end.
bool is_full(int file, std::size_t bytes, off_t at) {
  static const char* const full = std::getenv("WINDHOVER_FULL_WHILE");
  struct stat facts {};
  if (full == nullptr || !meant() || fstat(file, &facts) != 0 || !S_ISREG(facts.st_mode)) {
    return false;
  }
  const off_t begin = at < 0 ? facts.st_size : at;
  return begin + static_cast<off_t>(bytes) > facts.st_size && is_there(full);
}

bool names(const char* path, std::string_view file) {
  return std::string_view(path).ends_with(file);
}

}  // namespace

extern "C" int rename(const char* from, const char* to) noexcept {
  using Function = int (*)(const char*, const char*);
  static const auto real = reinterpret_cast<Function>(dlsym(RTLD_NEXT, "rename"));
  static const char* const file = std::getenv("WINDHOVER_STALL_LIST");
  if (is_there(file) && meant() && names(to, "/added.toml")) {
    close(open((std::string(file) + ".reached").c_str(), O_WRONLY | O_CREAT | O_CLOEXEC, 0600));
    while (is_there(file)) poll(nullptr, 0, 10);
  }
  return real(from, to);
}

extern "C" int fsync(int file) {
  using Function = int (*)(int);
  static const auto real = reinterpret_cast<Function>(dlsym(RTLD_NEXT, "fsync"));
  static const char* const no = std::getenv("WINDHOVER_NO_SYNC_WHILE");
  if (is_there(no) && meant() && faccessat(file, "added.toml", F_OK, 0) == 0) {
    return errno = EIO, -1;
  }
  return real(file);
}

extern "C" int remove(const char* path) noexcept {
  using Function = int (*)(const char*);
  static const auto real = reinterpret_cast<Function>(dlsym(RTLD_NEXT, "remove"));
  static const char* const file = std::getenv("WINDHOVER_STAYS_WHILE");
  if (is_there(file) && meant() && names(path, "/segment-0001")) return errno = EPERM, -1;
  return real(path);
}

extern "C" ssize_t write(int file, const void* bytes, size_t size) {
  using Function = ssize_t (*)(int, const void*, size_t);
  static const auto real = reinterpret_cast<Function>(dlsym(RTLD_NEXT, "write"));
  if (is_full(file, size, -1)) return errno = ENOSPC, -1;
  return real(file, bytes, size);
}

extern "C" ssize_t pwrite(int file, const void* bytes, size_t size, off_t at) {
  using Function = ssize_t (*)(int, const void*, size_t, off_t);
  static const auto real = reinterpret_cast<Function>(dlsym(RTLD_NEXT, "pwrite"));
  if (is_full(file, size, at)) return errno = ENOSPC, -1;
  return real(file, bytes, size, at);
}

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
