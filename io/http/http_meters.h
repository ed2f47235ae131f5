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

// What each of those who ask over HTTP has asked, against its limits. A connection to HTTP may be
// as short as a request, so that what a connection has to the other endpoints an identity has here,
// however many connections it makes; who has none is known by where it asks from. Those that are
// remembered are kMost at a time: the one that has asked nothing for longest is forgotten, and has
// all its tokens again. The HTTP thread's.
class HttpMeters {
 public:
  static constexpr std::size_t kMost = 256;

  // `access` null: nobody has an identity. `all`: what everybody has who has no limits of its own.
  HttpMeters(const Access* access, const ConnectionLimits& all) : access_(access), all_(all) {}

  // How long it is until who asks may ask again; 0: it may now. O(kMost + identities).
  std::int64_t wait_ns(const HttpRequest& request, std::int64_t now_ns);

  // Its bytes have come, and are not answered, or as what is no request. Who is over its limits
  // already pays a second's worth for all of these at most, until one is answered again.
  void refuse(const HttpRequest& request, bool broken, std::int64_t now_ns);

  // It has been answered, and that has cost so much.
  void charge(const HttpRequest& request, bool question, std::int64_t cost_ns, std::int64_t now_ns);

 private:
  struct Entry {
    Credential who;
    ConnectionMeter meter;
    std::int64_t used_ns = 0;
  };
  // Null: it has no limits.
  ConnectionMeter* meter_of(const HttpRequest& request, std::int64_t now_ns);

  const Access* access_;
  const ConnectionLimits all_;
  std::vector<Entry> entries_;
};

}  // namespace windhover

#endif  // WINDHOVER_IO_HTTP_HTTP_METERS_H_
