#include "windhover/io/descriptors.h"

#include <fcntl.h>
#include <sys/eventfd.h>
#include <sys/resource.h>
#include <unistd.h>

#include <algorithm>
#include <cstdint>
#include <limits>

#include "windhover/io/operator_place.h"

namespace windhover {

void reserve_descriptors(std::size_t more) noexcept {
  const int first_free = ::eventfd(0, EFD_CLOEXEC);
  if (first_free < 0) return;
  constexpr std::size_t kMostInt = std::numeric_limits<int>::max();
  const std::size_t wanted = static_cast<std::size_t>(first_free) + more;
  const std::size_t most = descriptor_limit() - 1;
  const int last =
      ::fcntl(first_free, F_DUPFD_CLOEXEC, static_cast<int>(std::min({wanted, most, kMostInt})));
  if (last >= 0) ::close(last);
  ::close(first_free);
}

std::size_t descriptor_limit() noexcept {
  rlimit limit{};
  if (::getrlimit(RLIMIT_NOFILE, &limit) != 0 || limit.rlim_cur == RLIM_INFINITY) return SIZE_MAX;
  return limit.rlim_cur;
}

void raise_descriptor_limit() noexcept {
  rlimit limit{};
  if (::getrlimit(RLIMIT_NOFILE, &limit) != 0) return;
  limit.rlim_cur = limit.rlim_max;
  (void)::setrlimit(RLIMIT_NOFILE, &limit);
}

std::size_t most_descriptors(const ServerConfig& config, std::size_t models) noexcept {
  constexpr std::size_t kOthers = 64;  // listeners, timers, files of the host
  constexpr std::size_t kHttpLink = 2;
  constexpr std::size_t kFolder = 6;  // folder, lock, a checkpoint, its folder once more, two wakes
  std::size_t of_model = kHttpLink;
  if (config.durable.enabled()) of_model += kFolder;
  if (config.durable.enabled() && config.durable.log)
    of_model += config.durable.log_options.segments();
  const std::size_t sessions = config.max_sessions + kOperatorSessions;
  return 2 * sessions + config.http.max_connections + models * of_model + kOthers;
}

}  // namespace windhover
