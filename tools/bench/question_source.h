// Questions on a schedule, and their latencies.
#ifndef WINDHOVER_TOOLS_BENCH_QUESTION_SOURCE_H_
#define WINDHOVER_TOOLS_BENCH_QUESTION_SOURCE_H_

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "windhover/platform/histogram.h"
#include "windhover/tools/bench/suite.h"

namespace windhover {

// One kind of question: its request as bytes; every `every`-th question is of this kind. Where
// several kinds fit the last one is taken, so the first should have 1.
struct QuestionKind {
  std::string name;
  std::string frame;
  std::uint32_t every = 1;
};

// Frames for Predict of `rows` rows, which reads all draws (with `nonzeros`: of sparse rows with so
// many ones each); PosteriorSummary; Status.
std::string predict_frame(std::uint32_t features, std::uint32_t rows, std::uint32_t nonzeros = 0);
std::string posterior_frame();
std::string status_frame();

// Runs `work` on a thread that gets a processor soon, as a client on a machine of its own would:
// waiting for one here would hide what the server does. Under FIFO only with `real_time`, because
// everything else on this machine waits for it. Returns whether FIFO was permitted.
bool run_promptly(const std::function<void()>& work, bool real_time = false);

// Open loop: question i is due at start + i / rate, whatever became of the earlier ones, and goes
// out on connection i modulo their number. `latency` counts from when it was due; `late` is the
// part of it before the question was written, which is this generator's own (its thread not
// running, reading answers); `from_send` counts from just before the write. A question without an
// answer counts in both with the time until the source gave up; one that was never sent, with the
// time since it was due. Connects on construction; ask() runs on the calling thread and makes no
// heap call.
class QuestionSource {
 public:
  // RunError when the server does not welcome it or refuses a question.
  QuestionSource(const std::string& address, std::vector<QuestionKind> kinds,
                 std::uint32_t connections, double rate);
  ~QuestionSource();
  QuestionSource(const QuestionSource&) = delete;
  QuestionSource& operator=(const QuestionSource&) = delete;

  // Asks for `seconds` and waits up to two seconds more for the last answers. Once. RunError when
  // the server closes a connection.
  void ask(double seconds);

  std::uint64_t unanswered() const { return total_ - answered_; }
  // Refusals; they count as answers.
  std::uint64_t refused() const { return refused_; }
  const Histogram& latency(std::size_t kind) const { return kinds_[kind]->latency; }
  const Histogram& late() const { return late_; }
  const Histogram& from_send() const { return from_send_; }

 private:
  struct Kind {
    QuestionKind question;
    Histogram latency;
  };
  struct Asked {
    std::int64_t due;
    std::int64_t sent;
    std::uint32_t kind;
  };
  // Answers come in the order of their questions, so the open ones form a ring. The last
  // `unwritten` of them are not, or not wholly, in the socket.
  struct Connection {
    int socket = -1;
    std::vector<Asked> open;
    std::size_t first = 0;
    std::size_t count = 0;
    std::size_t unwritten = 0;
    std::size_t offset = 0;  // bytes written of the first unwritten one
    bool waits_for_room = false;
    std::vector<char> buffer;
    std::size_t size = 0;
    std::size_t skip = 0;  // bytes of an answer under way that are still to come
  };

  void rehearse(Connection& connection);
  std::uint32_t kind_of(std::uint64_t question) const;
  std::int64_t due(std::uint64_t question) const;
  bool room() const;
  void put_question();
  void write(Connection& connection);
  void receive(Connection& connection);
  void answered(Connection& connection, std::int64_t now);
  void give_up();

  double rate_;
  std::vector<std::unique_ptr<Kind>> kinds_;
  std::vector<Connection> connections_;
  int epoll_ = -1;
  std::int64_t start_ = 0;
  std::uint64_t total_ = 0;
  std::uint64_t asked_ = 0;
  std::uint64_t answered_ = 0;
  std::uint64_t refused_ = 0;
  Histogram late_;
  Histogram from_send_;
};

// {"count", "p50_us", "p90_us", "p99_us", "p999_us", "p9999_us", "max_us"}; a percentile with fewer
// than ten values above it is null.
Json percentiles(const Histogram& histogram);

}  // namespace windhover

#endif  // WINDHOVER_TOOLS_BENCH_QUESTION_SOURCE_H_
