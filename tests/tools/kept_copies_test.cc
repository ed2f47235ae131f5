// Folders that a server has written, and copied: backups, and what is restored from them.
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <string>
#include <thread>
#include <vector>

#include "windhover/tests/io/durable/key_client.h"
#include "windhover/tests/tools/kept_support.h"
#include "windhover/tests/tools/support.h"
#include "windhover/tools/kept/checkpoint_contents.h"
#include "windhover/tools/kept/copy_history.h"
#include "windhover/tools/kept/kept_log.h"

namespace windhover::testing::kept_copies_test {
namespace {

const CopyProgress kSilent = [](double, const std::string&) {};

CopyReport copy(const std::string& from, const std::string& to, const CopyOptions& options = {}) {
  KeptFolder folder(from);
  return copy_history(folder, to, options, kSilent);
}

TEST(Backup, IsServedAsTheOriginalWas) {
  const std::string to = temporary_path("backup");
  const CopyReport report = copy(history(), to);
  EXPECT_EQ(report.rows, 3'000U);
  EXPECT_EQ(report.checkpoint_head, 2'000U);
  EXPECT_EQ(report.producers, (Producers{{7, 2'000}, {8, 1'000}}));
  EXPECT_TRUE(report.remarks.empty());
  EXPECT_FALSE(std::filesystem::exists(to + ".unfinished"));
  ServerLife life(server_on_disk(to));
  ASSERT_TRUE(life.opens()) << life.error();
  EXPECT_EQ(life.server().models().instance_id(), report.instance);
  EXPECT_TRUE(eventually([&] { return life.engine().head() == 3'000; }));
  EXPECT_EQ(next_of(life, 7), 2'000U);
  EXPECT_EQ(next_of(life, 8), 1'000U);
  // The stream goes on.
  send_rows(life, 8, 1'000, 100);
  EXPECT_EQ(life.engine().head(), 3'100U);
}

// A frame of outcomes that the end of the copy cuts takes with it which keys its rows were: those
// before the end are settled, and those behind it wait.
TEST(Backup, CutsTheKeysOfAFrameWithItsRows) {
  const std::string from = temporary_path("keys");
  {
    ServerLife life(server_on_disk(from), keyed_engine());
    ASSERT_TRUE(life.opens()) << life.error();
    KeyClient client(life);
    std::vector<std::uint64_t> numbers;
    for (std::uint64_t i = 0; i < 10; ++i) {
      (void)client.ask(i);
      numbers.push_back(i);
    }
    ASSERT_TRUE(life.checkpoint());
    client.shout(numbers);
    ASSERT_TRUE(eventually([&] { return life.server().kept().log().durable_head.load() == 10U; }));
  }
  const std::string to = temporary_path("cut-keys");
  CopyOptions options;
  options.to_row = 4;
  EXPECT_EQ(copy(from, to, options).rows, 4U);
  ServerLife life(server_on_disk(to), keyed_engine());
  ASSERT_TRUE(life.opens()) << life.error();
  ASSERT_TRUE(eventually([&] { return life.engine().head() == 4U; }));
  KeyClient client(life);
  for (std::uint64_t i = 0; i < 10; ++i) {
    EXPECT_EQ(of(client.tell(i)), i < 4 ? Became::kDuplicate : Became::kAccepted) << i;
  }
}

TEST(Backup, OfAServerAtWorkHasAllThatWasAcknowledgedBefore) {
  const std::string from = temporary_path("at-work");
  ServerLife life(server_on_disk(from));
  ASSERT_TRUE(life.opens()) << life.error();
  send_rows(life, 7, 0, 1'000);
  std::atomic<bool> done{false};
  std::thread sender([&] {
    Client client;
    EXPECT_EQ(client.connect(life.observe(), {.producer = 9}), Status::kOk);
    for (std::size_t at = 0; !done; at += 100) {
      ASSERT_EQ(client.observe(TestRows(100, at).rows()), Status::kOk) << client.error_text();
      if (at % 20'000 == 0) life.server().kept().request_checkpoint().value();
    }
  });
  for (int i = 0; i < 5; ++i) {
    const std::uint64_t before = life.server().kept().log().durable_head.load();
    const std::string to = temporary_path("hot-" + std::to_string(i));
    const CopyReport report = copy(from, to);
    EXPECT_GE(report.rows, before);
    EXPECT_EQ(report.instance, life.server().models().instance_id());
    ServerLife again(server_on_disk(to));
    ASSERT_TRUE(again.opens()) << again.error();
    EXPECT_TRUE(eventually([&] { return again.engine().head() == report.rows; }));
    EXPECT_EQ(next_of(again, 7) + next_of(again, 9), report.rows);
  }
  done = true;
  sender.join();
}

TEST(Backup, RefusesADestinationThatIsThereAndLeavesNothingAfterAFailure) {
  const std::string to = temporary_path("taken");
  std::filesystem::create_directory(to);
  EXPECT_TRUE(says(refusal_of([&] { copy(history(), to); }), "is there already"));
  std::filesystem::remove(to);
  std::filesystem::create_directory(to + ".unfinished");
  EXPECT_TRUE(
      says(refusal_of([&] { copy(history(), to); }), "left by a copy that was interrupted"));
  EXPECT_TRUE(says(failure_of([] { copy(history(), "/nonexistent/folder/dest"); }),
                   "cannot be made: No such file or directory"));
}

class RestoreTo : public ::testing::TestWithParam<std::uint64_t> {};

TEST_P(RestoreTo, ExactlySoManyRows) {
  const std::uint64_t rows = GetParam();
  const std::string to = temporary_path("restored-" + std::to_string(rows));
  const CopyReport report = copy(history(), to, {.to_row = rows, .new_instance = true});
  const Producers expected =
      rows > 2'000 ? Producers{{7, 2'000}, {8, rows - 2'000}} : Producers{{7, rows}};
  EXPECT_EQ(report.rows, rows);
  EXPECT_EQ(report.checkpoint_head, rows < 2'000 ? 1'000U : 2'000U);
  EXPECT_EQ(report.producers, expected);
  ServerLife life(server_on_disk(to));
  ASSERT_TRUE(life.opens()) << life.error();
  EXPECT_EQ(life.server().models().instance_id(), report.instance);
  EXPECT_NE(report.instance, KeptFolder(history()).log_identity().value().instance);
  EXPECT_TRUE(eventually([&] { return life.engine().head() == rows; }));
  for (const auto& [producer, next] : expected) EXPECT_EQ(next_of(life, producer), next);
}

INSTANTIATE_TEST_SUITE_P(Rows, RestoreTo,
                         ::testing::Values(1'000, 1'001, 1'050, 1'999, 2'000, 2'001, 2'550, 3'000),
                         ::testing::PrintToStringParamName());

TEST(Restore, GivesTheLogAnotherSizeAndKeepsEveryRow) {
  for (const std::uint64_t segments : {5U, 40U}) {
    const std::string to = temporary_path("resized-" + std::to_string(segments));
    const std::uint64_t segment = segments < 16 ? 1 << 20 : 2 << 20;
    const CopyReport report = copy(history(), to,
                                   {.to_row = {},
                                    .new_instance = true,
                                    .log_bytes = segments * segment,
                                    .segment_bytes = segment});
    EXPECT_EQ(report.rows, 3'000U);
    ServerConfig config = server_on_disk(to);
    EXPECT_TRUE(
        says(ServerLife(config).error(), "keep these, or have windhover restore --log-bytes"));
    config.durable.log_options.bytes = segments * segment;
    config.durable.log_options.segment_bytes = segment;
    ServerLife life(config);
    ASSERT_TRUE(life.opens()) << life.error();
    EXPECT_TRUE(eventually([&] { return life.engine().head() == 3'000; }));
    EXPECT_EQ(next_of(life, 7), 2'000U);
    EXPECT_EQ(next_of(life, 8), 1'000U);
    send_rows(life, 8, 1'000, 100);
    EXPECT_EQ(life.engine().head(), 3'100U);
  }
}

TEST(Restore, OfALogThatCannotBeReadGoesBackToTheNewestCheckpoint) {
  const std::string from = temporary_path("unreadable");
  std::filesystem::copy(history(), from);
  flip(from + "/identity", 20);
  {
    const ServerLife refused(server_on_disk(from));
    EXPECT_TRUE(says(refused.error(), "the log cannot be read (windhover restore --without-log"));
    EXPECT_TRUE(says(refused.error(), "): the log's identity is damaged"));
  }
  const std::string to = temporary_path("without-log");
  EXPECT_TRUE(says(failure_of([&] { copy(from, to); }), "the log's identity is damaged"));
  const CopyReport report =
      copy(from, to, {.to_row = {}, .new_instance = true, .without_log = true});
  EXPECT_FALSE(report.has_log);
  EXPECT_EQ(report.rows, 2'000U);
  EXPECT_EQ(report.producers, (Producers{{7, 2'000}}));
  ServerLife life(server_on_disk(to));
  ASSERT_TRUE(life.opens()) << life.error();
  EXPECT_EQ(life.engine().head(), 2'000U);
  EXPECT_EQ(next_of(life, 7), 2'000U);
  send_rows(life, 8, 0, 100);
  EXPECT_EQ(life.engine().head(), 2'100U);
}

// What is taken is the checkpoint alone, as where there never was a log.
TEST(Restore, OfALogWithoutItsIdentitySaysThatItsRowsAreLeftOut) {
  const std::string from = temporary_path("no-identity");
  std::filesystem::copy(history(), from);
  std::filesystem::remove(from + "/identity");
  const CopyReport report = copy(from, temporary_path("of-no-identity"));
  EXPECT_FALSE(report.has_log);
  EXPECT_EQ(report.rows, 2'000U);
  ASSERT_EQ(report.remarks.size(), 1U);
  EXPECT_TRUE(says(report.remarks[0], "the identity of the log is missing"));
  const CopyReport asked =
      copy(from, temporary_path("asked-for"), {.to_row = {}, .without_log = true});
  EXPECT_TRUE(asked.remarks.empty());
}

TEST(Restore, RefusesALogSizeThatCannotBeWithTheNumberThatCan) {
  const std::string to = temporary_path("wrong-size");
  EXPECT_EQ(refusal_of([&] { copy(history(), to, {.to_row = {}, .log_bytes = 4 << 20}); }),
            "data.log_bytes must be a multiple of data.segment_bytes, 1048576, from 5 to 512 times "
            "as much; it is 4194304: 5242880 would do");
  EXPECT_TRUE(says(refusal_of([&] { copy(history(), to, {.to_row = {}, .log_bytes = 0}); }),
                   "it is 0: 5242880 would do"));
  EXPECT_FALSE(std::filesystem::exists(to));
  EXPECT_FALSE(std::filesystem::exists(to + ".unfinished"));
}

TEST(Restore, SaysWhereTheHistoryBeginsAndEnds) {
  const std::string to = temporary_path("nowhere");
  EXPECT_TRUE(says(refusal_of([&] { copy(history(), to, {.to_row = 3'001}); }),
                   "ends at row 3,000: row 3,001 is beyond it"));
  EXPECT_TRUE(says(refusal_of([&] { copy(history(), to, {.to_row = 999}); }),
                   "row 999 is before the oldest checkpoint"));
  EXPECT_FALSE(std::filesystem::exists(to));
  EXPECT_FALSE(std::filesystem::exists(to + ".unfinished"));
}

TEST(Restore, PassesOverADamagedCheckpoint) {
  const std::string from = temporary_path("bad-checkpoint");
  (void)copy(history(), from);
  std::filesystem::copy_file(
      history() + "/" + KeptFolder::checkpoint_name(KeptFolder(history()).checkpoints().back()),
      from + "/" + KeptFolder::checkpoint_name(2));
  flip(from + "/" + KeptFolder::checkpoint_name(2), 500);
  const CopyReport report = copy(from, temporary_path("from-the-older"));
  EXPECT_EQ(report.checkpoint, 1U);
  EXPECT_EQ(report.rows, 3'000U);
  ASSERT_EQ(report.remarks.size(), 1U);
  EXPECT_TRUE(says(report.remarks[0], "the checkpoint is damaged"));
  flip(from + "/" + KeptFolder::checkpoint_name(1), 500);
  EXPECT_TRUE(
      says(failure_of([&] { copy(from, temporary_path("from-none")); }), "no checkpoint is good"));
}

// The value stands twice in seventeen rows: as the target of x = -1, and as an x.
constexpr std::size_t occurrence_in(std::size_t row) { return 2 * row / 17; }

// A copy ends with a seal, as a log at rest does.
TEST(Backup, DamageToItsLastCommitIsNoCommitThatWasNeverFinished) {
  const std::string to = temporary_path("copied-whole");
  (void)copy(history(), to);
  std::ifstream file(to + "/segment-0000", std::ios::binary);
  const std::string content{std::istreambuf_iterator<char>(file), {}};
  constexpr double kValue = -0.25;
  std::string bits(sizeof kValue, '\0');
  std::memcpy(bits.data(), &kValue, sizeof kValue);
  const std::size_t last = content.rfind(bits);
  ASSERT_NE(last, std::string::npos);
  flip(to + "/segment-0000", static_cast<std::streamoff>(last));
  const std::string sentence = failure_of([&] { (void)exported(to); });
  EXPECT_TRUE(says(sentence, "/segment-0000 at byte "));
  EXPECT_TRUE(says(sentence, "the log is damaged"));
}

TEST(Restore, GoesUpToDamageInTheLog) {
  for (const std::size_t damaged : {2'550U, 500U}) {
    const std::string name = "bad-log-" + std::to_string(damaged);
    const std::string from = temporary_path(name);
    std::filesystem::copy(history(), from);
    flip_in_log(from, -0.25, occurrence_in(damaged));
    const std::string sentence = failure_of([&] { (void)copy(from, temporary_path("damaged")); });
    EXPECT_TRUE(says(sentence, "damaged"));
    EXPECT_TRUE(says(sentence, "at byte"));
    const std::size_t hint = sentence.find("--to-row ");
    ASSERT_NE(hint, std::string::npos) << sentence;
    const std::uint64_t row = std::stoull(sentence.substr(hint + 9));
    // A checkpoint may be behind the damage; what the log says after it is then out of reach.
    EXPECT_EQ(row, damaged > 2'000 ? 2'500U : 2'000U) << sentence;
    const CopyReport report =
        copy(from, temporary_path(name + "-before"), {.to_row = row, .new_instance = true});
    EXPECT_EQ(report.rows, row);
  }
}

TEST(Restore, NamesASegmentThatIsMissing) {
  const std::string from = temporary_path("incomplete");
  std::filesystem::copy(history(), from);
  std::filesystem::remove(from + "/segment-0005");
  EXPECT_TRUE(says(failure_of([&] { (void)copy(from, temporary_path("nothing")); }),
                   "segment-0005, a part of the log: No such file"));
}

}  // namespace
}  // namespace windhover::testing::kept_copies_test
