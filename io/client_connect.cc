// How a client connects and asks where its stream stands.
#include "windhover/io/client.h"

namespace windhover {
Status Client::connect(std::string_view address, const ClientOptions& options) {
  close();
  if (!parse_address(address, address_)) {
    return fail(Status::kInvalidArgument,
                std::string(address) + ": expected host:port, [v6]:port or unix:/path");
  }
  options_ = options;
  frames_.clear();
  held_ = kept_bytes_ = on_the_way_bytes_ = 0;
  next_sequence_ = options.first_sequence;
  begins_here_ = options.begins_here;
  begin_sequence_ = options.first_sequence;
  missing_ = {};
  restoring_until_ = instance_ = accepted_there_ = 0;
  mark_ = {};
  producer_ = {};
  refused_rows_.clear();
  totals_ = {};
  outstanding_rows_ = 0;
  rows_lost_ = false;
  next_id_ = 1;
  const Status status = open_connection();
  instance_ = welcome_.instance_id();
  return ok(status) && options_.producer != 0 && welcome_.observes() ? ask_producer() : status;
}

Status Client::open_connection() {
  close();
  std::string why;
  if (const Status status = socket_.connect(address_, options_.connect_timeout, why); !ok(status)) {
    return fail(status, "cannot connect: " + why);
  }
  v1::Request request;
  request.mutable_hello()->set_version_min(1);
  request.mutable_hello()->set_version_max(1);
  request.mutable_hello()->set_model_fingerprint(options_.fingerprint);
  request.mutable_hello()->set_durability(options_.durability);
  v1::Response response;
  if (const Status status = ask(request, response); !ok(status)) return status;
  if (!response.has_welcome()) {
    return fail_closed(Status::kMalformed, "the server's first answer is not a welcome");
  }
  welcome_ = response.welcome();
  if (options_.durability == v1::DURABILITY_LOGGED &&
      welcome_.durability() != v1::DURABILITY_LOGGED) {
    (void)fail_closed(Status::kRefused, "the server does not know what a log is");
    refusal_ = v1::REASON_NOT_DURABLE;
    return Status::kRefused;
  }
  return Status::kOk;
}

// Where the stream stands, and whether an older connection still speaks for it. Claims nothing.
Status Client::ask_producer() {
  if (const Status status = producer_status(options_.producer, producer_); !ok(status)) {
    return status;
  }
  totals_.producer_next = producer_.next();
  if (!producer_.live()) return Status::kOk;
  (void)fail_closed(Status::kRefused, "another connection speaks for this producer");
  refusal_ = v1::REASON_PRODUCER_BUSY;
  return Status::kRefused;
}

void Client::close() {
  socket_.close();
  out_.clear();
  out_begin_ = in_begin_ = in_end_ = 0;
  answers_.clear();
}

}  // namespace windhover
