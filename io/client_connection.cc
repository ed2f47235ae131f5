#include "windhover/io/client_connection.h"

#include <algorithm>
#include <utility>

namespace windhover {
namespace {

// "sequence_gap" for REASON_SEQUENCE_GAP.
std::string label_of(v1::Reason reason) {
  constexpr std::string_view kPrefix = "REASON_";
  std::string label = v1::Reason_Name(reason);
  if (label.size() < kPrefix.size()) return "reason " + std::to_string(static_cast<int>(reason));
  label.erase(0, kPrefix.size());
  std::transform(label.begin(), label.end(), label.begin(), [](char c) {
    return c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c;
  });
  return label;
}

// The label, and for some reasons what would help.
std::string text_of(const v1::Refusal& refusal) {
  const std::string label = label_of(refusal.reason());
  if (refusal.reason() == v1::REASON_WRONG_DIMENSION && refusal.number() > 0) {
    return label + ": the model has " + std::to_string(refusal.number()) + " features";
  }
  if (refusal.reason() == v1::REASON_TABLE_FULL) {
    return label + ": the server knows " + std::to_string(refusal.number()) +
           " producers, and no more may be known, of all or of this identity";
  }
  if (refusal.reason() != v1::REASON_NOT_PERMITTED) return label;
  switch (refusal.number()) {
    case 1:
      return label + ": this identity has not the role observe here";
    case 2:
      return label + ": this identity has not the role query here";
    case 4:
      return label + ": this identity has not the role admin here";
    default:
      return label + ": it knows no identity that may come here by this token, certificate or user";
  }
}

}  // namespace

Status status_of_reason(std::uint32_t reason) {
  return reason > 0 && reason < static_cast<std::uint32_t>(Status::kCount)
             ? static_cast<Status>(reason)
             : Status::kRefused;
}

// --- Errors

Status ClientConnection::fail(Status status, std::string text, std::uint64_t number) {
  error_ = {std::move(text), v1::REASON_OK, number};
  return status;
}

Status ClientConnection::fail_closed(Status status, std::string text, std::uint64_t number) {
  close();
  return fail(status, std::move(text), number);
}

Status ClientConnection::fail_refused(v1::Reason reason, std::string text, std::uint64_t number) {
  error_ = {std::move(text), reason, number};
  return Status::kRefused;
}

Status ClientConnection::refused(const v1::Refusal& refusal) {
  const Status status = status_of_reason(static_cast<std::uint32_t>(refusal.reason()));
  if (refusal.closing()) close();
  (void)fail_refused(refusal.reason(), "the server refuses: " + text_of(refusal), refusal.number());
  return status;
}

// --- Connecting

Status ClientConnection::open(const Address& address, const ClientOptions& options) {
  close();
  reply_timeout_ = options.reply_timeout;
  std::string why;
  if (const Status status = channel_.connect(address, options.connect_timeout, why, options.tls);
      !ok(status)) {
    return fail(status, "cannot connect: " + why);
  }
  v1::Request request;
  request.mutable_hello()->set_version_min(1);
  request.mutable_hello()->set_version_max(1);
  request.mutable_hello()->set_model_fingerprint(options.fingerprint);
  request.mutable_hello()->set_durability(options.durability);
  request.mutable_hello()->set_model(options.model);
  request.mutable_hello()->set_token(options.token);
  v1::Response response;
  if (const Status status = ask(request, response); !ok(status)) return status;
  if (!response.has_welcome()) {
    return fail_closed(Status::kMalformed, "the server's first answer is not a welcome");
  }
  welcome_ = response.welcome();
  if (!options.model.empty() && welcome_.model_name() != options.model) {
    close();
    return fail_refused(v1::REASON_UNKNOWN_MODEL, "the server does not know models by their names");
  }
  if (options.durability == v1::DURABILITY_LOGGED &&
      welcome_.durability() != v1::DURABILITY_LOGGED) {
    close();
    return fail_refused(v1::REASON_NOT_DURABLE, "the server does not know what a log is");
  }
  return Status::kOk;
}

void ClientConnection::close() {
  channel_.close();
  answers_.clear();
}

// --- Bytes

Status ClientConnection::receive_bytes(bool to_send) {
  if (const Status status = channel_.wait(to_send, reply_timeout_); !ok(status)) {
    return status == Status::kTimeout ? fail(status, "the server does not answer")
                                      : fail(status, "not connected");
  }
  const Status status = channel_.receive_some();
  if (ok(status)) return status;
  for (const v1::Response& answer : answers_) {
    if (answer.has_refusal() && answer.refusal().closing()) {
      return refused(v1::Refusal(answer.refusal()));
    }
  }
  return fail_closed(status, "the server has closed the connection");
}

Status ClientConnection::flush() {
  Status result = Status::kOk;
  while (channel_.pending_bytes() > 0) {
    std::size_t sent = 0;
    const Status status = channel_.send_some(sent);
    if (ok(status) && sent > 0) continue;
    // The socket has no room, or the server is gone and may have said why before.
    Status received = receive_bytes(ok(status));
    if (const Status taken = take_in_all(); !ok(taken)) result = taken;
    if (!ok(received)) return ok(result) ? received : result;
    if (!connected()) return result;
  }
  return result;
}

// --- Responses

Status ClientConnection::take_in_all() {
  Status result = Status::kOk;
  for (;;) {
    const FrameScan scan = channel_.next_frame();
    if (scan.kind == FrameScan::kNeedMore) return result;
    v1::Response response;
    if (scan.kind != FrameScan::kFrame ||
        !response.ParseFromArray(scan.frame.data(), static_cast<int>(scan.frame.size()))) {
      return fail_closed(Status::kMalformed, "the server's answer cannot be read");
    }
    Status status = Status::kOk;
    if (!take_in(response, status)) answers_.push_back(std::move(response));
    if (!ok(status) && ok(result)) result = status;
  }
}

Status ClientConnection::send(v1::Request& request) {
  if (!connected()) return fail(Status::kClosed, "not connected");
  request.set_id(next_id());
  channel_.append(request);
  return flush();
}

Status ClientConnection::receive(v1::Response& response) {
  for (;;) {
    if (const Status taken = take_in_all(); !ok(taken)) return taken;
    if (!answers_.empty()) {
      response = std::move(answers_.front());
      answers_.pop_front();
      return Status::kOk;
    }
    if (const Status received = receive_bytes(false); !ok(received)) return received;
  }
}

Status ClientConnection::ask(v1::Request& request, v1::Response& response) {
  if (const Status status = send(request); !ok(status)) return status;
  do {
    if (const Status status = receive(response); !ok(status)) return status;
  } while (response.id() != request.id() &&
           !(response.has_refusal() && response.refusal().closing()));
  return response.has_refusal() ? refused(response.refusal()) : Status::kOk;
}

Status ClientConnection::producer_status(std::uint64_t producer, v1::ProducerStatusResult& result) {
  v1::Request message;
  message.mutable_producer_status()->set_producer(producer);
  v1::Response response;
  if (const Status status = ask(message, response); !ok(status)) return status;
  if (!response.has_producer_status_result()) {
    return fail_closed(Status::kMalformed, "the server does not say where the producer stands");
  }
  result = response.producer_status_result();
  return Status::kOk;
}

}  // namespace windhover
