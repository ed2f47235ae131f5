#include "windhover/tools/bench/question_source.h"

#include <fcntl.h>
#include <sys/epoll.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <chrono>
#include <future>

#include "windhover/io/framing.h"
#include "windhover/platform/clock.h"
#include "windhover/platform/thread.h"
#include "windhover/tools/bench/loopback.h"
#include "windhover/tools/error.h"

namespace windhover {

namespace {

constexpr std::size_t kMostOpen = 4096;  // questions of a connection
constexpr std::size_t kBufferBytes = 16 * 1024;
constexpr std::int64_t kPatienceNs = 2'000'000'000;
constexpr int kBurst = 16;               // questions written before answers are looked for again
constexpr std::size_t kFirstBytes = 16;  // of an answer, which show whether it is a refusal

std::int64_t now_ns() noexcept {
  RealClock clock;
  return clock.now_ns();
}

// Whether an answer is a refusal, by its first bytes: Response begins with its id, and then its
// kind.
bool is_refusal(std::span<const std::byte> answer) noexcept {
  const auto at = [&](std::size_t i) { return std::to_integer<std::uint32_t>(answer[i]); };
  std::size_t i = 0;
  if (!answer.empty() && at(0) >> 3 == v1::Response::kIdFieldNumber) {
    for (i = 1; i < answer.size() && at(i) >= 128; ++i) continue;
    ++i;
  }
  return i < answer.size() && at(i) >> 3 == v1::Response::kRefusalFieldNumber;
}

}  // namespace

std::string predict_frame(std::uint32_t features, std::uint32_t rows, std::uint32_t nonzeros) {
  v1::Request request;
  request.set_id(1);
  v1::Predict& predict = *request.mutable_predict();
  predict.set_rows(rows);
  predict.set_thompson_id(1);  // makes the answer read all draws
  const std::uint32_t a_row = nonzeros > 0 ? nonzeros : features;
  for (std::uint32_t i = 0; i < rows * a_row; ++i) {
    predict.add_features_f64(0.1);
    if (nonzeros == 0) continue;
    predict.add_indices(i % a_row * (features / a_row));
    if ((i + 1) % a_row == 0) predict.add_row_ends(i + 1);
  }
  return framed(request);
}

std::string posterior_frame() {
  v1::Request request;
  request.set_id(1);
  request.mutable_posterior_summary();
  return framed(request);
}

std::string status_frame() {
  v1::Request request;
  request.set_id(1);
  request.mutable_status();
  return framed(request);
}

bool run_promptly(const std::function<void()>& work, bool real_time) {
  const auto run = [&] {
    (void)configure_this_thread({.name = "asks", .slice = std::chrono::microseconds(100)});
    const bool first =
        real_time && configure_this_thread({.name = "asks", .fifo_priority = 1}) == 0;
    work();
    return first;
  };
  return std::async(std::launch::async, run).get();
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

// Asks each kind once, to see that it is answered and not refused.
void QuestionSource::rehearse(Connection& connection) {
  for (const auto& kind : kinds_) {
    const std::string& frame = kind->question.frame;
    v1::Response response;
    if (!write_all(connection.socket, frame.data(), frame.size()) ||
        !receive_response(connection.socket, response) || response.has_refusal()) {
      throw RunError("the server refuses the question \"" + kind->question.name + "\"");
    }
  }
}

std::uint32_t QuestionSource::kind_of(std::uint64_t question) const {
  std::uint32_t chosen = 0;
  for (std::uint32_t k = 0; k < kinds_.size(); ++k) {
    if (question % kinds_[k]->question.every == 0) chosen = k;
  }
  return chosen;
}

std::int64_t QuestionSource::due(std::uint64_t question) const {
  return start_ + static_cast<std::int64_t>(1e9 / rate_ * static_cast<double>(question));
}

// Whether there is room for the next question.
bool QuestionSource::room() const {
  return connections_[asked_ % connections_.size()].count < kMostOpen;
}

void QuestionSource::ask(double seconds) {
  (void)::prctl(PR_SET_TIMERSLACK, 1UL);
  total_ = static_cast<std::uint64_t>(seconds * rate_);
  start_ = now_ns() + 1'000'000;
  const std::int64_t last = start_ + static_cast<std::int64_t>(1e9 * seconds) + kPatienceNs;
  std::array<epoll_event, 64> events;
  while (answered_ < total_) {
    std::int64_t now = now_ns();
    if (now > last) break;
    for (int i = 0; i < kBurst && asked_ < total_ && due(asked_) <= now && room(); ++i) {
      put_question();
      now = now_ns();
    }
    const std::int64_t next = asked_ < total_ && room() ? due(asked_) : last;
    const std::int64_t left = std::max<std::int64_t>(0, next - now);
    const timespec timeout{left / 1'000'000'000, left % 1'000'000'000};
    const int n = ::epoll_pwait2(epoll_, events.data(), events.size(), &timeout, nullptr);
    if (n < 0 && errno != EINTR) throw RunError("epoll_pwait2 is not to be had here");
    for (int i = 0; i < n; ++i) {
      const epoll_event& event = events[static_cast<std::size_t>(i)];
      Connection& connection = connections_[event.data.u32];
      if ((event.events & ~EPOLLOUT) != 0) receive(connection);
      if (connection.unwritten > 0) write(connection);
    }
  }
  give_up();
}

void QuestionSource::put_question() {
  Connection& connection = connections_[asked_ % connections_.size()];
  connection.open[(connection.first + connection.count) % kMostOpen] = {due(asked_), 0,
                                                                        kind_of(asked_)};
  ++connection.count;
  ++connection.unwritten;
  ++asked_;
  write(connection);
}

// Writes as much as the socket takes; the rest follows when it has room.
void QuestionSource::write(Connection& connection) {
  while (connection.unwritten > 0) {
    const std::size_t at = connection.first + connection.count - connection.unwritten;
    Asked& asked = connection.open[at % kMostOpen];
    const std::string& frame = kinds_[asked.kind]->question.frame;
    if (connection.offset == 0) asked.sent = now_ns();
    const ssize_t n = ::send(connection.socket, frame.data() + connection.offset,
                             frame.size() - connection.offset, MSG_NOSIGNAL);
    if (n < 0 && errno == EINTR) continue;
    if (n < 0 && errno == EAGAIN) break;
    if (n < 0) throw RunError("the server closed the connection");
    connection.offset += static_cast<std::size_t>(n);
    if (connection.offset < frame.size()) continue;
    late_.record(now_ns() - asked.due);
    connection.offset = 0;
    --connection.unwritten;
  }
  const bool waits = connection.unwritten > 0;
  if (waits == connection.waits_for_room) return;
  connection.waits_for_room = waits;
  const auto index = static_cast<std::uint32_t>(&connection - connections_.data());
  epoll_event event{waits ? EPOLLIN | EPOLLOUT : EPOLLIN, {.u32 = index}};
  (void)::epoll_ctl(epoll_, EPOLL_CTL_MOD, connection.socket, &event);
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
    const bool whole = scan.kind == FrameScan::kFrame;
    const std::size_t header = frame_header_size(scan.length);
    if (!whole && (scan.kind != FrameScan::kNeedMore || scan.length == 0 ||
                   there < header + std::min<std::size_t>(scan.length, kFirstBytes))) {
      break;
    }
    if (is_refusal(whole ? scan.frame : rest.subspan(header))) ++refused_;
    if (whole) {
      begin += scan.consumed;
      answered(connection, now);
    } else {
      connection.skip = header + scan.length;
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

void QuestionSource::give_up() {
  const std::int64_t now = now_ns();
  for (const Connection& connection : connections_) {
    for (std::size_t i = 0; i < connection.count; ++i) {
      const Asked& asked = connection.open[(connection.first + i) % kMostOpen];
      kinds_[asked.kind]->latency.record(now - asked.due);
      from_send_.record(now - (asked.sent > 0 ? asked.sent : asked.due));
    }
  }
  for (std::uint64_t i = asked_; i < total_; ++i) {
    kinds_[kind_of(i)]->latency.record(now - due(i));
    from_send_.record(now - due(i));
  }
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
