#include "windhover/io/crowd.h"

#include <cstdint>
#include <vector>

#include <gtest/gtest.h>

namespace windhover::crowd_test {
namespace {

struct Somebody {
  std::uint64_t where = 0;
  bool stranger = true;
  Occupant occupant() const { return {.stranger = stranger, .address = where}; }
};

TEST(Crowd, CountsStrangersAlone) {
  std::vector<Somebody> all = {{7}, {8}, {7}, {7}, {8, false}, {8, false}, {8, false}, {8, false}};
  std::vector<std::uint64_t> room(all.size());
  const Crowd crowd(all, room);
  EXPECT_EQ(crowd.at(7), 3U);
  EXPECT_EQ(crowd.at(8), 1U);
  EXPECT_EQ(crowd.at(9), 1U);
}

TEST(Crowd, FewOfOneAddressAreNone) {
  std::vector<Somebody> all;
  for (std::uint64_t i = 0; i < 64; ++i) all.push_back({i});
  all[1].where = all[2].where = all[3].where = all[4].where = 0;
  std::vector<std::uint64_t> room(all.size());
  EXPECT_EQ(Crowd(all, room).at(0), Crowd(all, room).at(63));
  all[5].where = 0;
  EXPECT_GT(Crowd(all, room).at(0), Crowd(all, room).at(63));
}

TEST(Crowd, OfNobodyIsNone) {
  const std::vector<Somebody> all;
  EXPECT_EQ(Crowd(all, {}).at(7), 1U);
}

}  // namespace
}  // namespace windhover::crowd_test
