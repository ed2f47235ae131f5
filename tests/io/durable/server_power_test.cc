// Power cuts, kills and failing syncs of a whole server at any change of its disk, in lives one
// after another on one folder: log, checkpoints and recovery together.
#include <gtest/gtest.h>

#include <deque>
#include <iostream>
#include <random>
#include <utility>

#include "windhover/tests/io/durable/faulty_folder.h"
#include "windhover/tests/io/durable/stream_on_disk.h"
#include "windhover/tests/long_tests.h"

namespace windhover::testing::server_power_test {
namespace {

constexpr const char* kNewCheckpoint = "checkpoint.new";

// What the test has met.
struct Met {
  std::uint64_t cuts = 0;
  std::uint64_t kills = 0;
  std::uint64_t refused_starts = 0;  // the disk stopped before there was a server
  std::uint64_t ended_at_once = 0;   // and while a server was still reading its log, or had just
  std::uint64_t failed_commits = 0;
  std::uint64_t checkpoints = 0;
  std::uint64_t checkpoints_ahead = 0;  // they had more rows than the log when the life ended
  std::uint64_t acknowledged = 0;       // rows
  std::uint64_t duplicates = 0;
  std::uint64_t unacknowledged = 0;  // frames on their way when the disk stopped
  std::uint64_t kept_unasked = 0;    // rows that nobody was told of and that are there
};

class HardServer {
 public:
  HardServer(std::uint64_t seed, Met& met) : random_(seed), met_(met) {}

  // Lives from a start to a cut or a kill at any change of the disk.
  void live() {
    // What a killed process leaves in the page cache is there for sure only when a start has
    // succeeded.
    LoggedHistory found = history_;
    ASSERT_EQ(found.read(disk_), "");
    ASSERT_GE(found.rows(), durable_rows_);
    for (std::uint64_t p = 1; p <= kStreams; ++p) {
      ASSERT_GE(found.next(p), acknowledged_[p - 1]) << "producer " << p;
    }
    const bool early = below(4) == 0;
    const bool fails = !early && below(8) == 0;
    if (early) disk_.stop_after(disk_.changes() + below(history_.rows() == 0 ? 60 : 12));
    const bool left_over = disk_.has(kNewCheckpoint);
    {
      std::deque<StreamSender> senders;
      ServerLife life(small_log_on_disk(&faulty_), exact_engine());
      if (!life.opens()) {
        ASSERT_TRUE(disk_.has_stopped()) << life.error();
        ++met_.refused_starts;
      } else {
        take_up(std::move(found));
        const bool at_once = early && below(2) == 0;
        met_.ended_at_once += at_once ? 1 : 0;
        if (!at_once) {
          ASSERT_NO_FATAL_FAILURE(expect_stands_at(life, history_));
          const bool for_good = fails && below(2) == 0;
          if (for_good) faulty_.only("segment-");
          if (fails) faulty_.fail(Call::kSync, below(8), EIO, for_good ? UINT32_MAX : 1 + below(2));
          if (!early && !fails) disk_.stop_after(disk_.changes() + below(60));
          ASSERT_NO_FATAL_FAILURE(send(life, senders));
          ASSERT_TRUE(fails || disk_.has_stopped());
          if (for_good) begin_checkpoint(life, left_over);
        }
      }
      (void)life.end(false);
      for (StreamSender& sender : senders) hear_out(sender);
      if (life.opens()) note(life);
    }
    faulty_.heal();
    const bool kill = below(3) == 0;
    kill ? disk_.kill_process() : disk_.cut_power(random_);
    ++(kill ? met_.kills : met_.cuts);
  }

 private:
  std::uint64_t below(std::uint64_t n) { return random_() % n; }

  void take_up(LoggedHistory found) {
    for (std::uint64_t p = 1; p <= kStreams; ++p) {
      met_.kept_unasked += found.next(p) - acknowledged_[p - 1];
      acknowledged_[p - 1] = found.next(p);
    }
    history_ = std::move(found);
  }

  // Sends until the disk stops or a commit fails, and no more than the log holds, where all is
  // found again.
  void send(ServerLife& life, std::deque<StreamSender>& senders) {
    for (std::uint64_t p = 1; p <= kStreams; ++p) {
      const std::uint64_t next = history_.next(p);
      senders.emplace_back(p, life, next - std::min(next, below(20)));
      ASSERT_TRUE(senders.back().connected()) << senders.back().client().error_text();
    }
    const auto over = [&] {
      return disk_.has_stopped() || !ok(life.server().kept().log().status.load());
    };
    for (int round = 0; round < 30 && !over(); ++round) {
      if (below(4) == 0) (void)life.server().kept().request_checkpoint();
      for (StreamSender& sender : senders) ASSERT_TRUE(sender.send(1 + below(8)));
      const bool all = below(3) != 0;  // some rounds wait, and some go on at once
      for (StreamSender& sender : senders) {
        do {
          ASSERT_TRUE(sender.listen()) << sender.client().error_text();
          std::this_thread::yield();
        } while (all && sender.outstanding() > 0 && !over());
      }
    }
  }

  // Whatever the server acknowledged until it ended counts, also after the disk had failed.
  void hear_out(StreamSender& sender) {
    sender.listen_to_the_end();
    ASSERT_TRUE(sender.outstanding() == 0 || !sender.client().connected());
    const std::uint64_t told = sender.acknowledged();
    std::uint64_t& known = acknowledged_[sender.producer() - 1];
    if (told > known) met_.acknowledged += told - known;
    known = std::max(known, told);
    met_.duplicates += sender.duplicates();
    met_.unacknowledged += sender.outstanding();
  }

  // Begins a checkpoint that has more rows than the log; it may not be finished. It is counted
  // where one is begun, if none was left over from an earlier life.
  void begin_checkpoint(ServerLife& life, bool left_over) {
    if (life.server().kept().log().durable_head.load() == life.engine().head()) return;
    const std::uint64_t number = life.server().kept().request_checkpoint().value();
    const std::atomic<std::uint64_t>& answered = life.server().kept().checkpoints().answered;
    bool begun = false;
    ASSERT_TRUE(eventually([&] {
      begun = disk_.has(kNewCheckpoint);
      return begun || answered >= number;
    }));
    met_.checkpoints_ahead += begun && !left_over ? 1 : 0;
  }

  void note(ServerLife& life) {
    durable_rows_ = std::max(durable_rows_, life.server().kept().log().durable_head.load());
    met_.failed_commits += life.server().kept().log().failures.load();
    met_.checkpoints += life.server().kept().checkpoints().taken.load();
  }

  std::mt19937_64 random_;
  Met& met_;
  RecordingFolder disk_;
  FaultyFolder faulty_{disk_};
  LoggedHistory history_;
  std::uint64_t durable_rows_ = 0;
  std::array<std::uint64_t, kStreams> acknowledged_{};
};

void cut(std::uint64_t lives, std::uint64_t cuts_each, std::uint64_t seed) {
  Met met;
  for (std::uint64_t i = 0; i < lives; ++i) {
    HardServer server(seed + i, met);
    for (std::uint64_t k = 0; k < cuts_each; ++k) {
      server.live();
      ASSERT_FALSE(::testing::Test::HasFatalFailure()) << "seed " << seed + i << ", cut " << k;
    }
  }
  const std::uint64_t cuts = lives * cuts_each;
  EXPECT_EQ(met.cuts + met.kills, cuts);
  EXPECT_GT(met.cuts, cuts / 2);
  EXPECT_GT(met.kills, cuts / 5);
  // Far below what is to be expected: threads take other ways from run to run.
  EXPECT_GT(met.refused_starts, cuts / 100);
  EXPECT_GT(met.ended_at_once, cuts / 100);
  EXPECT_GT(met.failed_commits, cuts / 4);
  EXPECT_GT(met.checkpoints, cuts / 8);
  EXPECT_GT(met.checkpoints_ahead, cuts / 1000);
  EXPECT_GT(met.acknowledged, cuts * 10);
  EXPECT_GT(met.duplicates, cuts);
  EXPECT_GT(met.unacknowledged, cuts / 2);
  EXPECT_GT(met.kept_unasked, 0U);
  std::cout << met.cuts << " cuts and " << met.kills << " kills: " << met.refused_starts
            << " starts refused, " << met.ended_at_once << " ended at once, " << met.failed_commits
            << " failed commits, " << met.checkpoints << " checkpoints, " << met.checkpoints_ahead
            << " begun ahead of the log, " << met.acknowledged << " rows acknowledged, "
            << met.duplicates << " duplicates, " << met.unacknowledged
            << " frames not acknowledged, " << met.kept_unasked << " rows kept unasked\n";
}

TEST(ServerPower, NothingAcknowledgedIsLostOrLearnedTwiceBySomeCuts) { cut(12, 25, 1); }

TEST(ServerPower, NothingAcknowledgedIsLostOrLearnedTwiceByTenThousandCuts) {
  WINDHOVER_SKIP_UNLESS_LONG();
  cut(400, 25, 1'000);
}

}  // namespace
}  // namespace windhover::testing::server_power_test
