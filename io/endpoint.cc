#include "windhover/io/endpoint.h"

#include <algorithm>
#include <cerrno>
#include <exception>
#include <thread>
#include <vector>

#include "windhover/io/access/access.h"

namespace windhover {
namespace {

using std::chrono::milliseconds;
using std::chrono::nanoseconds;

// The pause after a fault, which may come again at once.
constexpr auto kFaultPause = milliseconds(10);

// Settles some rows whose key has timed out, for each model that takes rows here. True: there may
// be more.
bool settle_some(std::span<const ModelContext> models, ServerState& state) noexcept {
  bool more = false;
  for (const ModelContext& model : models) {
    if (model.model == nullptr || model.producers == nullptr) continue;
    more = settle_labels(model, state) || more;
  }
  return more;
}

}  // namespace

Endpoint::Endpoint(EndpointKind kind, EndpointMemory& memory, ServerState& state)
    : kind_(kind),
      memory_(memory),
      state_(state),
      io_(1),
      turns_(kind, io_, memory, state),
      waits_(io_, memory.sessions, state.counters),
      places_(kind, memory, state, turns_),
      tcp_(io_, places_, state.counters),
      unix_(io_, places_, state.counters),
      inner_(io_, places_, state.counters),
      waker_(io_, state.counters),
      sweep_(io_, state.counters),
      deadline_(io_, state.counters),
      duty_(io_, state.counters),
      settle_(io_, state.counters) {
  memory_.long_predict.reset();
  memory_.queue.reset();
  memory_.context.places = &places_;
  for (Session& session : memory_.sessions) session.bind(io_, *this, turns_);
}

Endpoint::~Endpoint() {
  tcp_.close();
  unix_.close();
  inner_.close();
  for (Session& session : memory_.sessions) session.abort();
  waker_.close();
  cool_down();
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

  if (!waker_.open()) {
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
    // As many sockets as there can be at one time: one a session, and one more for each listener.
    std::vector<Stream> sockets;
    for (std::size_t i = 0; i < memory_.sessions.size() + 3; ++i) {
      sockets.emplace_back(io_);
      ErrorCode error;
      sockets.back().open(asio::ip::tcp::v4(), error);
      if (error) return Status::kUnavailable;
    }
  }
  sweep_.warm_up();
  deadline_.warm_up();
  duty_.warm_up();
  settle_.warm_up();
  turns_.warm_up();
  waits_.warm_up();
  tcp_.warm_up();
  unix_.warm_up();
  inner_.warm_up();
  cool_down();
  tcp_.cool_down();
  unix_.cool_down();
  inner_.cool_down();
  io_.poll();
  io_.restart();
  return Status::kOk;
}

// Cancels its timers.
void Endpoint::cool_down() noexcept {
  sweep_.cancel();
  deadline_.cancel();
  duty_.cancel();
  settle_.cancel();
  turns_.cool_down();
  waits_.cool_down();
}

void Endpoint::on_pause(Session&) noexcept { waits_.for_room(); }
void Endpoint::on_throttle(Session&) noexcept { waits_.for_tokens(); }
void Endpoint::on_free(Session&) noexcept {
  places_.give_back();
  if (stopping_) finish_if_idle();
}

void Endpoint::run() noexcept {
  changes_.begin();
  do_duty();  // begins what was asked for before, such as a new model
  while (!serve() && !stopping_) std::this_thread::sleep_for(kFaultPause);
  changes_.end();
}

// Runs until it has stopped. False: something threw; Asio does where a system call fails. Handlers
// that have not been called yet are called when it goes on.
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

void Endpoint::arm_wake() noexcept {
  waker_.wait([this] { on_wake(); });
}

void Endpoint::on_wake() noexcept {
  changes_.look([this](const PlaceChange& entry) { change_here(entry); });
  if (duties_ != nullptr) duties_->on_wake();
  for (Session& session : memory_.sessions) session.on_durable();
  const bool stops = !stopping_ && stop_requested_.load(std::memory_order_acquire);
  if (stops) stop();
  if (!stopping_ || places_.taken() > 0) arm_wake();
}

// A little at a time, so that questions are answered meanwhile.
void Endpoint::do_duty() noexcept {
  if (duties_ == nullptr) return;
  duty_.begin([this] { return !stopping_ && duties_->go_on(); });
}

void Endpoint::arm_sweep() noexcept {
  sweep_.after(sweep_period_, [this](const ErrorCode& error) {
    if (!error) sweep();
  });
}

void Endpoint::sweep() noexcept {
  const std::int64_t now_ns = state_.now_ns();
  state_.of(kind_).beat_ns.store(now_ns, std::memory_order_relaxed);
  for (Session& session : memory_.sessions) session.check_timeouts(now_ns);
  waits_.leave_lines();
  settle_.begin([this] { return settle_some(memory_.models, state_) && !stopping_; });
  if (!stopping_ || places_.taken() > 0) arm_sweep();
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
  if (places_.taken() > 0) return;
  cool_down();
  waker_.cancel();
}

}  // namespace windhover
