// How a client sends rows and waits for their acknowledgements.
#include <algorithm>
#include <utility>

#include "windhover/io/client_stream.h"
#include "windhover/io/producer_table.h"

namespace windhover {
namespace {

constexpr std::size_t kWriteBytes = 64 * 1024;
constexpr std::size_t kFrameOverhead = 128;  // tags, lengths and numbers of an Observe

template <class To>
void copy_values(std::span<const double> from, To* to) {
  to->Reserve(static_cast<int>(from.size()));
  for (const double value : from) {
    to->AddAlreadyReserved(static_cast<typename To::value_type>(value));
  }
}

template <class To>
void copy_offsets(std::span<const std::uint32_t> from, std::uint32_t base, To* to) {
  to->Reserve(static_cast<int>(from.size()));
  for (const std::uint32_t value : from) to->AddAlreadyReserved(value - base);
}

// How many rows from `first` on fit into one frame.
std::size_t rows_that_fit(const ObserveRows& rows, std::size_t first, const ClientOptions& options,
                          const v1::Welcome& welcome) {
  const std::size_t value = options.wire_float ? sizeof(float) : sizeof(double);
  const std::size_t room =
      welcome.frame_cap() > kFrameOverhead ? welcome.frame_cap() - kFrameOverhead : 0;
  std::size_t limit = std::min<std::size_t>(rows.targets.size() - first, welcome.max_rows());
  if (options.max_rows_per_frame > 0) limit = std::min(limit, options.max_rows_per_frame);
  std::size_t extras = 0;
  for (const auto* of_each : {&rows.offsets, &rows.weights, &rows.trials}) {
    if (!of_each->empty()) extras += sizeof(double);
  }
  if (rows.row_ends.empty()) {
    const std::size_t columns = rows.features.size() / rows.targets.size();
    return std::min(limit, room / ((columns + 1) * value + extras));
  }
  const std::size_t begin = first == 0 ? 0 : rows.row_ends[first - 1];
  std::size_t count = 0;
  while (count < limit) {
    const std::size_t values = rows.row_ends[first + count] - begin;
    if (values * (value + 4) + (count + 1) * (value + 4 + extras) > room) break;
    ++count;
  }
  return count;
}

// Fills in rows `first` to `first + count - 1`.
void fill_rows(const ObserveRows& rows, std::size_t first, std::size_t count, bool wire_float,
               v1::Observe* observe) {
  observe->set_rows(static_cast<std::uint32_t>(count));
  std::size_t begin = 0;
  std::size_t end = 0;
  if (rows.row_ends.empty()) {
    const std::size_t columns = rows.features.size() / rows.targets.size();
    begin = first * columns;
    end = begin + count * columns;
  } else {
    begin = first == 0 ? 0 : rows.row_ends[first - 1];
    end = rows.row_ends[first + count - 1];
    copy_offsets(rows.indices.subspan(begin, end - begin), 0, observe->mutable_indices());
    copy_offsets(rows.row_ends.subspan(first, count), static_cast<std::uint32_t>(begin),
                 observe->mutable_row_ends());
  }
  const auto features = rows.features.subspan(begin, end - begin);
  const auto targets = rows.targets.subspan(first, count);
  if (wire_float) {
    copy_values(features, observe->mutable_features_f32());
    copy_values(targets, observe->mutable_targets_f32());
  } else {
    observe->mutable_features_f64()->Add(features.begin(), features.end());
    observe->mutable_targets_f64()->Add(targets.begin(), targets.end());
  }
  const auto copy_extras = [&](std::span<const double> from, auto* to) {
    if (from.empty()) return;
    from = from.subspan(first, count);
    to->Add(from.begin(), from.end());
  };
  copy_extras(rows.offsets, observe->mutable_offsets());
  copy_extras(rows.weights, observe->mutable_weights());
  copy_extras(rows.trials, observe->mutable_trials());
}

}  // namespace

Status ClientStream::send_frame(const ObserveRows& rows, std::size_t first, std::size_t count) {
  v1::Observe* observe = scratch_.mutable_observe();
  observe->Clear();
  scratch_.set_id(next_id());
  if (resends()) {
    observe->set_producer(options_.producer);
    observe->set_first_sequence(next_sequence_);
    // A drawn producer goes on behind frames that were refused: they are not sent again.
    observe->set_begins_here(beginning_.here || is_passing(options_.producer));
  }
  fill_rows(rows, first, count, options_.wire_float, observe);
  const std::string_view bytes = channel().append(scratch_);
  frames_.push({scratch_.id(), account_.totals().sent, next_sequence_, count,
                std::string(resends() ? bytes : "")});
  frames_.trim(options_.resend_bytes, account_.totals().durable);
  next_sequence_ += count;
  account_.totals().sent += count;
  ++account_.totals().frames_sent;
  const auto few = [this] { return frames_.bytes_on_the_way() <= options_.resend_bytes; };
  if (!few()) {
    const Status status = flush();
    return ok(status) ? wait_until(few) : status;
  }
  return channel().pending_bytes() < kWriteBytes ? Status::kOk : flush();
}

Status ClientStream::send_observe(const ObserveRows& rows) {
  const std::size_t count = rows.targets.size();
  const bool sparse = !rows.row_ends.empty();
  const bool shaped = sparse ? rows.row_ends.size() == count &&
                                   rows.indices.size() == rows.features.size() &&
                                   rows.row_ends.back() == rows.features.size() &&
                                   std::is_sorted(rows.row_ends.begin(), rows.row_ends.end())
                             : count == 0 || rows.features.size() % count == 0;
  const auto one_a_row = [&](std::span<const double> numbers) {
    return numbers.empty() || numbers.size() == count;
  };
  if (!shaped || !one_a_row(rows.offsets) || !one_a_row(rows.weights) || !one_a_row(rows.trials)) {
    return fail(Status::kInvalidArgument, "the arrays do not belong to as many rows");
  }
  if (!connected()) return fail(Status::kClosed, "not connected");
  if (!rows.offsets.empty() && !welcome().takes_offsets()) {
    return fail(Status::kOffsetNotTaken, "the server's model has no offset: model.offset is false");
  }
  if (!rows.weights.empty() && !welcome().takes_weights()) {
    return fail(Status::kWeightNotTaken,
                "the server's model counts every row once: model.weight is false");
  }
  if (!rows.trials.empty() && !welcome().takes_trials()) {
    return fail(Status::kTrialsNotTaken, "the server's model has no trials: it is not binomial");
  }
  if (count > 0 && rows.trials.empty() && welcome().takes_trials()) {
    return fail(Status::kTrialsMissing,
                "the server's model is binomial: each row needs the number of its trials");
  }
  for (std::size_t first = 0; first < count;) {
    const std::size_t fit = rows_that_fit(rows, first, options_, welcome());
    if (fit == 0) {
      return fail(Status::kTooLarge, "a row is larger than a frame may be", welcome().frame_cap());
    }
    if (const Status status = send_frame(rows, first, fit); !ok(status)) return status;
    first += fit;
  }
  return Status::kOk;
}

Status ClientStream::poll_acknowledgements() {
  while (ok(channel().wait(false, std::chrono::milliseconds(0)))) {
    const Status received = receive_bytes(false);
    if (const Status taken = take_in_all(); !ok(taken)) return taken;
    if (!ok(received)) return received;
  }
  return Status::kOk;
}

// Takes in what comes until `done`, or until the connection ends.
Status ClientStream::wait_until(const std::function<bool()>& done) {
  Status result = Status::kOk;
  while (!done() && connected()) {
    if (const Status taken = take_in_all(); !ok(taken)) result = taken;
    if (done() || !connected()) break;
    if (const Status received = receive_bytes(false); !ok(received)) return received;
  }
  if (ok(result) && !done()) return fail(Status::kClosed, "not connected");
  return result;
}

Status ClientStream::wait_acknowledged() {
  Status result = flush();
  if (rows_lost_) {
    rows_lost_ = false;
    return fail(Status::kClosed, "rows were on their way when the connection broke");
  }
  const Status waited = wait_until([this] { return outstanding_frames() == 0; });
  return ok(result) ? waited : result;
}

Status ClientStream::observe(const ObserveRows& rows) {
  const Status status = send_observe(rows);
  return ok(status) ? wait_acknowledged() : status;
}

}  // namespace windhover
