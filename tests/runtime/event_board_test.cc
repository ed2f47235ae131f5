// What readers see of what has happened.
#include "windhover/runtime/diagnostics/event_board.h"

#include <gtest/gtest.h>

#include <vector>

#include "windhover/platform/memory.h"

namespace windhover::test::event_board_test {
namespace {

constexpr std::uint32_t kReaders = 2;

struct Board {
  Board() : block(1 << 20), arena(block.bytes()), board(arena, kReaders) { board.reset(); }
  std::vector<EventKind> seen(std::uint32_t reader) {
    EventList list;
    board.read(reader, list);
    std::vector<EventKind> kinds;
    for (const Event& event : list.all()) kinds.push_back(event.kind);
    return kinds;
  }

  MappedBlock block;
  Arena arena;
  EventBoard board;
};

using Kinds = std::vector<EventKind>;

TEST(EventBoard, ShowsAnEmptyListFirstAndAfterAReset) {
  Board one;
  EXPECT_EQ(one.seen(0), Kinds());
  one.board.tell_start(0, 1);
  one.board.reset();
  EXPECT_EQ(one.seen(1), Kinds());
}

TEST(EventBoard, ShowsEveryReaderWhatTheLogHasBeenTold) {
  Board one;
  one.board.tell_start(7, 11);
  Provenance answer;
  answer.status = PosteriorStatus::kOk;
  one.board.look({.answer = answer}, 12);
  for (std::uint32_t reader = 0; reader < kReaders; ++reader) {
    EXPECT_EQ(one.seen(reader), Kinds({EventKind::kStarted, EventKind::kStatus})) << reader;
  }
  EventList list;
  one.board.read(0, list);
  EXPECT_EQ(list.events[0].row, 7U);
  EXPECT_EQ(list.events[1].time_ns, 12);
}

TEST(EventBoard, HasACauseOnceForEachChangeOfIt) {
  Board one;
  EXPECT_FALSE(one.board.has_cause({})) << "as it began";
  EventCause cause;
  cause.snapshot = 1;
  EXPECT_TRUE(one.board.has_cause(cause));
  EXPECT_FALSE(one.board.has_cause(cause));
  cause.paused = true;
  EXPECT_TRUE(one.board.has_cause(cause));
  one.board.reset();
  EXPECT_TRUE(one.board.has_cause(cause)) << "it begins anew";
}

// Keeps numbers in their order as a checkpoint does, and puts them back.
class Tape final : public StateVisitor {
 public:
  bool restores() const noexcept override { return back_; }
  void visit(std::span<double> numbers) noexcept override { play(numbers, doubles_, next_double_); }
  void visit(std::span<std::uint64_t> numbers) noexcept override {
    play(numbers, whole_, next_whole_);
  }
  void visit(std::span<std::uint32_t>) noexcept override {}
  void rewind() noexcept { back_ = true; }

 private:
  template <class T>
  void play(std::span<T> numbers, std::vector<T>& kept, std::size_t& next) noexcept {
    for (T& number : numbers) {
      if (back_) {
        number = kept.at(next++);
      } else {
        kept.push_back(number);
      }
    }
  }
  std::vector<double> doubles_;
  std::vector<std::uint64_t> whole_;
  std::size_t next_double_ = 0;
  std::size_t next_whole_ = 0;
  bool back_ = false;
};

TEST(EventBoard, ShowsWhatIsRestored) {
  Board saved;
  saved.board.tell_start(7, 11);
  EventCause cause;
  cause.snapshot = 3;
  ASSERT_TRUE(saved.board.has_cause(cause));
  Tape tape;
  saved.board.visit_state(tape);
  tape.rewind();
  Board restored;
  restored.board.visit_state(tape);
  EXPECT_EQ(restored.seen(0), Kinds({EventKind::kStarted}));
  EXPECT_FALSE(restored.board.has_cause(cause)) << "it has been looked for there";
}

}  // namespace
}  // namespace windhover::test::event_board_test
