// Clients that page through draws at the same time, each at its own speed.
#include <memory>
#include <string>
#include <vector>

#include "windhover/tests/io/conversation_fixture.h"

namespace windhover::paging_table_test {
namespace {

using testing::kSecond;
using testing::observe_of;
using testing::Peer;
using testing::Shared;

constexpr std::uint32_t kPage = 8;  // out of 64 draws
constexpr std::uint32_t kDraws = 64;

// Four places, as the query endpoint has; and a newer snapshot whenever it is asked for.
struct Pages : Shared {
  Pages() : Shared(8, EndpointKind::kQuery) {
    for (std::size_t i = 1; i < PagingTable::kMost; ++i)
      queries.add_paging(engine->reader().value());
    publish();
  }
  void publish() {
    std::array<double, testing::kFeatures> x = {0.1, 0.2, 0.3};
    for (int i = 0; i < 50; ++i) {
      x[0] = 0.01 * static_cast<double>(++rows % 100);
      EXPECT_EQ(engine->observe(x, x[0]), Status::kOk);
    }
    while (engine->poll(10) > 0) {
    }
  }
  int rows = 0;
};

class Pager {
 public:
  explicit Pager(Pages& pages) : peer_(std::make_unique<Peer>(pages)) {}

  // The next page, or the first again after the last.
  v1::Response next() {
    v1::Request request;
    request.mutable_draws()->set_snapshot_id(snapshot_);
    request.mutable_draws()->set_first(first_);
    request.mutable_draws()->set_count(kPage);
    const v1::Response answer = peer_->ask(request);
    if (answer.has_refusal()) {
      ++refused;
      snapshot_ = first_ = 0;
      return answer;
    }
    const std::uint64_t got = answer.draws_result().provenance().snapshot_id();
    EXPECT_TRUE(snapshot_ == 0 || snapshot_ == got);
    snapshot_ = got;
    first_ += kPage;
    if (first_ == kDraws) {
      ++finished;
      snapshot_ = first_ = 0;
    }
    return answer;
  }
  std::uint64_t begun() { return next().draws_result().provenance().snapshot_id(); }
  void go() { peer_.reset(); }

  int finished = 0;
  int refused = 0;

 private:
  std::unique_ptr<Peer> peer_;
  std::uint64_t snapshot_ = 0;
  std::uint32_t first_ = 0;
};

// Found from outside: two clients that page took each other's snapshot away.
TEST(PagingTable, ClientsOfEverySpeedAllFinish) {
  for (const std::size_t clients : {2U, 4U, 9U}) {
    Pages pages;
    std::vector<Pager> pagers;
    for (std::size_t i = 0; i < clients; ++i) pagers.emplace_back(pages);
    for (int step = 0; step < 400; ++step) {
      for (std::size_t i = 0; i < clients; ++i) {
        if (step % static_cast<int>(i + 1) == 0) (void)pagers[i].next();
      }
      if (step % 3 == 0) pages.publish();
      pages.clock.advance_ns(kSecond / 2);
    }
    for (const Pager& pager : pagers) {
      EXPECT_EQ(pager.refused, 0) << clients;
      EXPECT_GE(pager.finished, 4) << clients;
    }
  }
}

TEST(PagingTable, WhoPagesOnInTimeIsNeverEvictedAndWhoDoesNotIs) {
  Pages pages;
  std::vector<Pager> pagers;
  for (int i = 0; i < 8; ++i) pagers.emplace_back(pages);
  const std::uint64_t first = pagers[0].begun();
  for (std::size_t i = 1; i < 8; ++i) {
    pages.publish();
    pages.clock.advance_ns(PagingTable::kKeptNs / 8);
    (void)pagers[i].next();
  }
  EXPECT_EQ(pagers[0].next().draws_result().provenance().snapshot_id(), first);
  pages.clock.advance_ns(PagingTable::kKeptNs);
  for (std::size_t i = 1; i < 5; ++i) {
    Pager late(pages);
    pages.publish();
    (void)late.begun();
    EXPECT_EQ(late.refused, 0);
    pagers.push_back(std::move(late));
  }
  EXPECT_EQ(pagers[0].next().refusal().reason(), v1::REASON_UNAVAILABLE);
}

TEST(PagingTable, NewcomerGetsTheNewestSnapshotOrSharesTheYoungestKept) {
  Pages pages;
  std::vector<Pager> pagers;
  std::vector<std::uint64_t> snapshots;
  for (int i = 0; i < 6; ++i) {
    pagers.emplace_back(pages);
    snapshots.push_back(pagers.back().begun());
    pages.publish();
    pages.clock.advance_ns(1);
  }
  for (std::size_t i = 1; i < 4; ++i) EXPECT_GT(snapshots[i], snapshots[i - 1]);
  EXPECT_EQ(snapshots[4], snapshots[3]);
  EXPECT_EQ(snapshots[5], snapshots[3]);
  pagers[1].go();  // its place is free at once
  Pager next(pages);
  EXPECT_GT(next.begun(), snapshots[3]);
  EXPECT_EQ(pagers[4].next().draws_result().provenance().snapshot_id(), snapshots[3]);
}

TEST(PagingTable, OneClientThatBeginsAgainAndAgainTakesOnePlace) {
  Pages pages;
  Pager steady(pages);
  const std::uint64_t kept = steady.begun();
  Peer hasty(pages);
  v1::Request begin;
  begin.mutable_draws()->set_count(kPage);
  std::uint64_t last = kept;
  for (int i = 0; i < 10; ++i) {
    pages.publish();
    pages.clock.advance_ns(1);
    const std::uint64_t got = hasty.ask(begin).draws_result().provenance().snapshot_id();
    EXPECT_GT(got, last);
    last = got;
  }
  EXPECT_EQ(steady.next().draws_result().provenance().snapshot_id(), kept);
}

TEST(PagingTable, ThoseWhoBeginOnTheSameSnapshotShareAPlace) {
  Pages pages;
  std::vector<Pager> pagers;
  for (int i = 0; i < 9; ++i) pagers.emplace_back(pages);
  const std::uint64_t first = pagers[0].begun();
  for (std::size_t i = 1; i < 9; ++i) EXPECT_EQ(pagers[i].begun(), first);
  pages.publish();
  Pager newer(pages);
  EXPECT_GT(newer.begun(), first);
}

}  // namespace
}  // namespace windhover::paging_table_test
