#include "windhover/io/stream_account.h"

#include <algorithm>

#include "windhover/io/client_connection.h"

namespace windhover {
namespace {

constexpr std::size_t kMostRefusedKept = 1U << 20;
constexpr std::uint32_t kWholeFrame = UINT32_MAX;

}  // namespace

std::uint64_t StreamAccount::Mark::durable(const v1::ObserveAck& a, std::uint64_t acknowledged) {
  const std::uint64_t there = rows > 0 && a.durable_through() >= head ? rows : 0;
  if (there > 0 || rows == 0) *this = {a.head(), acknowledged};
  return there;
}

void StreamAccount::begin() {
  mark_ = {};
  refused_rows_.clear();
  totals_ = {};
}

void StreamAccount::list_refused(const v1::ObserveAck& a, const SentFrames& frames) {
  const int listed =
      std::min({a.refused_request_size(), a.refused_row_size(), a.refused_reason_size()});
  for (int i = 0; i < listed && refused_rows_.size() < kMostRefusedKept; ++i) {
    const SentFrame* frame = frames.find(a.refused_request(i));
    if (frame == nullptr) continue;
    const Status reason = status_of_reason(a.refused_reason(i));
    const bool whole = a.refused_row(i) == kWholeFrame;
    for (std::uint64_t row = 0; row < (whole ? frame->rows : 1); ++row) {
      refused_rows_.push_back({frame->first_row + (whole ? row : a.refused_row(i)), reason});
    }
  }
}

void StreamAccount::acknowledge(std::uint64_t id, const v1::ObserveAck& a, bool logged,
                                SentFrames& frames) {
  list_refused(a, frames);
  totals_.frames_acknowledged += frames.acknowledge(id);
  totals_.accepted += a.accepted();
  totals_.refused += a.refused();
  totals_.duplicate += a.duplicate();
  const std::uint64_t acknowledged = totals_.sent - totals_.unknown - frames.rows_on_the_way();
  // With LOGGED all that is acknowledged is on disk.
  totals_.durable =
      logged ? acknowledged : std::max(totals_.durable, mark_.durable(a, acknowledged));
}

}  // namespace windhover
