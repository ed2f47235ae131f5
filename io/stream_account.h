// What became of the rows of a client's stream.
#ifndef WINDHOVER_IO_STREAM_ACCOUNT_H_
#define WINDHOVER_IO_STREAM_ACCOUNT_H_

#include <cstdint>
#include <utility>
#include <vector>

#include "windhover/io/client_types.h"
#include "windhover/io/sent_frames.h"
#include "windhover/io/windhover.pb.h"

namespace windhover {

// Invariant: rows are durable that were acknowledged before the server's head of then was on disk,
// and no others. One thread.
class StreamAccount {
 public:
  // A new stream.
  void begin();
  // Another connection: what the server's head was before says nothing any more.
  void connect_again() { mark_ = {}; }

  // An acknowledgement, up to frame `id` of those that were sent; `logged`: it means the disk. The
  // frames count as arrived.
  void acknowledge(std::uint64_t id, const v1::ObserveAck& acknowledgement, bool logged,
                   SentFrames& frames);

  ObserveTotals& totals() { return totals_; }
  const ObserveTotals& totals() const { return totals_; }
  // The refused rows that the server listed, oldest first, since the last call.
  std::vector<ClientRefusedRow> take_refused_rows() { return std::exchange(refused_rows_, {}); }

 private:
  // Where an acknowledgement comes before rows are on disk: these rows are durable once the
  // server's durable head reaches `head`.
  struct Mark {
    std::uint64_t head = 0;
    std::uint64_t rows = 0;  // 0: none

    // How many rows this acknowledgement says are there; 0: no more than before.
    std::uint64_t durable(const v1::ObserveAck& acknowledgement, std::uint64_t acknowledged);
  };

  void list_refused(const v1::ObserveAck& acknowledgement, const SentFrames& frames);

  ObserveTotals totals_;
  std::vector<ClientRefusedRow> refused_rows_;
  Mark mark_;
};

}  // namespace windhover

#endif  // WINDHOVER_IO_STREAM_ACCOUNT_H_
