// The frames of rows that a client has sent and may have to send again.
#ifndef WINDHOVER_IO_SENT_FRAMES_H_
#define WINDHOVER_IO_SENT_FRAMES_H_

#include <cstddef>
#include <cstdint>
#include <deque>
#include <string>

namespace windhover {

struct SentFrame {
  std::uint64_t id = 0;
  std::uint64_t first_row = 0;  // counted over all rows of the client
  std::uint64_t first_sequence = 0;
  std::uint64_t rows = 0;
  std::string bytes;  // empty: not kept

  std::uint64_t end() const { return first_sequence + rows; }
};

// Invariant: ids rise from front to back. First come held frames, which were acknowledged and are
// kept while there is room, then those on their way, whose rows and bytes are counted.
class SentFrames {
 public:
  void clear();
  void push(SentFrame frame);
  // All frames up to this id have arrived; returns how many of them were on their way.
  std::size_t acknowledge(std::uint64_t id);
  // Drops a frame that the server has refused. REQUIRES: find(id) is not null.
  void erase(std::uint64_t id);
  // Drops the oldest held frames: those whose rows are among the first `durable` ones, and others
  // while there are more than `most_bytes`.
  void trim(std::size_t most_bytes, std::uint64_t durable);
  // Sets begins_here in the first frame.
  void begin_at_front();

  bool empty() const { return frames_.empty(); }
  // Null: there is no such frame.
  const SentFrame* find(std::uint64_t id) const;
  // The sequence numbers of the first row kept, and of the first on its way; `next` if there is
  // none.
  std::uint64_t first_kept(std::uint64_t next) const;
  std::uint64_t first_on_the_way(std::uint64_t next) const;

  std::uint64_t frames_on_the_way() const { return frames_.size() - held_; }
  std::uint64_t rows_on_the_way() const { return rows_on_the_way_; }
  std::size_t bytes_on_the_way() const { return bytes_on_the_way_; }

  // Appends the held frames with rows from this sequence number on, and returns the id of the last
  // of them; 0: there are none.
  std::uint64_t append_held(std::uint64_t from, std::string& out) const;
  void append_on_the_way(std::string& out) const;

 private:
  std::deque<SentFrame>::const_iterator place_of(std::uint64_t id) const;

  std::deque<SentFrame> frames_;
  std::size_t held_ = 0;
  std::size_t bytes_ = 0;  // of all of them
  std::size_t bytes_on_the_way_ = 0;
  std::uint64_t rows_on_the_way_ = 0;
};

}  // namespace windhover

#endif  // WINDHOVER_IO_SENT_FRAMES_H_
