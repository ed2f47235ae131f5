// LD_PRELOAD: one heap call in the hundredth recv() of the process. It shows that the test of "no
// heap call" sees a single one.
#include <dlfcn.h>
#include <sys/socket.h>

#include <atomic>
#include <cstdlib>

extern "C" ssize_t recv(int socket, void* buffer, size_t size, int flags) {
  using Function = ssize_t (*)(int, void*, size_t, int);
  static const auto real = reinterpret_cast<Function>(dlsym(RTLD_NEXT, "recv"));
  static std::atomic<int> calls{0};
  if (calls.fetch_add(1) == 100) {
    void* volatile memory = std::malloc(32);
    std::free(memory);
  }
  return real(socket, buffer, size, flags);
}
