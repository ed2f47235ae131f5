// The load generator is an open loop: what a server does late counts from when it was due.
#include "windhover/tools/bench/question_source.h"

#include <gtest/gtest.h>

#include <arpa/inet.h>
#include <netinet/in.h>
#include <sys/socket.h>
#include <unistd.h>

#include <array>
#include <atomic>
#include <chrono>
#include <span>
#include <string>
#include <thread>

#include "windhover/io/framing.h"
#include "windhover/io/windhover.pb.h"
#include "windhover/platform/clock.h"
#include "windhover/tests/tools/support.h"
#include "windhover/tools/bench/loopback.h"

namespace windhover {
namespace {

std::string frame_of(const v1::Response& response) {
  const std::string body = response.SerializeAsString();
  std::array<std::byte, kMaxFrameHeader> header{};
  const std::size_t size =
      write_frame_header(static_cast<std::uint32_t>(body.size()), header.data());
  return std::string(reinterpret_cast<const char*>(header.data()), size) + body;
}

// Answers every frame of one connection at once, but for what it is told to do with one of them.
class FakeServer {
 public:
  struct Plan {
    int stall_at = -1;  // waits for `stall_ms` before this frame
    int stall_ms = 0;
    int silent_from = -1;   // answers no frame from here on
    int refused_from = -1;  // refuses frames from here on
    int watched = -1;       // watched_ns() is when this frame was there
  };
  explicit FakeServer(const Plan& plan)
      : plan_(plan), listener_(::socket(AF_INET, SOCK_STREAM, 0)) {
    sockaddr_in at{};
    at.sin_family = AF_INET;
    at.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    socklen_t size = sizeof(at);
    EXPECT_EQ(::bind(listener_, reinterpret_cast<const sockaddr*>(&at), size), 0);
    EXPECT_EQ(::listen(listener_, 1), 0);
    EXPECT_EQ(::getsockname(listener_, reinterpret_cast<sockaddr*>(&at), &size), 0);
    address_ = "127.0.0.1:" + std::to_string(ntohs(at.sin_port));
    thread_ = std::thread([this] { serve(); });
  }
  ~FakeServer() {
    thread_.join();
    ::close(listener_);
  }
  FakeServer(const FakeServer&) = delete;
  FakeServer& operator=(const FakeServer&) = delete;

  const std::string& address() const { return address_; }
  std::int64_t watched_ns() const { return watched_ns_; }

 private:
  std::string answer(int frame) const {
    v1::Response response;
    response.set_id(300);
    if (frame == 0) {
      response.mutable_welcome()->set_version(1);
    } else if (plan_.refused_from >= 0 && frame >= plan_.refused_from) {
      response.mutable_refusal();
    } else {
      response.mutable_status_result();
    }
    return frame_of(response);
  }

  void serve() {
    const int peer = ::accept(listener_, nullptr, nullptr);
    std::string bytes;
    int frame = 0;
    std::array<char, 4096> chunk;
    for (ssize_t n = 0; (n = ::recv(peer, chunk.data(), chunk.size(), 0)) > 0;) {
      bytes.append(chunk.data(), static_cast<std::size_t>(n));
      for (;;) {
        const FrameScan scan = scan_frame(std::as_bytes(std::span(bytes)), UINT32_MAX);
        if (scan.kind != FrameScan::kFrame) break;
        bytes.erase(0, scan.consumed);
        if (frame == plan_.watched) watched_ns_ = RealClock().now_ns();
        if (frame == plan_.stall_at) {
          std::this_thread::sleep_for(std::chrono::milliseconds(plan_.stall_ms));
        }
        const std::string reply = answer(frame);
        const bool silent = plan_.silent_from >= 0 && frame >= plan_.silent_from;
        if (!silent && !write_all(peer, reply.data(), reply.size())) break;
        ++frame;
      }
    }
    ::close(peer);
  }

  Plan plan_;
  std::atomic<std::int64_t> watched_ns_{0};
  int listener_;
  std::string address_;
  std::thread thread_;
};

constexpr double kRate = 1000;

// Frame 0 is Hello, frame 1 the rehearsal.
TEST(QuestionSource, AStallOfTheServerDelaysAllThatWasDueMeanwhile) {
  FakeServer server({.stall_at = 100, .stall_ms = 200});
  QuestionSource questions(server.address(), {{"status", status_frame()}}, 1, kRate);
  questions.ask(0.5);
  const Histogram& latency = questions.latency(0);
  EXPECT_EQ(latency.count(), 500U);
  EXPECT_EQ(questions.unanswered(), 0U);
  EXPECT_GE(latency.max(), 195'000'000);
  // 200 of the 500 were due during the stall, a tenth of all within its first 150 ms.
  EXPECT_GE(latency.quantile(0.8), 90'000'000);
}

TEST(QuestionSource, WhatIsNeverAnsweredCountsWithTheTimeItWaited) {
  // A quarter of 500 questions goes out after frame 377.
  FakeServer server({.silent_from = 252, .watched = 377});
  QuestionSource questions(server.address(), {{"status", status_frame()}}, 1, kRate);
  const std::int64_t begin = RealClock().now_ns();
  questions.ask(0.5);
  EXPECT_EQ(questions.unanswered(), 250U);
  EXPECT_EQ(questions.latency(0).count(), 500U);
  EXPECT_GE(questions.latency(0).quantile(0.75), 2'000'000'000);
  EXPECT_EQ(questions.from_send().count(), 500U);
  // It gives up half a second and two after it began. Who was written late has waited for less.
  EXPECT_GE(questions.from_send().quantile(0.75), begin + 2'500'000'000 - server.watched_ns());
}

TEST(QuestionSource, CountsRefusals) {
  FakeServer server({.refused_from = 12});
  QuestionSource questions(server.address(), {{"status", status_frame()}}, 1, kRate);
  questions.ask(0.1);
  EXPECT_EQ(questions.refused(), 90U);
  EXPECT_EQ(questions.unanswered(), 0U);
}

// More questions are due than a connection holds open: it waits for room, and what was due
// meanwhile is late.
TEST(QuestionSource, ASourceFasterThanTheServerIsNoError) {
  FakeServer server({.stall_at = 50, .stall_ms = 300});
  QuestionSource questions(server.address(), {{"status", status_frame()}}, 1, 40'000);
  questions.ask(0.4);
  EXPECT_EQ(questions.unanswered(), 0U);
  EXPECT_EQ(questions.latency(0).count(), 16'000U);
  EXPECT_GE(questions.latency(0).quantile(0.5), 50'000'000);
}

}  // namespace
}  // namespace windhover
