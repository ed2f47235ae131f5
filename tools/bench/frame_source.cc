#include "windhover/tools/bench/frame_source.h"

#include <poll.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <random>

#include "windhover/tools/bench/loopback.h"
#include "windhover/tools/bench/timing.h"
#include "windhover/tools/error.h"

namespace windhover {

namespace {

constexpr std::size_t kLeastBytes = std::size_t{1} << 20;  // made once, then repeated
constexpr std::size_t kWriteBytes = 64 * 1024;
constexpr double kSlice = 1e-3;  // a write holds no more than the schedule allows in this time

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

FrameBytes::FrameBytes(const LoadRows& rows) : rows_per_frame(rows.rows_per_frame) {
  std::mt19937_64 generator(7);
  const std::size_t least_frames = (4 * std::size_t{rows.features}) / rows_per_frame;
  while (bytes.size() < kLeastBytes || ends.size() < least_frames) {
    v1::Request request;
    request.set_id(ends.size() + 1);
    request.mutable_observe()->set_rows(rows_per_frame);
    for (std::uint32_t i = 0; i < rows_per_frame; ++i) {
      add_row(rows, generator, *request.mutable_observe());
    }
    append_frame(request, bytes);
    ends.push_back(bytes.size());
  }
}

double FrameBytes::bytes_per_row() const {
  return static_cast<double>(bytes.size()) / static_cast<double>(ends.size() * rows_per_frame);
}

FrameSource::FrameSource(const std::string& address, const LoadRows& rows, const LoadPlan& plan)
    : frames_(rows), plan_(plan) {
  const std::size_t frame_bytes = frames_.bytes.size() / frames_.ends.size();
  frames_a_write_ = std::clamp<std::size_t>(kWriteBytes / frame_bytes, 1, frames_.ends.size());
  if (plan_.rate > 0) {
    const double slice = kSlice * plan_.rate / frames_.rows_per_frame;
    frames_a_write_ = std::clamp<std::size_t>(static_cast<std::size_t>(slice), 1, frames_a_write_);
  }
  try {
    for (std::uint32_t i = 0; i < plan_.connections; ++i) {
      connections_.push_back({.socket = connect_and_greet(address)});
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

// Writes what there is to be written without waiting; false when nothing could be.
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

void FrameSource::take_up(Connection& connection) {
  const std::size_t next = std::min(connection.frame + frames_a_write_, frames_.ends.size());
  connection.begin = connection.frame == 0 ? 0 : frames_.ends[connection.frame - 1];
  connection.end = frames_.ends[next - 1];
  rows_taken_ += static_cast<double>((next - connection.frame) * frames_.rows_per_frame);
  connection.frame = next == frames_.ends.size() ? 0 : next;
}

double FrameSource::due_in() const {
  return plan_.rate > 0 ? rows_taken_ / plan_.rate - (wall_seconds() - start_) : 0;
}

// Until there is room on a connection that has something to write, or the next rows are due.
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
