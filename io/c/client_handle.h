// What the handle of C holds of a client, and how exceptions end here.
#ifndef WINDHOVER_IO_C_CLIENT_HANDLE_H_
#define WINDHOVER_IO_C_CLIENT_HANDLE_H_

#include <new>

#include "windhover/io/c/border.h"
#include "windhover/io/c/client.h"
#include "windhover/io/client.h"

// Invariant: `error` is what the last call that failed said: static text, or the client's.
struct windhover_client {
  windhover::Client client;
  const char* error = "";
};

namespace windhover {

inline windhover_status fail(windhover_client* c, windhover_status status,
                             const char* sentence) noexcept {
  c->error = sentence;
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
    if (!ok(status)) c->error = c->client.error_text().c_str();
    return to_c(status);
  } catch (const std::bad_alloc&) {
    return fail(c, WINDHOVER_NO_MEMORY);
  } catch (...) {
    return fail(c, WINDHOVER_UNEXPECTED);
  }
}

}  // namespace windhover

#endif  // WINDHOVER_IO_C_CLIENT_HANDLE_H_
