#include "windhover/io/sent_frames.h"

#include <algorithm>
#include <limits>
#include <span>
#include <utility>

#include "windhover/io/frame_channel.h"

namespace windhover {

void SentFrames::clear() { *this = {}; }

void SentFrames::push(SentFrame frame) {
  bytes_ += frame.bytes.size();
  bytes_on_the_way_ += frame.bytes.size();
  rows_on_the_way_ += frame.rows;
  frames_.push_back(std::move(frame));
}

std::size_t SentFrames::acknowledge(std::uint64_t id) {
  const std::size_t before = held_;
  for (; held_ < frames_.size() && frames_[held_].id <= id; ++held_) {
    rows_on_the_way_ -= frames_[held_].rows;
    bytes_on_the_way_ -= frames_[held_].bytes.size();
  }
  return held_ - before;
}

void SentFrames::erase(std::uint64_t id) {
  const auto at = place_of(id);
  bytes_ -= at->bytes.size();
  if (static_cast<std::size_t>(at - frames_.begin()) < held_) {
    --held_;
  } else {
    bytes_on_the_way_ -= at->bytes.size();
    rows_on_the_way_ -= at->rows;
  }
  frames_.erase(at);
}

void SentFrames::trim(std::size_t most_bytes, std::uint64_t durable) {
  while (held_ > 0) {
    const SentFrame& front = frames_.front();
    const bool needed = !front.bytes.empty() && front.first_row + front.rows > durable;
    if (needed && bytes_ <= most_bytes) return;
    bytes_ -= front.bytes.size();
    frames_.pop_front();
    --held_;
  }
}

void SentFrames::begin_at_front() {
  if (frames_.empty()) return;
  SentFrame& frame = frames_.front();
  const std::size_t before = frame.bytes.size();
  const FrameScan scan = scan_frame(std::as_bytes(std::span(frame.bytes)), UINT32_MAX);
  v1::Request request;
  if (!request.ParseFromArray(scan.frame.data(), static_cast<int>(scan.frame.size()))) return;
  request.mutable_observe()->set_begins_here(true);
  frame.bytes.clear();
  append_frame(request, frame.bytes);
  bytes_ += frame.bytes.size() - before;
  if (held_ == 0) bytes_on_the_way_ += frame.bytes.size() - before;
}

std::deque<SentFrame>::const_iterator SentFrames::place_of(std::uint64_t id) const {
  return std::ranges::lower_bound(frames_, id, {}, &SentFrame::id);
}

const SentFrame* SentFrames::find(std::uint64_t id) const {
  const auto at = place_of(id);
  return at != frames_.end() && at->id == id ? &*at : nullptr;
}

std::uint64_t SentFrames::first_kept(std::uint64_t next) const {
  return frames_.empty() ? next : frames_.front().first_sequence;
}

std::uint64_t SentFrames::first_on_the_way(std::uint64_t next) const {
  return held_ < frames_.size() ? frames_[held_].first_sequence : next;
}

std::uint64_t SentFrames::append_held(std::uint64_t from, std::string& out) const {
  std::uint64_t last = 0;
  for (std::size_t i = 0; i < held_; ++i) {
    if (frames_[i].end() <= from) continue;
    out += frames_[i].bytes;
    last = frames_[i].id;
  }
  return last;
}

void SentFrames::append_on_the_way(std::string& out) const {
  for (std::size_t i = held_; i < frames_.size(); ++i) out += frames_[i].bytes;
}

}  // namespace windhover
