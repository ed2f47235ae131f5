#include "windhover/io/frame_channel.h"

#include <cstdint>
#include <cstring>
#include <span>

namespace windhover {
namespace {

constexpr std::size_t kReceiveBytes = 64 * 1024;
constexpr std::uint32_t kLargestReply = 1U << 30;

}  // namespace

std::string_view append_frame(const v1::Request& request, std::string& out) {
  const std::size_t size = request.ByteSizeLong();
  const std::size_t begin = out.size();
  out.resize(begin + kMaxFrameHeader + size);
  auto* at = reinterpret_cast<std::byte*>(out.data() + begin);
  const std::size_t header = write_frame_header(static_cast<std::uint32_t>(size), at);
  request.SerializeWithCachedSizesToArray(reinterpret_cast<std::uint8_t*>(at + header));
  out.resize(begin + header + size);
  return std::string_view(out).substr(begin);
}

void FrameChannel::close() noexcept {
  socket_.close();
  out_.clear();
  out_begin_ = in_begin_ = in_end_ = 0;
}

Status FrameChannel::send_some(std::size_t& sent) {
  const Status status = socket_.send_some(out_.data() + out_begin_, pending_bytes(), sent);
  out_begin_ += sent;
  if (pending_bytes() == 0) {
    out_.clear();
    out_begin_ = 0;
  }
  return status;
}

Status FrameChannel::receive_some() {
  if (in_begin_ > 0) {
    std::memmove(in_.data(), in_.data() + in_begin_, in_end_ - in_begin_);
    in_end_ -= in_begin_;
    in_begin_ = 0;
  }
  if (in_.size() - in_end_ < kReceiveBytes) in_.resize(in_end_ + kReceiveBytes);
  std::size_t received = 0;
  const Status status = socket_.receive_some(in_.data() + in_end_, in_.size() - in_end_, received);
  in_end_ += received;
  return status;
}

FrameScan FrameChannel::next_frame() {
  const std::span<const char> there{in_.data() + in_begin_, in_end_ - in_begin_};
  const FrameScan scan = scan_frame(std::as_bytes(there), kLargestReply);
  if (scan.kind == FrameScan::kFrame) in_begin_ += scan.consumed;
  return scan;
}

}  // namespace windhover
