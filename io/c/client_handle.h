// The handle of a client for C, and where exceptions end.
#ifndef WINDHOVER_IO_C_CLIENT_HANDLE_H_
#define WINDHOVER_IO_C_CLIENT_HANDLE_H_

#include <array>
#include <new>
#include <string_view>

#include "windhover/io/c/border.h"
#include "windhover/io/c/client.h"
#include "windhover/io/client.h"

// Invariant: `error` is the sentence of the last call that failed, cut if it is too long. It is a
// copy, because the client's own sentence may change with any later call.
struct windhover_client {
  windhover::Client client;
  std::array<char, 1024> error{};
};

namespace windhover {

inline windhover_status fail(windhover_client* c, windhover_status status,
                             std::string_view sentence) noexcept {
  c->error.fill('\0');
  sentence.copy(c->error.data(), c->error.size() - 1);
  return status;
}

inline windhover_status fail(windhover_client* c, windhover_status status) noexcept {
  return fail(c, status, windhover_status_text(status));
}

// Runs `work`, which returns the Status of the client's last call.
template <class Work>
windhover_status guarded(windhover_client* c, Work&& work) noexcept {
  try {
    const Status status = work();
    return ok(status) ? WINDHOVER_OK : fail(c, to_c(status), c->client.error_text());
  } catch (const std::bad_alloc&) {
    return fail(c, WINDHOVER_NO_MEMORY);
  } catch (...) {
    return fail(c, WINDHOVER_UNEXPECTED);
  }
}

}  // namespace windhover

#endif  // WINDHOVER_IO_C_CLIENT_HANDLE_H_
