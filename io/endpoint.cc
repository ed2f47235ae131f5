#include "windhover/io/endpoint.h"

#include <algorithm>
#include <array>
#include <cerrno>
#include <exception>
#include <thread>
#include <vector>

#include <sys/eventfd.h>
#include <unistd.h>

#include "windhover/io/access/access.h"

namespace windhover {
namespace {

using std::chrono::milliseconds;
using std::chrono::nanoseconds;

constexpr auto kDutyPause = std::chrono::microseconds(100);
// After a fault, which may come again at once.
constexpr auto kFaultPause = milliseconds(10);

}  // namespace

Endpoint::Endpoint(EndpointKind kind, EndpointMemory& memory, ServerState& state)
    : kind_(kind),
      memory_(memory),
      state_(state),
      io_(1),
      operator_place_(memory.sessions.last(kOperatorSessions),
                      state.access != nullptr && state.access->has_file()),
      tcp_(io_, *this, state.counters),
      unix_(io_, *this, state.counters),
      inner_(io_, *this, state.counters),
      wake_(io_),
      sweep_(io_, state.counters),
      retry_(io_, state.counters),
      deadline_(io_, state.counters),
      duty_(io_, state.counters),
      settle_(io_, state.counters),
      tokens_(io_, state.counters),
      pause_(io_, state.counters) {
  wake_memory_.count_in(state.counters);
  next_memory_.count_in(state.counters);
  memory_.long_predict.reset();
  memory_.queue.reset();
  memory_.context.places = this;
  for (Session& session : memory_.sessions) session.bind(io_, *this);
}

Endpoint::~Endpoint() {
  tcp_.close();
  unix_.close();
  inner_.close();
  for (Session& session : memory_.sessions) session.abort();
  ErrorCode ignored;
  wake_.close(ignored);
  for (Alarm* alarm : {&sweep_, &retry_, &deadline_, &duty_, &settle_, &tokens_, &pause_})
    alarm->cancel();
  stopping_ = true;
  io_.restart();
  // Cancelled operations come back before the memory they lie in goes.
  try {
    io_.poll();
  } catch (const std::exception&) {
    state_.counters.add(IoCounter::kSocketErrors);
  }
  for (Session& session : memory_.sessions) std::destroy_at(&session);
}

Result<bool> Endpoint::open(const ServerConfig& config, const ListenConfig& listen) {
  const milliseconds shortest =
      std::min({config.hello_timeout, config.frame_timeout, config.idle_timeout,
                config.write_timeout, config.answer_timeout, config.wait_timeout});
  sweep_period_ = std::clamp(shortest / 4, milliseconds(10), milliseconds(1000));

  wake_fd_ = ::eventfd(0, EFD_NONBLOCK | EFD_CLOEXEC);
  ErrorCode error;
  if (wake_fd_ >= 0) wake_.assign(wake_fd_, error);
  if (wake_fd_ < 0 || error) {
    return Error{Status::kIoError, "no descriptor to wake the server with", double(errno), true};
  }
  const char* const name = kind_ == EndpointKind::kObserve ? "observe" : "query";
  if (!listen.tcp_address.empty()) {
    Result<bool> opened = tcp_.open_tcp(name, listen.tcp_address, listen.tcp_port);
    if (!opened.ok()) return opened;
  }
  if (!listen.unix_path.empty()) {
    const bool for_others = state_.access != nullptr && state_.access->has_file();
    Result<bool> opened = unix_.open_unix(name, listen.unix_path, for_others);
    if (!opened.ok()) return opened;
  }
  if (const Status status = warm_up(); !ok(status)) {
    return Error{status,
                 "not enough descriptors for twice max_sessions; raise the limit (ulimit -n)",
                 EMFILE, true};
  }
  arm_wake();
  tcp_.start();
  unix_.start();
  arm_sweep();
  return true;
}

Result<bool> Endpoint::open_inner(std::string& path) {
  Result<bool> opened = inner_.open_inner(path);
  if (opened.ok()) inner_.start();
  return opened;
}

Status Endpoint::warm_up() {
  {
    // As many as there can be at one time: the sessions', and one more of each listener.
    std::vector<Stream> sockets;
    for (std::size_t i = 0; i < memory_.sessions.size() + 3; ++i) {
      sockets.emplace_back(io_);
      ErrorCode error;
      sockets.back().open(asio::ip::tcp::v4(), error);
      if (error) return Status::kUnavailable;
    }
  }
  const std::array alarms = {&sweep_, &retry_, &deadline_, &duty_, &settle_, &tokens_, &pause_};
  for (Alarm* alarm : alarms) alarm->after(std::chrono::hours(1), [](const ErrorCode&) {});
  tcp_.warm_up();
  unix_.warm_up();
  inner_.warm_up();
  for (Alarm* alarm : alarms) alarm->cancel();
  tcp_.cool_down();
  unix_.cool_down();
  inner_.cool_down();
  io_.poll();
  io_.restart();
  return Status::kOk;
}

void Endpoint::run() noexcept {
  changes_.begin();
  if (duties_ != nullptr && !on_duty_) do_duty();  // who gave a model before has begun it
  while (!serve() && !stopping_) std::this_thread::sleep_for(kFaultPause);
  changes_.end();
}

// Until it has stopped; false: something threw. Ours throw nothing, but Asio does where the system
// fails it. What has not been called yet is called when it goes on.
bool Endpoint::serve() noexcept {
  try {
    io_.run();
    return true;
  } catch (const std::exception&) {
    state_.counters.add(IoCounter::kEndpointFaults);
    return false;
  }
}

void Endpoint::request_stop() noexcept {
  stop_requested_.store(true, std::memory_order_release);
  wake();
}

void Endpoint::wake() noexcept {
  const std::uint64_t one = 1;
  [[maybe_unused]] const auto written = ::write(wake_fd_, &one, sizeof one);
}

void Endpoint::arm_wake() noexcept {
  wake_.async_wait(Descriptor::wait_read, with_memory(wake_memory_, [this](const ErrorCode& error) {
                     if (!error) on_wake();
                   }));
}

void Endpoint::on_wake() noexcept {
  std::uint64_t count = 0;
  [[maybe_unused]] const auto bytes = ::read(wake_fd_, &count, sizeof count);
  changes_.look([this](const PlaceChange& entry) { change_here(entry); });
  if (duties_ != nullptr) duties_->on_wake();
  for (Session& session : memory_.sessions) session.on_durable();
  const bool stops = !stopping_ && stop_requested_.load(std::memory_order_acquire);
  if (stops) stop();
  if (!stopping_ || open_sessions_ > 0) arm_wake();
}

// A little at a time, so that who asks is answered meanwhile.
void Endpoint::do_duty() noexcept {
  on_duty_ = !stopping_ && duties_->go_on();
  if (!on_duty_) return;
  duty_.after(kDutyPause, [this](const ErrorCode& error) {
    if (!error) do_duty();
  });
}

void Endpoint::arm_sweep() noexcept {
  sweep_.after(sweep_period_, [this](const ErrorCode& error) {
    if (!error) sweep();
  });
}

void Endpoint::sweep() noexcept {
  const std::int64_t now_ns = state_.clock->now_ns();
  state_.of(kind_).beat_ns.store(now_ns, std::memory_order_relaxed);
  for (Session& session : memory_.sessions) session.check_timeouts(now_ns);
  leave_lines();
  if (!settle_armed_) settle();
  if (!stopping_ || open_sessions_ > 0) arm_sweep();
}

// A little at a time, as a duty is done.
void Endpoint::settle() noexcept {
  bool more = false;
  for (const ModelContext& model : memory_.models) {
    if (model.model == nullptr || model.producers == nullptr) continue;
    more = settle_labels(model, state_) || more;
  }
  if (!more || stopping_) return;
  settle_armed_ = true;
  settle_.after(kDutyPause, [this](const ErrorCode& error) {
    settle_armed_ = false;
    if (!error) settle();
  });
}

void Endpoint::stop() noexcept {
  stopping_ = true;
  tcp_.close();
  unix_.close();
  inner_.close();
  deadline_.after(nanoseconds(state_.limits.drain_timeout_ns), [this](const ErrorCode& error) {
    if (error) return;
    for (Session& session : memory_.sessions) session.abort();
  });
  for (Session& session : memory_.sessions) session.drain();
  finish_if_idle();
}

// Without timers run() returns by itself once the last operation has come back.
void Endpoint::finish_if_idle() noexcept {
  if (open_sessions_ > 0) return;
  for (Alarm* alarm : {&sweep_, &retry_, &deadline_, &duty_, &settle_, &tokens_, &pause_})
    alarm->cancel();
  ErrorCode ignored;
  wake_.cancel(ignored);
}

}  // namespace windhover
