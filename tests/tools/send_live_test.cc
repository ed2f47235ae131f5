// Rows of a live pipe, and connections that break without a producer.
#include <fcntl.h>
#include <gtest/gtest.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>
#include <zlib.h>

#include <array>
#include <chrono>
#include <cstddef>
#include <future>
#include <memory>
#include <string>
#include <thread>

#include "windhover/io/framing.h"
#include "windhover/tests/tools/served.h"
#include "windhover/tests/tools/support.h"
#include "windhover/tools/client/answers.h"
#include "windhover/tools/client/send.h"

namespace windhover {
namespace {

// Waits long where the machine is slow, and not at all where it is not.
bool eventually(const auto& condition) {
  const auto deadline = std::chrono::steady_clock::now() + std::chrono::seconds(60);
  while (!condition()) {
    if (std::chrono::steady_clock::now() > deadline) return false;
    std::this_thread::sleep_for(std::chrono::milliseconds(2));
  }
  return true;
}

// A named pipe that the test writes to while something reads it.
class LivePipe {
 public:
  explicit LivePipe(const std::string& name) : path_(path_of(name)) {
    EXPECT_EQ(::mkfifo(path_.c_str(), 0600), 0);
    // The pipe is opened for reading too, so that opening it does not wait for the reader.
    descriptor_ = ::open(path_.c_str(), O_RDWR | O_CLOEXEC);
  }
  ~LivePipe() {
    end();
    ::unlink(path_.c_str());
  }
  LivePipe(const LivePipe&) = delete;
  LivePipe& operator=(const LivePipe&) = delete;

  const std::string& path() const { return path_; }
  void write(const std::string& text) {
    EXPECT_EQ(::write(descriptor_, text.data(), text.size()), static_cast<ssize_t>(text.size()));
  }
  void end() {
    if (descriptor_ >= 0) ::close(descriptor_);
    descriptor_ = -1;
  }

 private:
  std::string path_;
  int descriptor_ = -1;
};

std::string rows(int count) {
  std::string text;
  for (int i = 0; i < count; ++i) text += i % 2 == 0 ? "0.5,u,1\n" : "-0.5,v,0\n";
  return text;
}

TEST(SendLive, RowsGoOutWhileThePipeStaysOpen) {
  const std::string schema = schema_file(false);
  Served served(path_of("live.sock"), Schema::from_file(schema), "logistic");
  SendOptions o = options_for(served, schema);
  std::future<SendReport> report;  // outlives the pipe, whose end it waits for
  LivePipe pipe("live.csv");
  o.path = pipe.path();
  report = std::async(std::launch::async, [&o] { return send_file(o); });
  pipe.write("a,c,y\n" + rows(3));
  EXPECT_TRUE(eventually([&] { return served.engine().head() == 3; }));
  pipe.write("0.25,u");  // half a row goes nowhere, and keeps nothing back
  pipe.write(",1\n");
  EXPECT_TRUE(eventually([&] { return served.engine().head() == 4; }));
  // What comes fast shares frames: 2000 rows in one write.
  pipe.write(rows(2000));
  pipe.end();
  const SendReport done = report.get();
  EXPECT_EQ(done.totals.accepted, 2004U);
  EXPECT_LE(done.totals.frames_sent, 2 + 2000 / 10);
  EXPECT_EQ(done.loss_text(), "");
}

TEST(SendLive, CompressedRowsGoOutWhileThePipeStaysOpen) {
  const std::string schema = schema_file(false);
  Served served(path_of("live_gz.sock"), Schema::from_file(schema), "logistic");
  SendOptions o = options_for(served, schema);
  std::future<SendReport> report;  // outlives the pipe, whose end it waits for
  LivePipe pipe("live.csv.gz");
  o.path = pipe.path();
  report = std::async(std::launch::async, [&o] { return send_file(o); });
  const gzFile out = gzopen(pipe.path().c_str(), "wb");
  gzputs(out, ("a,c,y\n" + rows(3)).c_str());
  gzflush(out, Z_SYNC_FLUSH);
  EXPECT_TRUE(eventually([&] { return served.engine().head() == 3; }));
  pipe.end();  // the compressor holds it open, and the sender has opened it by now
  gzputs(out, rows(5).c_str());
  gzclose(out);
  EXPECT_EQ(report.get().totals.accepted, 8U);
}

// A server may go and come back: what it had learned is sent again, which is said.
TEST(SendLive, SurvivesARestartWithoutAProducer) {
  const std::string schema = schema_file(false);
  const std::string socket = path_of("restart.sock");
  auto served = std::make_unique<Served>(socket, Schema::from_file(schema), "logistic");
  SendOptions o = options_for(*served, schema);
  std::future<SendReport> report;  // outlives the pipe, whose end it waits for
  LivePipe pipe("restart.csv");
  o.path = pipe.path();
  std::string notes;
  o.on_note = [&notes](const std::string& text) { notes += text + "\n"; };
  report = std::async(std::launch::async, [&o] { return send_file(o); });
  pipe.write("a,c,y\n" + rows(100));
  ASSERT_TRUE(eventually([&] { return served->engine().head() == 100; }));
  served.reset();
  pipe.write(rows(50));
  served = std::make_unique<Served>(socket, Schema::from_file(schema), "logistic");
  EXPECT_TRUE(eventually([&] { return served->engine().head() == 150; })) << notes;
  pipe.end();
  const SendReport done = report.get();
  EXPECT_TRUE(done.adds_up()) << done.closing_line();
  EXPECT_EQ(done.totals.accepted, 150U);
  EXPECT_EQ(done.totals.unknown, 0U);
  EXPECT_EQ(done.totals.restored, 100U);
  EXPECT_EQ(done.totals.lost, 0U);
  EXPECT_GE(done.reconnections, 1U);
  EXPECT_EQ(done.loss_text(), "");
  EXPECT_TRUE(says(notes, "holds 0 rows; 100 that it had accepted were sent again")) << notes;
}

// With a producer what the server has lost is sent again from memory, as far as that goes.
TEST(SendLive, RestartedServerIsSentAgainWhatIsKeptOfAPipe) {
  const std::string schema = schema_file(false);
  const std::string socket = path_of("again.sock");
  for (const bool kept : {true, false}) {
    auto served = std::make_unique<Served>(socket, Schema::from_file(schema), "logistic");
    SendOptions o = options_for(*served, schema);
    o.producer = 5;
    if (!kept) o.resend_bytes = 0;
    std::future<SendReport> report;  // outlives the pipe, whose end it waits for
    LivePipe pipe("again.csv");
    o.path = pipe.path();
    std::string notes;
    o.on_note = [&notes](const std::string& text) { notes += text + "\n"; };
    report = std::async(std::launch::async, [&o] { return send_file(o); });
    pipe.write("a,c,y\n" + rows(1000));
    ASSERT_TRUE(eventually([&] { return served->engine().head() == 1000; }));
    served.reset();
    served = std::make_unique<Served>(socket, Schema::from_file(schema), "logistic");
    pipe.write(rows(50));
    const std::uint64_t left = kept ? 1050 : 50;
    EXPECT_TRUE(eventually([&] { return served->engine().head() == left; })) << notes;
    pipe.end();
    const SendReport done = report.get();
    EXPECT_TRUE(done.adds_up()) << done.closing_line();
    EXPECT_EQ(done.totals.sent, 1050U);
    EXPECT_EQ(done.totals.accepted, 1050U);
    EXPECT_EQ(done.totals.restored, kept ? 1000U : 0U);
    EXPECT_EQ(done.totals.lost, kept ? 0U : 1000U);
    EXPECT_EQ(says(done.loss_text(), "1000 accepted rows may be lost"), !kept) << done.loss_text();
    EXPECT_EQ(done.loss_text().empty(), kept);
    EXPECT_TRUE(says(notes, kept ? "1000 that it had accepted were sent again"
                                 : "1000 of those it had accepted from here are lost"))
        << notes;
    EXPECT_EQ(served->engine().head(), left);
  }
}

int listening_at(const std::string& path) {
  const int listener = ::socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
  sockaddr_un address{};
  address.sun_family = AF_UNIX;
  path.copy(address.sun_path, sizeof address.sun_path - 1);
  EXPECT_EQ(::bind(listener, reinterpret_cast<const sockaddr*>(&address), sizeof address), 0);
  EXPECT_EQ(::listen(listener, 1), 0);
  return listener;
}

// Says welcome as the server would, takes some rows in, acknowledges none, and is gone.
void welcome_and_go(int listener, const v1::Welcome& welcome) {
  const int peer = ::accept(listener, nullptr, nullptr);
  std::array<char, 1024> some{};
  ASSERT_GT(::recv(peer, some.data(), some.size(), 0), 0);  // Hello
  v1::Response response;
  response.set_id(1);
  *response.mutable_welcome() = welcome;
  const std::string body = response.SerializeAsString();
  std::array<std::byte, kMaxFrameHeader> header{};
  const std::size_t size =
      write_frame_header(static_cast<std::uint32_t>(body.size()), header.data());
  const std::string bytes = std::string(reinterpret_cast<const char*>(header.data()), size) + body;
  ASSERT_EQ(::send(peer, bytes.data(), bytes.size(), 0), static_cast<ssize_t>(bytes.size()));
  ASSERT_GT(::recv(peer, some.data(), some.size(), 0), 0);  // the first rows
  ::close(listener);
  ::close(peer);
}

TEST(SendBroken, WithoutAProducerSendsAgainWhatWasOnItsWay) {
  const std::string schema = schema_file(false);
  v1::Welcome welcome;
  {
    Served model(path_of("model.sock"), Schema::from_file(schema), "logistic");
    Client client;
    connect_or_throw(client, model.address());
    welcome = client.welcome();
  }
  const std::string socket = path_of("gone.sock");
  std::thread first(
      [&welcome, listener = listening_at(socket)] { welcome_and_go(listener, welcome); });
  SendOptions o;
  o.path = data_file();
  o.address = "unix:" + socket;
  o.schema = schema;
  o.batch = 10;
  auto report = std::async(std::launch::async, [&o] { return send_file(o); });
  first.join();
  Served served(socket, Schema::from_file(schema), "logistic");
  const SendReport done = report.get();
  const ObserveTotals& t = done.totals;
  EXPECT_TRUE(done.adds_up()) << done.closing_line();
  EXPECT_EQ(t.sent, 3960U);
  EXPECT_EQ(t.accepted, 3960U);
  EXPECT_EQ(served.engine().head(), 3960U);
  EXPECT_GE(done.reconnections, 1U);
  EXPECT_EQ(done.loss_text(), "");
}

TEST(SendBroken, GivesUpWhenTheServerStaysAway) {
  const std::string schema = schema_file(false);
  auto served =
      std::make_unique<Served>(path_of("away.sock"), Schema::from_file(schema), "logistic");
  SendOptions o = options_for(*served, schema);
  o.retry_for = 0.1;
  std::future<SendReport> report;  // outlives the pipe, whose end it waits for
  LivePipe pipe("away.csv");
  o.path = pipe.path();
  report = std::async(std::launch::async, [&o] { return send_file(o); });
  pipe.write("a,c,y\n" + rows(100));
  ASSERT_TRUE(eventually([&] { return served->engine().head() == 100; }));
  served.reset();
  pipe.write(rows(50));
  EXPECT_THROW((void)report.get(), RunError);
}

}  // namespace
}  // namespace windhover
