#include "windhover/tools/bench/frame_source.h"

#include <sys/prctl.h>
#include <sys/socket.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <random>
#include <string_view>

#include "windhover/tools/bench/loopback.h"
#include "windhover/tools/bench/timing.h"
#include "windhover/tools/error.h"

namespace windhover {

namespace {

constexpr std::size_t kLeastBytes = std::size_t{1} << 20;  // of frames, made once and repeated
constexpr std::size_t kWriteBytes = 64 * 1024;
constexpr double kSlice = 1e-3;  // a write holds no more than the schedule allows in this time

// The sizes of the two numbers in a sequenced frame, and how it looks before they are filled in:
// tag and value of the first two fields of Observe.
constexpr std::size_t kProducerBytes = 2;
constexpr std::size_t kSequenceBytes = 6;
constexpr std::uint64_t kMostProducer = (std::uint64_t{1} << (7 * kProducerBytes)) - 1;
constexpr std::uint64_t kMostSequence = (std::uint64_t{1} << (7 * kSequenceBytes)) - 1;
constexpr std::string_view kSequence = "\x08\xff\x7f\x10\xff\xff\xff\xff\xff\x7f";

// Writes a varint in exactly `size` bytes, padded with empty ones.
void put_varint(char* at, std::size_t size, std::uint64_t value) {
  for (std::size_t i = 0; i < size; ++i, value >>= 7) {
    at[i] = static_cast<char>((value & 0x7f) | (i + 1 < size ? 0x80 : 0));
  }
}

// The connections of this process get different producers, because a server keeps what it knows of
// one.
std::atomic<std::uint64_t> producers_so_far{0};

LoadRows sequenced(LoadRows rows) {
  rows.sequenced = true;
  return rows;
}

void add_row(const LoadRows& rows, std::mt19937_64& generator, v1::Observe& observe) {
  std::normal_distribution<double> normal;
  const auto add_feature = [&](double x) {
    if (rows.single_precision) {
      observe.add_features_f32(static_cast<float>(x));
    } else {
      observe.add_features_f64(x);
    }
  };
  double y = normal(generator);
  if (rows.nonzeros == 0) {
    for (std::uint32_t j = 0; j < rows.features; ++j) {
      const double x = normal(generator);
      add_feature(x);
      y += 0.3 * x;
    }
  } else {
    const std::uint32_t part = rows.features / rows.nonzeros;
    for (std::uint32_t k = 0; k < rows.nonzeros; ++k) {
      add_feature(1.0);
      observe.add_indices(k * part + static_cast<std::uint32_t>(generator() % part));
      y += 0.3;
    }
    observe.add_row_ends(static_cast<std::uint32_t>(observe.indices_size()));
  }
  if (rows.single_precision) {
    observe.add_targets_f32(static_cast<float>(y));
  } else {
    observe.add_targets_f64(y);
  }
}

}  // namespace

FrameBytes::FrameBytes(const LoadRows& rows, std::size_t least_bytes)
    : rows_per_frame(rows.rows_per_frame) {
  std::mt19937_64 generator(7);
  least_bytes = std::max(least_bytes, kLeastBytes);
  const std::size_t least_frames = (4 * std::size_t{rows.features}) / rows_per_frame;
  while (bytes.size() < least_bytes || ends.size() < least_frames) {
    v1::Request request;
    request.set_id(ends.size() + 1);
    request.mutable_observe()->set_rows(rows_per_frame);
    if (rows.sequenced) {
      request.mutable_observe()->set_producer(kMostProducer);
      request.mutable_observe()->set_first_sequence(kMostSequence);
    }
    for (std::uint32_t i = 0; i < rows_per_frame; ++i) {
      add_row(rows, generator, *request.mutable_observe());
    }
    const std::size_t begin = bytes.size();
    append_frame(request, bytes);
    ends.push_back(bytes.size());
    if (rows.sequenced) sequences.push_back(bytes.find(kSequence, begin) + 1);
  }
}

void FrameBytes::set_sequence(std::size_t frame, std::uint64_t producer, std::uint64_t sequence) {
  char* at = bytes.data() + sequences[frame];
  put_varint(at, kProducerBytes, producer);
  put_varint(at + kProducerBytes + 1, kSequenceBytes, sequence);
}

double FrameBytes::bytes_per_row() const {
  return static_cast<double>(bytes.size()) / static_cast<double>(ends.size() * rows_per_frame);
}

FrameSource::FrameSource(const std::string& address, const LoadRows& rows, const LoadPlan& plan)
    : frames_(sequenced(rows), plan.connections * kWriteBytes), plan_(plan) {
  const std::size_t own_frames = frames_.ends.size() / plan_.connections;
  const std::size_t frame_bytes = frames_.bytes.size() / frames_.ends.size();
  frames_a_write_ = std::clamp<std::size_t>(kWriteBytes / frame_bytes, 1, own_frames);
  if (plan_.rate > 0) {
    const double slice = kSlice * plan_.rate / frames_.rows_per_frame;
    frames_a_write_ = std::clamp<std::size_t>(static_cast<std::size_t>(slice), 1, frames_a_write_);
  }
  try {
    for (std::uint32_t i = 0; i < plan_.connections; ++i) {
      connections_.push_back({.socket = connect_and_greet(address),
                              .producer = 1 + producers_so_far++ % kMostProducer,
                              .first_frame = i * own_frames,
                              .last_frame = (i + 1) * own_frames,
                              .frame = i * own_frames});
      polls_.push_back({connections_.back().socket, POLLIN, 0});
    }
  } catch (...) {
    close_all();
    throw;
  }
  thread_ = std::thread([this] { run(); });
}

FrameSource::~FrameSource() {
  stop_.store(true, std::memory_order_relaxed);
  thread_.join();
  close_all();
}

void FrameSource::check() const {
  if (lost_.load(std::memory_order_relaxed))
    throw RunError("the server closed a connection of rows");
}

void FrameSource::close_all() {
  for (const Connection& connection : connections_) ::close(connection.socket);
}

void FrameSource::run() {
  (void)::prctl(PR_SET_TIMERSLACK, 1UL);
  start_ = wall_seconds();
  while (!stop_.load(std::memory_order_relaxed)) {
    bool progress = false;
    for (Connection& connection : connections_) {
      if (advance(connection)) progress = true;
    }
    if (!progress) wait();
  }
}

// Writes without waiting; false when nothing could be written.
bool FrameSource::advance(Connection& connection) {
  if (connection.begin == connection.end && due_in() <= 0) take_up(connection);
  bool progress = false;
  if (connection.begin != connection.end) {
    const ssize_t n = ::send(connection.socket, frames_.bytes.data() + connection.begin,
                             connection.end - connection.begin, MSG_NOSIGNAL | MSG_DONTWAIT);
    if (n > 0) connection.begin += static_cast<std::size_t>(n);
    if (n < 0 && errno != EAGAIN && errno != EINTR) {
      lost_.store(true, std::memory_order_relaxed);
      stop_.store(true, std::memory_order_relaxed);
    }
    progress = n > 0;
  }
  std::array<char, 4096> scratch;
  (void)::recv(connection.socket, scratch.data(), scratch.size(), MSG_DONTWAIT);
  return progress;
}

void FrameSource::take_up(Connection& c) {
  const std::size_t next = std::min(c.frame + frames_a_write_, c.last_frame);
  c.begin = frames_.begin(c.frame);
  c.end = frames_.ends[next - 1];
  for (; c.frame < next; ++c.frame) {
    frames_.set_sequence(c.frame, c.producer, c.sequence);
    c.sequence += frames_.rows_per_frame;
    rows_taken_ += frames_.rows_per_frame;
  }
  if (c.frame == c.last_frame) c.frame = c.first_frame;
}

double FrameSource::due_in() const {
  return plan_.rate > 0 ? rows_taken_ / plan_.rate - (wall_seconds() - start_) : 0;
}

// Waits until there is room on a connection that has something to write, or the next rows are due.
void FrameSource::wait() {
  for (std::size_t i = 0; i < connections_.size(); ++i) {
    const bool unwritten = connections_[i].begin != connections_[i].end;
    polls_[i].events = static_cast<short>(unwritten ? POLLIN | POLLOUT : POLLIN);
  }
  const bool all_writing =
      std::ranges::all_of(connections_, [](const Connection& c) { return c.begin != c.end; });
  double seconds = 0.02;
  if (!all_writing) seconds = std::clamp(due_in(), 0.0, seconds);
  timespec timeout{0, static_cast<long>(1e9 * seconds)};
  (void)::ppoll(polls_.data(), polls_.size(), &timeout, nullptr);
}

}  // namespace windhover
