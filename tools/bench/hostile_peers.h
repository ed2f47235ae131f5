// Peers that ask, connect or send as fast as they can, whatever comes back; and clients that come,
// ask one question and go.
#ifndef WINDHOVER_TOOLS_BENCH_HOSTILE_PEERS_H_
#define WINDHOVER_TOOLS_BENCH_HOSTILE_PEERS_H_

#include <atomic>
#include <cstdint>
#include <string>
#include <thread>
#include <vector>

#include "windhover/tools/bench/load.h"

namespace windhover {

// What one kind of peers does, on one thread until destruction.
struct HostilePlan {
  std::string frames;             // sent again and again
  std::uint32_t connections = 1;  // at a time
  bool greets = true;             // says Hello first
  double bytes_per_second = 0;    // over all connections together; 0: as fast as they are taken
  bool lets_go = false;           // closes a connection as soon as the next is made, oldest first
  double comes_per_second = 0;    // new connections; 0: as soon as one has gone
  std::uint32_t addresses = 0;    // loopback addresses used in turn, from 127.0.0.2 on; 0: one
};

class HostilePeers {
 public:
  HostilePeers(const std::string& address, HostilePlan plan);
  ~HostilePeers();
  HostilePeers(const HostilePeers&) = delete;
  HostilePeers& operator=(const HostilePeers&) = delete;

  std::uint64_t bytes_sent() const { return bytes_sent_; }
  std::uint64_t connections_made() const { return connections_made_; }

 private:
  struct Peer {
    int socket = -1;
    std::size_t offset = 0;  // into the frames, or into Hello
    bool greeted = false;
  };

  void run();
  bool connect(Peer& peer);
  bool may_come() const;
  void close(Peer& peer);
  bool may_send() const;
  bool write(Peer& peer);
  bool read(Peer& peer);

  std::string address_;
  HostilePlan plan_;
  std::string hello_;
  std::vector<Peer> peers_;
  std::size_t oldest_ = 0;
  double start_;
  std::atomic<std::uint64_t> bytes_sent_{0};
  std::atomic<std::uint64_t> connections_made_{0};
  std::atomic<bool> done_{false};
  std::thread thread_;
};

// Clients that come one after the other at a fixed rate: each connects, asks for the status, and
// gets an answer or none. Returns came, answered, and p50_us, p99_us, max_us from connecting to the
// answer, of those that got one.
enum class Speaks : std::uint8_t { kFrames, kHttp };  // the protocol of the endpoint
Json run_newcomers(const std::string& address, Speaks what, double per_second,
                   const std::stop_token& stop);

}  // namespace windhover

#endif  // WINDHOVER_TOOLS_BENCH_HOSTILE_PEERS_H_
