#include "windhover/io/crowd.h"

#include <array>
#include <vector>

#include <gtest/gtest.h>

namespace windhover::crowd_test {
namespace {

struct Peer {
  std::uint64_t where;
  bool known = false;

  bool is_stranger() const { return !known; }
  std::uint64_t address() const { return where; }
};

TEST(Crowd, IsLargestWhereMostStrangersAre) {
  std::array<std::uint64_t, 8> room{};
  const std::vector<Peer> peers = {{7}, {9}, {7}, {3}, {9, true}, {9, true}};
  const Crowd crowd(peers, room);
  EXPECT_TRUE(crowd.is_largest_at(7));
  EXPECT_FALSE(crowd.is_largest_at(9)) << "those who are known are none";
  EXPECT_FALSE(crowd.is_largest_at(3));
}

TEST(Crowd, OfEqualOnesEachIsTheLargest) {
  std::array<std::uint64_t, 8> room{};
  const std::vector<Peer> pairs = {{7}, {9}, {7}, {3}, {9}};
  EXPECT_TRUE(Crowd(pairs, room).is_largest_at(7));
  EXPECT_TRUE(Crowd(pairs, room).is_largest_at(9));
  EXPECT_FALSE(Crowd(pairs, room).is_largest_at(3));
  const std::vector<Peer> alone = {{7}, {9}, {3}};
  for (const Peer& peer : alone) EXPECT_TRUE(Crowd(alone, room).is_largest_at(peer.where));
}

}  // namespace
}  // namespace windhover::crowd_test
