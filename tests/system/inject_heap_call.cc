// LD_PRELOAD: one heap call where a test asks for it, which shows that "no heap call" is seen to be
// broken by a single one.
//   WINDHOVER_INJECT_AFTER=FILE  in the first recv() that finds FILE there; the test makes it once
//                                the process is ready, so that no number of calls must be guessed
//   WINDHOVER_INJECT_AT_READY=1  in the write() of the line "ready", behind the line: the earliest
//                                moment at which a heap call is one too many
#include <dlfcn.h>
#include <sys/socket.h>
#include <unistd.h>

#include <atomic>
#include <cstdlib>
#include <string_view>

namespace {

std::atomic<bool> injected{false};

void inject_once() {
  if (injected.exchange(true)) return;
  void* volatile memory = std::malloc(32);
  std::free(memory);
}

}  // namespace

extern "C" ssize_t recv(int socket, void* buffer, size_t size, int flags) {
  using Function = ssize_t (*)(int, void*, size_t, int);
  static const auto real = reinterpret_cast<Function>(dlsym(RTLD_NEXT, "recv"));
  static const char* const file = std::getenv("WINDHOVER_INJECT_AFTER");
  if (file != nullptr && access(file, F_OK) == 0) inject_once();
  return real(socket, buffer, size, flags);
}

extern "C" ssize_t write(int descriptor, const void* buffer, size_t size) {
  using Function = ssize_t (*)(int, const void*, size_t);
  static const auto real = reinterpret_cast<Function>(dlsym(RTLD_NEXT, "write"));
  const ssize_t written = real(descriptor, buffer, size);
  if (std::string_view(static_cast<const char*>(buffer), size).starts_with("ready ") &&
      std::getenv("WINDHOVER_INJECT_AT_READY") != nullptr) {
    inject_once();
  }
  return written;
}
