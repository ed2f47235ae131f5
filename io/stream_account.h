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

// Counts what became of a stream's rows. Rows are durable once the server's head at the time of
// their acknowledgement is on disk. One thread.
class StreamAccount {
 public:
  // Begins a new stream.
  void begin();
  // Begins another connection: heads of the last one mean nothing any more.
  void connect_again() { mark_ = {}; }

  // Takes in an acknowledgement of the frames up to `id`, which count as arrived. `logged`: it
  // means that they are on disk.
  void acknowledge(std::uint64_t id, const v1::ObserveAck& acknowledgement, bool logged,
                   SentFrames& frames);

  ObserveTotals& totals() { return totals_; }
  const ObserveTotals& totals() const { return totals_; }
  // The refused rows that the server listed, oldest first, since the last call.
  std::vector<ClientRefusedRow> take_refused_rows() { return std::exchange(refused_rows_, {}); }

 private:
  // Where acknowledgements come before rows are on disk: the first `rows` rows are durable once the
  // server's durable_through reaches `head`.
  struct Mark {
    std::uint64_t head = 0;
    std::uint64_t rows = 0;  // 0: none

    // How many rows this acknowledgement shows to be durable; 0: no more than before.
    std::uint64_t durable(const v1::ObserveAck& acknowledgement, std::uint64_t acknowledged);
  };

  void list_refused(const v1::ObserveAck& acknowledgement, const SentFrames& frames);

  ObserveTotals totals_;
  std::vector<ClientRefusedRow> refused_rows_;
  Mark mark_;
};

}  // namespace windhover

#endif  // WINDHOVER_IO_STREAM_ACCOUNT_H_
