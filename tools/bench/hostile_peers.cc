#include "windhover/tools/bench/hostile_peers.h"

#include <arpa/inet.h>
#include <fcntl.h>
#include <netinet/in.h>
#include <sys/socket.h>

#include <algorithm>
#include <cerrno>
#include <chrono>

#include "windhover/io/address.h"
#include "windhover/io/client.h"
#include "windhover/io/client_socket.h"
#include "windhover/tools/bench/loopback.h"
#include "windhover/tools/bench/timing.h"

namespace windhover {

HostilePeers::HostilePeers(const std::string& address, HostilePlan plan)
    : address_(address),
      plan_(std::move(plan)),
      hello_(plan_.greets ? hello_frame() : std::string()),
      peers_(plan_.connections),
      start_(wall_seconds()),
      thread_([this] { run(); }) {}

HostilePeers::~HostilePeers() {
  done_ = true;
  thread_.join();
  for (Peer& peer : peers_) close(peer);
}

void HostilePeers::close(Peer& peer) {
  if (peer.socket >= 0) ::close(peer.socket);
  peer = {};
}

bool HostilePeers::connect(Peer& peer) {
  Address parsed;
  if (!parse_address(address_, parsed)) return false;
  peer.socket = ::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
  if (peer.socket < 0) return false;
  sockaddr_in to{};
  to.sin_family = AF_INET;
  to.sin_port = htons(parsed.port);
  to.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  sockaddr_in from = to;
  from.sin_port = 0;
  if (plan_.addresses > 0) {
    from.sin_addr.s_addr = htonl(INADDR_LOOPBACK + 1 +
                                 static_cast<std::uint32_t>(connections_made_ % plan_.addresses));
  }
  if (::bind(peer.socket, reinterpret_cast<const sockaddr*>(&from), sizeof from) != 0 ||
      ::connect(peer.socket, reinterpret_cast<const sockaddr*>(&to), sizeof to) != 0) {
    close(peer);
    return false;
  }
  ::fcntl(peer.socket, F_SETFL, O_NONBLOCK);
  peer.greeted = !plan_.greets;
  ++connections_made_;
  return true;
}

bool HostilePeers::may_come() const {
  if (plan_.comes_per_second == 0) return true;
  return static_cast<double>(connections_made_) <
         (wall_seconds() - start_) * plan_.comes_per_second;
}

bool HostilePeers::may_send() const {
  if (plan_.bytes_per_second == 0) return true;
  return static_cast<double>(bytes_sent_) < (wall_seconds() - start_) * plan_.bytes_per_second;
}

// Returns false when the server has closed the connection.
bool HostilePeers::write(Peer& peer) {
  const std::string& bytes = peer.greeted ? plan_.frames : hello_;
  if (bytes.empty()) return true;
  const ssize_t sent = ::send(peer.socket, bytes.data() + peer.offset, bytes.size() - peer.offset,
                              MSG_NOSIGNAL | MSG_DONTWAIT);
  if (sent < 0) return errno == EAGAIN;
  bytes_sent_ += static_cast<std::uint64_t>(sent);
  peer.offset += static_cast<std::size_t>(sent);
  if (peer.offset < bytes.size()) return true;
  peer.offset = 0;
  peer.greeted = true;
  return true;
}

bool HostilePeers::read(Peer& peer) {
  static thread_local std::array<char, 1 << 18> sink;
  const ssize_t received = ::recv(peer.socket, sink.data(), sink.size(), MSG_DONTWAIT);
  return received > 0 || (received < 0 && errno == EAGAIN);
}

// SCHED_IDLE: the peers, which stand for other machines, take only processor time that nobody else
// wants. The system may take the processor from them at any time.
void HostilePeers::run() {
  const sched_param none{};
  (void)::sched_setscheduler(0, SCHED_IDLE, &none);  // of this thread alone, on Linux
  std::vector<pollfd> polled(peers_.size());
  while (!done_) {
    if (plan_.lets_go && may_come()) close(peers_[oldest_++ % peers_.size()]);
    for (Peer& peer : peers_) {
      if (peer.socket < 0 && may_come()) (void)connect(peer);
    }
    const bool sends = may_send() && !plan_.frames.empty();
    for (std::size_t i = 0; i < peers_.size(); ++i) {
      const short wanted = sends || !peers_[i].greeted ? POLLIN | POLLOUT : POLLIN;
      polled[i] = {peers_[i].socket, wanted, 0};
    }
    const int patience_ms = plan_.lets_go && plan_.comes_per_second == 0 ? 0 : sends ? 10 : 1;
    if (::poll(polled.data(), polled.size(), patience_ms) <= 0) continue;
    for (std::size_t i = 0; i < peers_.size(); ++i) {
      Peer& peer = peers_[i];
      if (peer.socket < 0) continue;
      bool open = true;
      if ((polled[i].revents & (POLLIN | POLLHUP | POLLERR)) != 0) open = read(peer);
      if (open && (polled[i].revents & POLLOUT) != 0) open = write(peer);
      if (!open) close(peer);
    }
  }
}

namespace {

constexpr auto kPatienceOfOne = std::chrono::seconds(10);

bool ask_in_frames(const std::string& address) {
  Client client;
  ClientOptions options;
  options.connect_timeout = options.reply_timeout = kPatienceOfOne;
  v1::StatusResult status;
  return ok(client.connect(address, options)) && ok(client.status(status));
}

bool ask_over_http(const std::string& address) {
  constexpr std::string_view kRequest = "GET /v1/status HTTP/1.1\r\nHost: bench\r\n\r\n";
  Address parsed;
  ClientSocket socket;
  std::string why;
  std::size_t sent = 0;
  if (!parse_address(address, parsed) || !ok(socket.connect(parsed, kPatienceOfOne, why)) ||
      !ok(socket.send_some(kRequest.data(), kRequest.size(), sent)) || sent != kRequest.size()) {
    return false;
  }
  std::string answer;
  std::array<char, 16'384> some{};
  while (answer.find("\r\n\r\n") == std::string::npos) {
    std::size_t received = 0;
    if (!ok(socket.wait(false, kPatienceOfOne)) ||
        !ok(socket.receive_some(some.data(), some.size(), received))) {
      return false;
    }
    answer.append(some.data(), received);
  }
  return answer.starts_with("HTTP/1.1 200");
}

}  // namespace

Json run_newcomers(const std::string& address, Speaks what, double per_second,
                   const std::stop_token& stop) {
  std::uint64_t came = 0;
  std::vector<double> took_us;
  const double start = wall_seconds();
  while (!stop.stop_requested()) {
    const double due = start + static_cast<double>(came) / per_second;
    if (const double early = due - wall_seconds(); early > 0) {
      sleep_for(std::min(early, 0.01));
      continue;
    }
    ++came;
    const double begin = wall_seconds();
    if (what == Speaks::kFrames ? ask_in_frames(address) : ask_over_http(address)) {
      took_us.push_back(1e6 * (wall_seconds() - begin));
    }
  }
  Json out = {{"came", came}, {"answered", took_us.size()}};
  if (took_us.empty()) return out;
  out["p50_us"] = quantile(took_us, 0.5);
  out["p99_us"] = quantile(took_us, 0.99);
  out["max_us"] = quantile(took_us, 1);
  return out;
}

}  // namespace windhover
