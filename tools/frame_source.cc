#include "windhover/tools/frame_source.h"

#include <arpa/inet.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <sys/socket.h>
#include <unistd.h>

#include <google/protobuf/io/coded_stream.h>
#include <google/protobuf/io/zero_copy_stream_impl_lite.h>

#include <algorithm>
#include <array>
#include <chrono>
#include <random>

#include "windhover/io/windhover.pb.h"
#include "windhover/tools/error.h"

namespace windhover {

namespace {

constexpr std::size_t kLeastBytes = std::size_t{1} << 20;  // made once, then repeated
constexpr std::size_t kWriteBytes = 64 * 1024;

void append(const v1::Request& request, std::string& bytes) {
  const std::string body = request.SerializeAsString();
  google::protobuf::io::StringOutputStream stream(&bytes);
  google::protobuf::io::CodedOutputStream coded(&stream);
  coded.WriteVarint32(static_cast<std::uint32_t>(body.size()));
  coded.WriteString(body);
}

bool write_all(int socket, const char* data, std::size_t size) {
  while (size > 0) {
    const ssize_t n = ::send(socket, data, size, MSG_NOSIGNAL);
    if (n <= 0) return false;
    data += n;
    size -= static_cast<std::size_t>(n);
  }
  return true;
}

int connect_loopback(const std::string& address) {
  sockaddr_in to{};
  to.sin_family = AF_INET;
  to.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  to.sin_port =
      htons(static_cast<std::uint16_t>(std::stoi(address.substr(address.rfind(':') + 1))));
  const int socket = ::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
  const int on = 1;
  (void)::setsockopt(socket, IPPROTO_TCP, TCP_NODELAY, &on, sizeof(on));
  if (::connect(socket, reinterpret_cast<const sockaddr*>(&to), sizeof(to)) != 0) {
    ::close(socket);
    throw RunError("no connection to " + address);
  }
  return socket;
}

}  // namespace

FrameSource::FrameSource(const std::string& address, std::uint32_t features,
                         std::uint32_t rows_per_frame, double rate)
    : socket_(connect_loopback(address)), rows_per_frame_(rows_per_frame) {
  std::mt19937_64 generator(7);
  std::normal_distribution<double> normal;
  while (bytes_.size() < kLeastBytes) {
    v1::Request request;
    request.set_id(++frames_);
    v1::Observe& observe = *request.mutable_observe();
    observe.set_rows(rows_per_frame);
    for (std::uint32_t i = 0; i < rows_per_frame; ++i) {
      double y = normal(generator);
      for (std::uint32_t j = 0; j < features; ++j) {
        const double x = normal(generator);
        observe.add_features_f64(x);
        y += 0.3 * x;
      }
      observe.add_targets_f64(y);
    }
    append(request, bytes_);
  }
  v1::Request hello;
  hello.mutable_hello()->set_version_min(1);
  hello.mutable_hello()->set_version_max(1);
  std::string greeting;
  append(hello, greeting);
  char reply = 0;
  if (!write_all(socket_, greeting.data(), greeting.size()) ||
      ::recv(socket_, &reply, 1, MSG_PEEK) != 1) {
    ::close(socket_);
    throw RunError("the server did not answer at " + address);
  }
  drain_ = std::thread([this] { discard_replies(); });
  writer_ = std::thread([this, rate] { write_frames(rate); });
}

FrameSource::~FrameSource() {
  stop_.store(true, std::memory_order_relaxed);
  ::shutdown(socket_, SHUT_RDWR);
  writer_.join();
  drain_.join();
  ::close(socket_);
}

void FrameSource::write_frames(double rate) {
  using Clock = std::chrono::steady_clock;
  // Whole frames a write, about kWriteBytes; the frames are all of the same size but for the id.
  const std::size_t frame_bytes = bytes_.size() / frames_;
  const std::size_t frames_a_write = std::clamp<std::size_t>(kWriteBytes / frame_bytes, 1, frames_);
  std::size_t begin = 0;
  std::size_t frame = 0;
  const Clock::time_point start = Clock::now();
  while (!stop_.load(std::memory_order_relaxed)) {
    const std::size_t next = std::min(frame + frames_a_write, frames_);
    const std::size_t end = next == frames_ ? bytes_.size() : bytes_.size() * next / frames_;
    if (!write_all(socket_, bytes_.data() + begin, end - begin)) return;
    const std::uint64_t sent =
        rows_sent_.fetch_add((next - frame) * rows_per_frame_, std::memory_order_relaxed) +
        (next - frame) * rows_per_frame_;
    frame = next == frames_ ? 0 : next;
    begin = next == frames_ ? 0 : end;
    if (rate > 0) {
      const std::chrono::duration<double> due(static_cast<double>(sent) / rate);
      const auto tick = start + std::chrono::duration_cast<Clock::duration>(due);
      while (Clock::now() < tick && !stop_.load(std::memory_order_relaxed)) {
        std::this_thread::sleep_until(std::min(tick, Clock::now() + std::chrono::milliseconds(50)));
      }
    }
  }
}

void FrameSource::discard_replies() {
  std::array<char, 4096> scratch;
  while (::recv(socket_, scratch.data(), scratch.size(), 0) > 0) {
  }
}

}  // namespace windhover
