#include <cstring>
#include <random>
#include <thread>
#include <vector>

#include <gtest/gtest.h>

#include "windhover/io/tls/tls_memory.h"
#include "windhover/platform/memory.h"

namespace windhover {
namespace piece_pool_test {

TEST(PiecePool, PiecesAreApartAlignedAndKeepWhatIsInThem) {
  MappedBlock block(std::size_t{8} << 20);
  PiecePool pool(block.bytes());
  struct Piece {
    unsigned char* at;
    std::size_t size;
    unsigned char mark;
  };
  std::vector<Piece> pieces;
  std::mt19937_64 random(1);
  for (int turn = 0; turn < 20'000; ++turn) {
    if (pieces.size() < 200 && random() % 2 == 0) {
      const std::size_t size = 1 + random() % (random() % 8 == 0 ? 20'000 : 300);
      auto* const at = static_cast<unsigned char*>(pool.allocate(size));
      ASSERT_NE(at, nullptr);
      ASSERT_EQ(reinterpret_cast<std::uintptr_t>(at) % 16, 0U);
      pieces.push_back({at, size, static_cast<unsigned char>(random())});
      std::memset(at, pieces.back().mark, size);
    } else if (!pieces.empty()) {
      Piece& piece = pieces[random() % pieces.size()];
      for (std::size_t i = 0; i < piece.size; ++i) ASSERT_EQ(piece.at[i], piece.mark);
      if (random() % 4 == 0) {
        const std::size_t larger = piece.size + random() % 500;
        piece.at = static_cast<unsigned char*>(pool.reallocate(piece.at, larger));
        for (std::size_t i = 0; i < piece.size; ++i) ASSERT_EQ(piece.at[i], piece.mark);
        piece.size = larger;
        std::memset(piece.at, piece.mark, larger);
      } else {
        pool.free(piece.at);
        piece = pieces.back();
        pieces.pop_back();
      }
    }
  }
  for (const Piece& piece : pieces) pool.free(piece.at);
  EXPECT_EQ(pool.in_use(), 0U);
  EXPECT_EQ(pool.refusals(), 0U);
}

TEST(PiecePool, FullItRefusesAndGoesOnWithWhatComesBack) {
  MappedBlock block(1 << 16);
  PiecePool pool(block.bytes());
  std::vector<void*> pieces;
  while (void* const piece = pool.allocate(1000)) pieces.push_back(piece);
  EXPECT_GE(pieces.size(), 58U);
  EXPECT_EQ(pool.refusals(), 1U);
  EXPECT_EQ(pool.allocate(SIZE_MAX), nullptr);
  EXPECT_EQ(pool.allocate((1 << 16) + 1), nullptr);
  EXPECT_EQ(pool.reallocate(pieces[0], 5000), nullptr);
  const std::size_t untouched = pool.untouched();
  for (int turn = 0; turn < 1000; ++turn) {
    pool.free(pieces.back());
    pieces.back() = pool.allocate(900 + static_cast<std::size_t>(turn % 100));
    ASSERT_NE(pieces.back(), nullptr);
  }
  EXPECT_EQ(pool.untouched(), untouched);
}

// A piece is at most a quarter larger than what was asked for, and its header.
TEST(PiecePool, WasteIsBounded) {
  MappedBlock block(std::size_t{16} << 20);
  PiecePool pool(block.bytes());
  for (std::size_t size = 1; size < 100'000; size += 1 + size / 50) {
    void* const piece = pool.allocate(size);
    EXPECT_LE(pool.in_use(), size + size / 4 + 32) << size;
    pool.free(piece);
  }
}

TEST(PiecePool, ManyThreadsAtOnce) {
  MappedBlock block(std::size_t{4} << 20);
  PiecePool pool(block.bytes());
  std::vector<std::thread> threads;
  for (unsigned t = 0; t < 4; ++t) {
    threads.emplace_back([&pool, t] {
      std::mt19937_64 random(t);
      for (int turn = 0; turn < 5'000; ++turn) {
        const std::size_t size = 1 + random() % 2'000;
        auto* const piece = static_cast<unsigned char*>(pool.allocate(size));
        ASSERT_NE(piece, nullptr);
        std::memset(piece, static_cast<int>(t), size);
        for (std::size_t i = 0; i < size; i += 97) ASSERT_EQ(piece[i], t);
        pool.free(piece);
      }
    });
  }
  for (std::thread& thread : threads) thread.join();
  EXPECT_EQ(pool.in_use(), 0U);
}

}  // namespace piece_pool_test
}  // namespace windhover
