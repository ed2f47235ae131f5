#include "windhover/tools/bench/question_source.h"

#include <fcntl.h>
#include <sys/epoll.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <span>

#include "windhover/io/framing.h"
#include "windhover/platform/clock.h"
#include "windhover/tools/bench/loopback.h"
#include "windhover/tools/error.h"

namespace windhover {

namespace {

constexpr std::size_t kMostOpen = 4096;  // a connection
constexpr std::size_t kBufferBytes = 16 * 1024;
constexpr std::int64_t kPatienceNs = 2'000'000'000;

std::int64_t now_ns() noexcept {
  RealClock clock;
  return clock.now_ns();
}

std::string frame_of(const v1::Request& request) {
  std::string bytes;
  append_frame(request, bytes);
  return bytes;
}

}  // namespace

std::string predict_frame(std::uint32_t features, std::uint32_t rows) {
  v1::Request request;
  request.set_id(1);
  v1::Predict& predict = *request.mutable_predict();
  predict.set_rows(rows);
  predict.set_thompson_id(1);  // makes the answer read all draws
  for (std::uint32_t i = 0; i < rows * features; ++i) predict.add_features_f64(0.1);
  return frame_of(request);
}

std::string posterior_frame() {
  v1::Request request;
  request.set_id(1);
  request.mutable_posterior_summary();
  return frame_of(request);
}

std::string status_frame() {
  v1::Request request;
  request.set_id(1);
  request.mutable_status();
  return frame_of(request);
}

QuestionSource::QuestionSource(const std::string& address, std::vector<QuestionKind> kinds,
                               std::uint32_t connections, double rate)
    : rate_(rate), epoll_(::epoll_create1(EPOLL_CLOEXEC)) {
  for (QuestionKind& kind : kinds) {
    kinds_.push_back(std::make_unique<Kind>());
    kinds_.back()->question = std::move(kind);
  }
  connections_.resize(connections);
  for (std::uint32_t i = 0; i < connections; ++i) {
    Connection& connection = connections_[i];
    connection.socket = connect_and_greet(address);
    connection.open.resize(kMostOpen);
    connection.buffer.resize(kBufferBytes);
    if (i == 0) rehearse(connection);
    (void)::fcntl(connection.socket, F_SETFL, O_NONBLOCK);
    epoll_event event{EPOLLIN, {.u32 = i}};
    (void)::epoll_ctl(epoll_, EPOLL_CTL_ADD, connection.socket, &event);
  }
}

QuestionSource::~QuestionSource() {
  for (const Connection& connection : connections_) {
    if (connection.socket >= 0) ::close(connection.socket);
  }
  ::close(epoll_);
}

// Each kind once, to see that it is answered and not refused.
void QuestionSource::rehearse(Connection& connection) {
  for (const auto& kind : kinds_) {
    const std::string& frame = kind->question.frame;
    std::string reply;
    FrameScan scan;
    bool alive = write_all(connection.socket, frame.data(), frame.size());
    while (alive && scan.kind == FrameScan::kNeedMore) {
      std::array<char, 4096> chunk;
      const ssize_t n = ::recv(connection.socket, chunk.data(), chunk.size(), 0);
      alive = n > 0;
      if (alive) reply.append(chunk.data(), static_cast<std::size_t>(n));
      scan = scan_frame(std::as_bytes(std::span(reply)), UINT32_MAX);
    }
    v1::Response response;
    if (!alive || scan.kind != FrameScan::kFrame ||
        !response.ParseFromArray(scan.frame.data(), static_cast<int>(scan.frame.size())) ||
        response.has_refusal()) {
      throw RunError("the server refuses the question \"" + kind->question.name + "\"");
    }
  }
}

void QuestionSource::ask(double seconds) {
  (void)::prctl(PR_SET_TIMERSLACK, 1UL);
  const auto total = static_cast<std::uint64_t>(seconds * rate_);
  const double period = 1e9 / rate_;
  const std::int64_t start = now_ns() + 1'000'000;
  const std::int64_t give_up = start + static_cast<std::int64_t>(1e9 * seconds) + kPatienceNs;
  const auto due = [&](std::uint64_t i) {
    return start + static_cast<std::int64_t>(period * static_cast<double>(i));
  };
  std::array<epoll_event, 64> events;
  while (answered_ < total) {
    std::int64_t now = now_ns();
    if (now > give_up) break;
    while (asked_ < total && due(asked_) <= now) {
      send(due(asked_));
      now = now_ns();
    }
    const std::int64_t next = asked_ < total ? due(asked_) : give_up;
    const std::int64_t left = std::max<std::int64_t>(0, next - now);
    const timespec timeout{left / 1'000'000'000, left % 1'000'000'000};
    const int n = ::epoll_pwait2(epoll_, events.data(), events.size(), &timeout, nullptr);
    for (int i = 0; i < n; ++i) {
      receive(connections_[events[static_cast<std::size_t>(i)].data.u32]);
    }
  }
}

void QuestionSource::send(std::int64_t due) {
  Connection& connection = connections_[asked_ % connections_.size()];
  if (connection.count == kMostOpen) throw RunError("the server left 4096 questions unanswered");
  std::uint32_t chosen = 0;
  for (std::uint32_t k = 0; k < kinds_.size(); ++k) {
    if (asked_ % kinds_[k]->question.every == 0) chosen = k;
  }
  const std::string& frame = kinds_[chosen]->question.frame;
  const std::int64_t sent = now_ns();
  if (!write_all(connection.socket, frame.data(), frame.size())) {
    throw RunError("the server closed the connection");
  }
  late_.record(now_ns() - due);
  connection.open[(connection.first + connection.count) % kMostOpen] = {due, sent, chosen};
  ++connection.count;
  ++asked_;
}

void QuestionSource::receive(Connection& connection) {
  const ssize_t n = ::recv(connection.socket, connection.buffer.data() + connection.size,
                           connection.buffer.size() - connection.size, 0);
  if (n == 0) throw RunError("the server closed the connection");
  if (n < 0) return;
  const std::int64_t now = now_ns();
  connection.size += static_cast<std::size_t>(n);
  std::size_t begin = 0;
  while (begin < connection.size) {
    const std::size_t there = connection.size - begin;
    if (connection.skip > 0) {
      const std::size_t taken = std::min(connection.skip, there);
      connection.skip -= taken;
      begin += taken;
      if (connection.skip == 0) answered(connection, now);
      continue;
    }
    const auto rest = std::as_bytes(std::span(connection.buffer.data() + begin, there));
    const FrameScan scan = scan_frame(rest, UINT32_MAX);
    if (scan.kind == FrameScan::kFrame) {
      begin += scan.consumed;
      answered(connection, now);
    } else if (scan.kind == FrameScan::kNeedMore && scan.length > 0) {
      connection.skip = frame_header_size(scan.length) + scan.length;
    } else {
      break;
    }
  }
  std::copy(connection.buffer.data() + begin, connection.buffer.data() + connection.size,
            connection.buffer.data());
  connection.size -= begin;
}

void QuestionSource::answered(Connection& connection, std::int64_t now) {
  const Asked& asked = connection.open[connection.first];
  kinds_[asked.kind]->latency.record(now - asked.due);
  from_send_.record(now - asked.sent);
  connection.first = (connection.first + 1) % kMostOpen;
  --connection.count;
  ++answered_;
}

Json percentiles(const Histogram& h) {
  Json out = {{"count", h.count()}};
  // One value in `one_in` lies above the percentile.
  const auto add = [&](const char* name, std::uint64_t one_in) {
    const double q = 1 - 1 / static_cast<double>(one_in);
    const bool resolved = h.count() >= 10 * one_in;
    out[name] = resolved ? Json(static_cast<double>(h.quantile(q)) / 1e3) : Json(nullptr);
  };
  add("p50_us", 2);
  add("p90_us", 10);
  add("p99_us", 100);
  add("p999_us", 1000);
  add("p9999_us", 10'000);
  out["max_us"] = static_cast<double>(h.max()) / 1e3;
  return out;
}

}  // namespace windhover
