#ifndef WINDHOVER_IO_HTTP_HTTP_METERS_H_
#define WINDHOVER_IO_HTTP_HTTP_METERS_H_

#include <cstddef>
#include <cstdint>
#include <vector>

#include "windhover/io/access/access.h"
#include "windhover/io/connection_limits.h"
#include "windhover/io/connection_meter.h"
#include "windhover/io/http/http_types.h"

namespace windhover {

// Meters what each peer asks over HTTP against its limits. A connection to HTTP may be as short as
// a request, so the limits of a connection to the other endpoints are those of an identity here,
// however many connections it makes; a peer without an identity is known by its address. At most
// kMost peers are remembered: the one that has been quiet for longest is forgotten, and has all its
// tokens again. The HTTP thread's.
class HttpMeters {
 public:
  static constexpr std::size_t kMost = 256;

  // `access` null: nobody has an identity. `all`: the limits of those who have none of their own.
  HttpMeters(const Access* access, const ConnectionLimits& all) : access_(access), all_(all) {}

  // How long until the sender may ask again; 0: now. O(kMost + identities).
  std::int64_t wait_ns(const HttpRequest& request, std::int64_t now_ns);

  // Charges for bytes that are discarded, and if `broken` also for a request. A sender that is over
  // its limits already pays at most a second's worth for all of these, until one is answered again.
  void refuse(const HttpRequest& request, bool broken, std::int64_t now_ns);

  // Charges for a request that has been answered at this cost.
  void charge(const HttpRequest& request, bool question, std::int64_t cost_ns, std::int64_t now_ns);

 private:
  struct Entry {
    Credential who;
    ConnectionMeter meter;
    std::int64_t used_ns = 0;
  };
  // Null: the sender has no limits.
  ConnectionMeter* meter_of(const HttpRequest& request, std::int64_t now_ns);

  const Access* access_;
  const ConnectionLimits all_;
  std::vector<Entry> entries_;
};

}  // namespace windhover

#endif  // WINDHOVER_IO_HTTP_HTTP_METERS_H_
