#include "windhover/platform/snapshots.h"

#include <gtest/gtest.h>

#include <array>
#include <atomic>
#include <chrono>
#include <cstdint>
#include <set>
#include <thread>
#include <vector>

#include "windhover/platform/arena.h"

namespace windhover {
namespace {

// Large enough that a reader would catch a publisher in the middle.
struct Slot {
  std::array<std::uint64_t, 256> words{};
};

template <std::size_t kReaders>
struct Fixture {
  std::array<Slot, kReaders + 2> slots;
  std::array<SnapshotPin, kReaders> pins;
  Snapshots<Slot> snapshots{slots, pins};
  Fixture() { snapshots.reset(); }

  void publish(std::uint64_t value) {
    snapshots.begin_publish().words.fill(value);
    snapshots.publish();
  }
};

TEST(Snapshots, BeforeTheFirstPublicationThereIsNone) {
  Fixture<1> f;
  EXPECT_EQ(f.snapshots.pin(0), nullptr);
  f.snapshots.unpin(0);
  f.snapshots.begin_publish().words.fill(1);
  EXPECT_EQ(f.snapshots.pin(0), nullptr);
  f.snapshots.unpin(0);
}

TEST(Snapshots, ReaderGetsTheNewest) {
  Fixture<2> f;
  for (std::uint64_t value = 1; value < 20; ++value) {
    f.publish(value);
    EXPECT_EQ(f.snapshots.pin(value % 2)->words[0], value);
    f.snapshots.unpin(value % 2);
  }
}

TEST(Snapshots, PinnedSlotStaysWhilePublishingGoesOn) {
  Fixture<3> f;
  std::array<const Slot*, 3> pinned;
  for (std::uint64_t reader = 0; reader < 3; ++reader) {
    f.publish(reader);
    pinned[reader] = f.snapshots.pin(reader);
  }
  for (std::uint64_t value = 100; value < 200; ++value) f.publish(value);
  for (std::uint64_t reader = 0; reader < 3; ++reader) {
    EXPECT_EQ(pinned[reader]->words[0], reader);
    f.snapshots.unpin(reader);
  }
  EXPECT_EQ(f.snapshots.pin(1)->words[0], 199u);
}

TEST(Snapshots, UnpinnedSlotIsUsedAgain) {
  Fixture<1> f;
  std::set<const Slot*> seen;
  f.publish(0);
  const Slot* pinned = f.snapshots.pin(0);
  f.snapshots.unpin(0);
  for (std::uint64_t value = 1; value < 10; ++value) {
    seen.insert(&f.snapshots.begin_publish());
    f.publish(value);
  }
  EXPECT_TRUE(seen.contains(pinned));
}

TEST(Snapshots, BeginPublishTwiceIsTheSameSlot) {
  Fixture<1> f;
  f.publish(1);
  EXPECT_EQ(&f.snapshots.begin_publish(), &f.snapshots.begin_publish());
}

TEST(Snapshots, ResetForgetsWhatWasPublished) {
  Fixture<1> f;
  f.publish(1);
  f.snapshots.reset();
  EXPECT_EQ(f.snapshots.pin(0), nullptr);
}

TEST(Snapshots, NoReadersStillPublishes) {
  Fixture<0> f;
  for (std::uint64_t value = 0; value < 10; ++value) f.publish(value);
}

// Publisher as fast as it can, readers checking that all words of a slot agree when pinned, still
// agree after some dawdling, and that versions never go backwards for one reader.
TEST(Snapshots, ConcurrentReadersNeverSeeATornOrOlderSlot) {
  constexpr std::size_t kReaders = 4;
  static Fixture<kReaders> f;
  std::atomic<bool> stop{false};
  std::array<std::uint64_t, kReaders> torn{};
  std::array<std::uint64_t, kReaders> backwards{};
  std::array<std::uint64_t, kReaders> pins{};

  std::vector<std::thread> readers;
  for (std::size_t reader = 0; reader < kReaders; ++reader) {
    readers.emplace_back([&, reader] {
      std::uint64_t last = 0;
      while (!stop.load(std::memory_order_relaxed)) {
        if (const Slot* slot = f.snapshots.pin(reader)) {
          const std::uint64_t value = slot->words[0];
          for (const std::uint64_t word : slot->words) torn[reader] += word != value;
          if (pins[reader] % 64 == 0) std::this_thread::yield();
          for (const std::uint64_t word : slot->words) torn[reader] += word != value;
          backwards[reader] += value < last;
          last = value;
          ++pins[reader];
        }
        f.snapshots.unpin(reader);
      }
    });
  }
  std::uint64_t published = 0;
  const auto end = std::chrono::steady_clock::now() + std::chrono::milliseconds(800);
  while (std::chrono::steady_clock::now() < end) f.publish(++published);
  stop.store(true);
  for (std::thread& reader : readers) reader.join();

  EXPECT_GT(published, 100u);
  for (std::size_t reader = 0; reader < kReaders; ++reader) {
    EXPECT_EQ(torn[reader], 0u);
    EXPECT_EQ(backwards[reader], 0u);
    EXPECT_GT(pins[reader], 0u);
  }
}

// With one reader and slots that cost nothing, the publisher often searches while the reader moves
// from one old slot to another, and sees it in both.
TEST(Snapshots, FindsASlotWhileAReaderMoves) {
  struct Small {
    std::atomic<std::uint64_t> word{0};
  };
  static std::array<Small, 3> slots;
  static std::array<SnapshotPin, 1> pins;
  Snapshots<Small> snapshots{slots, pins};
  snapshots.reset();
  std::atomic<bool> stop{false};
  std::uint64_t backwards = 0;
  std::thread reader([&] {
    std::uint64_t last = 0;
    while (!stop.load(std::memory_order_relaxed)) {
      if (const Small* slot = snapshots.pin(0)) {
        const std::uint64_t value = slot->word.load(std::memory_order_relaxed);
        backwards += value < last;
        last = value;
      }
      snapshots.unpin(0);
    }
  });
  std::uint64_t published = 0;
  bool outside = false;
  const auto end = std::chrono::steady_clock::now() + std::chrono::milliseconds(500);
  while (!outside && std::chrono::steady_clock::now() < end) {
    for (int i = 0; i < 1000 && !outside; ++i) {
      Small& slot = snapshots.begin_publish();
      outside = &slot < slots.data() || &slot >= slots.data() + slots.size();
      if (outside) break;
      slot.word.store(++published, std::memory_order_relaxed);
      snapshots.publish();
    }
  }
  stop.store(true);
  reader.join();
  EXPECT_FALSE(outside) << "after " << published << " publications";
  EXPECT_GT(published, 100u);
  EXPECT_EQ(backwards, 0u);
}

TEST(Snapshots, LaysItselfOutOnAnArena) {
  constexpr std::size_t kReaders = 3;
  alignas(Arena::kAlignment) static std::byte block[1 << 15];
  Arena arena(block);
  Snapshots<Slot> snapshots(arena.make_array<Slot>(Snapshots<Slot>::slots_for(kReaders)),
                            arena.allocate<SnapshotPin>(kReaders));
  ASSERT_FALSE(arena.exhausted());
  snapshots.reset();
  snapshots.begin_publish().words[3] = 7;
  snapshots.publish();
  EXPECT_EQ(snapshots.pin(2)->words[3], 7u);
}

}  // namespace
}  // namespace windhover
