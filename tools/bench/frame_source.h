// Observe frames that are made once and written again and again: load without the cost of making
// it.
#ifndef WINDHOVER_TOOLS_BENCH_FRAME_SOURCE_H_
#define WINDHOVER_TOOLS_BENCH_FRAME_SOURCE_H_

#include <poll.h>

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <string>
#include <thread>
#include <vector>

namespace windhover {

// Rows of a linear model with theta_j = 0.3 and unit noise. Dense: standard normal features.
// Sparse: `nonzeros` ones in each row, one in each of `nonzeros` equal parts of the features, as
// from as many categories.
struct LoadRows {
  std::uint32_t features = 0;
  std::uint32_t nonzeros = 0;  // 0: dense
  std::uint32_t rows_per_frame = 1;
  bool single_precision = false;  // features_f32 instead of features_f64; targets likewise
  // Frames have room for a producer and the sequence number of the first row; FrameSource sets it
  // and fills them in.
  bool sequenced = false;
};

// Frames of at least `least_bytes`, a mebibyte, and four rows for each feature, so that the rows
// determine every parameter; each frame has its length in front.
struct FrameBytes {
  explicit FrameBytes(const LoadRows& rows, std::size_t least_bytes = 0);

  double bytes_per_row() const;
  std::size_t begin(std::size_t frame) const { return frame == 0 ? 0 : ends[frame - 1]; }
  // Sets producer and sequence number of a frame. REQUIRES: `rows` were sequenced; producer below
  // 2^14, sequence below 2^42.
  void set_sequence(std::size_t frame, std::uint64_t producer, std::uint64_t sequence);

  std::string bytes;
  std::vector<std::size_t> ends;       // of each frame
  std::vector<std::size_t> sequences;  // place of the producer in each frame
  std::uint32_t rows_per_frame;
};

struct LoadPlan {
  double rate = 0;  // rows a second over all connections, on schedule; 0: as fast as possible
  std::uint32_t connections = 1;
};

// Sends such rows on all connections in turn, from one thread of its own until it is destroyed, and
// reads the answers and drops them. Each connection is a producer, as a client's is, and has its
// own part of the frames. No heap call after construction.
class FrameSource {
 public:
  // RunError when the server does not welcome it.
  FrameSource(const std::string& address, const LoadRows& rows, const LoadPlan& plan);
  ~FrameSource();
  FrameSource(const FrameSource&) = delete;
  FrameSource& operator=(const FrameSource&) = delete;

  const FrameBytes& frames() const { return frames_; }
  // RunError when the server has closed a connection: the measurement is then void.
  void check() const;

 private:
  struct Connection {
    int socket = -1;
    std::uint64_t producer = 0;
    std::uint64_t sequence = 0;   // of the next row
    std::size_t first_frame = 0;  // its part of the frames
    std::size_t last_frame = 0;
    std::size_t frame = 0;  // the next one to be taken up
    std::size_t begin = 0;  // bytes that are taken up and not written yet
    std::size_t end = 0;
  };

  void close_all();
  void run();
  bool advance(Connection& connection);
  void take_up(Connection& connection);
  void wait();
  double due_in() const;  // seconds until the schedule allows the next rows

  FrameBytes frames_;
  LoadPlan plan_;
  std::size_t frames_a_write_;
  std::vector<Connection> connections_;
  std::vector<pollfd> polls_;
  double rows_taken_ = 0;
  double start_ = 0;
  std::atomic<bool> stop_{false};
  std::atomic<bool> lost_{false};
  std::thread thread_;
};

}  // namespace windhover

#endif  // WINDHOVER_TOOLS_BENCH_FRAME_SOURCE_H_
