#include "windhover/io/http/http_meters.h"

#include <algorithm>

#include "windhover/io/question_cost.h"

namespace windhover {

std::int64_t HttpMeters::wait_ns(const HttpRequest& request, std::int64_t now_ns) {
  const ConnectionMeter* const meter = meter_of(request, now_ns);
  return meter == nullptr ? 0 : meter->wait_ns(now_ns);
}

void HttpMeters::refuse(const HttpRequest& request, bool broken, std::int64_t now_ns) {
  ConnectionMeter* const meter = meter_of(request, now_ns);
  if (meter == nullptr) return;
  const std::uint32_t frames = broken ? 1 : 0;
  if (meter->wait_ns(now_ns) > 0) return meter->refused(frames, request.bytes, now_ns);
  meter->read(request.bytes, now_ns);
  meter->handled(frames, 0, broken ? QuestionCost::kFrameNs : 0, now_ns);
}

void HttpMeters::charge(const HttpRequest& request, bool question, std::int64_t cost_ns,
                        std::int64_t now_ns) {
  ConnectionMeter* const meter = meter_of(request, now_ns);
  if (meter == nullptr) return;
  meter->read(request.bytes, now_ns);
  meter->handled(1, question ? 1 : 0, cost_ns, now_ns);
}

// A peer without a valid token is known by its address, whatever token it shows.
ConnectionMeter* HttpMeters::meter_of(const HttpRequest& request, std::int64_t now_ns) {
  const bool known =
      access_ != nullptr && access_->has_file() && access_->anywhere(request.who).any();
  const Credential& who = known ? request.who : request.from;
  const ConnectionLimits limits = known ? access_->limits(who).in_place_of(all_) : all_;
  if (!limits.any()) return nullptr;
  auto found = std::ranges::find_if(entries_, [&](const Entry& e) { return e.who.same_as(who); });
  if (found == entries_.end()) {
    if (entries_.size() < kMost) {
      found = entries_.emplace(entries_.end());
    } else {
      found = std::ranges::min_element(entries_, {}, &Entry::used_ns);
    }
    found->who = who;
    found->meter.begin(limits);
  }
  found->used_ns = now_ns;
  found->meter.change(limits);
  return &found->meter;
}

}  // namespace windhover
