#include "windhover/tools/client/send_place.h"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <thread>

#include "windhover/tools/client/answers.h"
#include "windhover/tools/error.h"

namespace windhover {
namespace {

using std::chrono::milliseconds;
using std::chrono::steady_clock;

// How long the server may take to notice that an older connection of the producer is closed.
constexpr milliseconds kOldConnection{5'000};

ClientOptions client_options(const SendOptions& o, std::uint64_t first_sequence) {
  ClientOptions options = o.connection;
  options.producer = o.producer;
  options.first_sequence = first_sequence;
  options.durability = o.durable ? v1::DURABILITY_LOGGED : v1::DURABILITY_UNSPECIFIED;
  options.wire_float = o.wire_float;
  options.resend_bytes = o.resend_bytes;
  options.retry_for = milliseconds(static_cast<std::int64_t>(
      1000 * std::min(o.retry_for, 1e9)));  // seconds; 1e9 of them are for ever
  return options;
}

// Connects, waiting for a server that is being started or has no place for a moment.
void connect(Client& client, const SendOptions& o, std::uint64_t first_sequence) {
  const auto begin = steady_clock::now();
  bool said = false;
  for (;;) {
    const Status status = client.connect(o.address, client_options(o, first_sequence));
    const auto waited = steady_clock::now() - begin;
    const bool busy = client.refusal() == v1::REASON_PRODUCER_BUSY;
    if (!ok(status) && busy && waited < kOldConnection) {
      std::this_thread::sleep_for(milliseconds(20));
      continue;
    }
    if (status == Status::kUnavailable && waited < std::chrono::duration<double>(o.wait)) {
      if (!said && o.on_note) {
        o.on_note(fmt::format("{}: {}; waiting {:g} s for it, as it may be starting", o.address,
                              client.error_text(), o.wait));
      }
      said = true;
      std::this_thread::sleep_for(milliseconds(20));
      continue;
    }
    if (!ok(status) && client.refusal() == v1::REASON_NOT_DURABLE) {
      throw UserError(
          fmt::format("--durable: {} keeps no log; without --durable a row counts as "
                      "accepted once it is in the server's memory",
                      o.address));
    }
    if (status == Status::kInvalidArgument) throw UserError(client.error_text());
    check_reply(client, status, "connecting");
    return;
  }
}

}  // namespace

void check_options(const SendOptions& o) {
  if (o.batch < 1) throw UserError("--batch 0 is not allowed: at least 1 is expected");
  if (o.producer == 0 && (o.first_sequence || o.resume || o.append)) {
    throw UserError(fmt::format("{} is not allowed without --producer", o.first_sequence
                                                                            ? "--first-sequence"
                                                                        : o.resume ? "--resume"
                                                                                   : "--append"));
  }
  if (o.append && (o.resume || o.first_sequence)) {
    throw UserError(
        fmt::format("--append is not allowed with {}", o.resume ? "--resume" : "--first-sequence"));
  }
  if (!(o.retry_for >= 0)) {
    throw UserError(
        fmt::format("--retry-for {} is not allowed: at least 0 is expected", o.retry_for));
  }
  if (!(o.wait >= 0)) {
    throw UserError(fmt::format("--wait {} is not allowed: at least 0 is expected", o.wait));
  }
  if (!(o.rate >= 0)) {
    throw UserError(fmt::format("--rate {} is not allowed: at least 0 is expected", o.rate));
  }
}

SendPlace connect_at_place(Client& client, const SendOptions& o) {
  SendPlace place;
  place.first = place.from = o.first_sequence.value_or(0);
  connect(client, o, place.from);
  if (!client.welcome().observes()) {
    throw UserError(
        fmt::format("{} is the query endpoint; send to the observe endpoint", o.address));
  }
  if (o.producer == 0) return place;
  const std::uint64_t next = client.producer().next();
  if (place.first > next) {
    throw UserError(
        fmt::format("--first-sequence {} would leave a gap: of producer {} the server "
                    "expects row {} next",
                    place.first, o.producer, next));
  }
  if (o.append) place.first = next;
  if (o.append || o.resume) {
    place.from = next;
  } else if (next > 0 && !o.first_sequence) {
    throw UserError(fmt::format(
        "the server has {} rows of producer {} already: say --resume if they are the first ones of "
        "this file, which are then passed over, or --append if this file's rows come after them",
        next, o.producer));
  }
  if (place.from != o.first_sequence.value_or(0)) connect(client, o, place.from);
  return place;
}

}  // namespace windhover
