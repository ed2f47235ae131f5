// Folders that a server has written, read and copied.
#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "windhover/io/producer_table.h"
#include "windhover/tests/tools/kept_support.h"
#include "windhover/tests/tools/support.h"
#include "windhover/tools/client/durable_text.h"
#include "windhover/tools/kept/copy_history.h"
#include "windhover/tools/kept/export_rows.h"
#include "windhover/tools/kept/kept_log.h"
#include "windhover/tools/kept/kept_text.h"

namespace windhover::testing::kept_test {
namespace {

const CopyProgress kSilent = [](double, const std::string&) {};

std::string failure_of(const auto& action) {
  try {
    action();
  } catch (const RunError& error) {
    return error.what();
  }
  return "nothing failed";
}

CopyReport copy(const std::string& from, const std::string& to, const CopyOptions& options = {}) {
  KeptFolder folder(from);
  return copy_history(folder, to, options, kSilent);
}

std::string exported(const std::string& path, const ExportOptions& options = {}) {
  const std::string csv = temporary_path("exported.csv");
  std::FILE* file = std::fopen(csv.c_str(), "w");
  KeptFolder folder(path);
  (void)export_rows(folder, options, file, [](std::uint64_t) {});
  std::fclose(file);
  std::ifstream in(csv);
  return {std::istreambuf_iterator<char>(in), {}};
}

std::size_t lines(const std::string& text) {
  return static_cast<std::size_t>(std::count(text.begin(), text.end(), '\n'));
}

// Written once, only read by the tests.
const std::string& history() {
  static const std::string path = folder_with_history("history");
  return path;
}

TEST(KeptText, Numbers) {
  EXPECT_EQ(grouped(0), "0");
  EXPECT_EQ(grouped(999), "999");
  EXPECT_EQ(grouped(1'000), "1,000");
  EXPECT_EQ(grouped(UINT64_MAX), "18,446,744,073,709,551,615");
  EXPECT_EQ(time_text(0), "1970-01-01 00:00:00");
  EXPECT_EQ(time_text(-1), "1969-12-31 23:59:59");
  EXPECT_EQ(time_text(1'795'554'192'999'999'999), "2026-11-24 21:03:12");
  EXPECT_EQ(id_text(255), "00000000000000ff");
}

TEST(KeptFolder, SaysWhatIsNone) {
  EXPECT_TRUE(says(refusal_of([] { KeptFolder("/nonexistent/folder"); }), "give a data folder"));
  const std::string other = temporary_path("other");
  std::filesystem::create_directory(other);
  std::ofstream(other + "/checkpoint-1") << "notes";
  EXPECT_TRUE(
      says(refusal_of([&] { KeptFolder folder(other); }), "is no data folder of windhoverd"));
  EXPECT_TRUE(
      says(refusal_of([&] { KeptFolder folder(other + "/checkpoint-1"); }), "Not a directory"));
}

TEST(KeptFolder, CheckpointsAndWhatTheyHold) {
  KeptFolder folder(history());
  const std::vector<std::uint64_t> numbers = folder.checkpoints();
  ASSERT_EQ(numbers.size(), 2U);
  EXPECT_LT(numbers[0], numbers[1]);
  EXPECT_EQ(folder.peek(numbers[0]).value().head, 1'000U);
  Result<CheckpointReader> reader = folder.open(numbers[1]);
  ASSERT_TRUE(reader.ok());
  const CheckpointContents contents = read_contents(reader.value());
  EXPECT_EQ(contents.producers, (Producers{{7, 2'000}}));
  EXPECT_EQ(contents.header.head, 2'000U);
  EXPECT_EQ(contents.field("model.features"), kFeatures);
  EXPECT_EQ(contents.layout().features(), kFeatures);
  ASSERT_GT(contents.sections.size(), 2U);
  EXPECT_EQ(contents.sections[0].name, "configuration");
  EXPECT_EQ(contents.sections[1].name, "rows");
  EXPECT_EQ(contents.sections[1].rows, 2'000U);
}

// The newest checkpoint of history(), its table of producers replaced; what is wrong with it.
std::string fault_with(const std::vector<std::uint64_t>& table) {
  KeptFolder folder(history());
  Result<CheckpointReader> reader = folder.open(folder.checkpoints().back());
  if (!reader.ok()) return "cannot be opened";
  (void)read_producers(reader.value());
  std::vector<std::byte> engine(reader.value().left());
  EXPECT_EQ(reader.value().read(engine), Status::kOk);

  PosixFolder to = std::move(PosixFolder::open(temporary_path("producers").c_str(), true).value());
  std::array<std::byte, kMinCheckpointBuffer> buffer{};
  CheckpointWriter writer(buffer);
  EXPECT_EQ(writer.begin(to, "checkpoint", reader.value().facts()), Status::kOk);
  std::vector<std::uint64_t> numbers = table;
  numbers.insert(numbers.begin(), table.size() / 2);
  EXPECT_EQ(writer.write(std::as_bytes(std::span(numbers))), Status::kOk);
  EXPECT_EQ(writer.write(engine), Status::kOk);
  EXPECT_EQ(writer.finish(), Status::kOk);
  Result<CheckpointReader> written = CheckpointReader::open(to, "checkpoint", buffer);
  EXPECT_TRUE(written.ok());
  return failure_of([&] { (void)read_contents(written.value()); });
}

TEST(KeptFolder, ATableOfProducersThatTheServerRefusesIsNotGood) {
  EXPECT_EQ(fault_with({7, 2'000, 8, 1}), "nothing failed");
  EXPECT_EQ(fault_with({kNoProducer, 3, 7, 2'000}), "nothing failed") << "three were forgotten";
  EXPECT_EQ(fault_with({7, 2'000, 8, 1, 7, 1'000}), "the checkpoint names producer 7 twice");
  EXPECT_EQ(fault_with({kOwnerOfTheNext, 5, 7, 2'000}), "nothing failed") << "an owner";
  EXPECT_TRUE(says(fault_with({0, 5}), "nobody's number"));
  EXPECT_TRUE(says(fault_with({7, 2'000, kNoProducer, 3}), "nobody's number"));
  EXPECT_TRUE(says(fault_with({kNoProducer, 3, kNoProducer, 3}), "nobody's number"));
}

TEST(KeptLog, EveryFrameOnce) {
  KeptFolder folder(history());
  const LogIdentity identity = folder.log_identity().value();
  KeptLog log(folder, identity, std::nullopt);
  LoggedFrame frame;
  std::span<const std::byte> payload;
  std::uint64_t rows = 0;
  while (log.next(frame, payload)) {
    EXPECT_EQ(frame.head, rows);
    rows += frame.accepted;
    EXPECT_EQ(payload.size(), frame.accepted * (kFeatures + 1) * sizeof(double));
  }
  EXPECT_EQ(rows, 3'000U);
}

TEST(ExportRows, EveryRowWithItsNumbers) {
  const std::string csv = exported(history());
  EXPECT_EQ(lines(csv), 3'001U);
  EXPECT_EQ(csv.substr(0, csv.find('\n')), "row,producer,sequence,x1,x2,x3,y");
  EXPECT_TRUE(says(csv, "\n0,7,0,-1,1,2,-0.25\n"));
  EXPECT_TRUE(says(csv, "\n1999,7,1999,"));
  EXPECT_TRUE(says(csv, "\n2000,8,0,-1,1,2,-0.25\n"));
  EXPECT_TRUE(says(csv, "\n2999,8,999,"));
}

TEST(ExportRows, ARangeOfRows) {
  const std::string csv = exported(history(), {.from = 1'950, .to = 2'050, .schema = ""});
  EXPECT_EQ(lines(csv), 101U);
  EXPECT_TRUE(says(csv, "\n1950,7,1950,"));
  EXPECT_TRUE(says(csv, "\n2049,8,49,"));
  EXPECT_EQ(lines(exported(history(), {.from = 5, .to = 5, .schema = ""})), 1U);
  EXPECT_TRUE(says(refusal_of([] { exported(history(), {.from = 6, .to = 5, .schema = ""}); }),
                   "--from 6 is behind --to 5"));
  EXPECT_TRUE(says(refusal_of([] { exported(history(), {.from = 0, .to = 3'001, .schema = ""}); }),
                   "the log ends at row 3000: 3001 is beyond it"));
}

TEST(ExportRows, NamesOfTheSchema) {
  const auto schema_with = [](const char* name, int features) {
    std::string text = "target = \"y, scaled\"\n";
    for (int j = 0; j < features; ++j) {
      text += "[[feature]]\nfield = \"f" + std::to_string(j) +
              "\"\nkind = \"number\"\nshift = 0\nscale = 1\n";
    }
    return file_with(name, text);
  };
  const std::string csv =
      exported(history(), {.from = 0, .to = 1, .schema = schema_with("export.toml", kFeatures)});
  EXPECT_EQ(csv.substr(0, csv.find('\n')), "row,producer,sequence,f0,f1,f2,\"y, scaled\"");
  const std::string other = schema_with("other.toml", 2);
  EXPECT_TRUE(says(refusal_of([&] { exported(history(), {.from = 0, .to = 1, .schema = other}); }),
                   "is another schema than that of the log"));
}

// Beside the target, and learned again after a restart.
TEST(ExportRows, TrialsOfABinomialModel) {
  const std::string path = temporary_path("trials");
  EngineConfig engine = engine_on_disk();
  engine.model.name = "binomial";
  {
    ServerLife life(server_on_disk(path), engine);
    ASSERT_TRUE(life.opens()) << life.error();
    Client client;
    ASSERT_EQ(client.connect(life.observe(), {.producer = 7}), Status::kOk) << client.error_text();
    const std::vector<double> x = {0.5, 1, -2, 4, 0, 8};
    const std::vector<double> y = {3, 0};
    const std::vector<double> trials = {5, 1e9};
    ASSERT_EQ(client.observe({x, y, {}, {}, {}, {}, trials}), Status::kOk) << client.error_text();
    EXPECT_TRUE(life.checkpoint());
    EXPECT_EQ(client.send_observe({x, y, {}, {}}), Status::kTrialsMissing);
  }
  EXPECT_EQ(
      exported(path),
      "row,producer,sequence,x1,x2,x3,y,trials\n0,7,0,0.5,1,-2,3,5\n1,7,1,4,0,8,0,1000000000\n");
  ServerLife life(server_on_disk(path), engine);
  ASSERT_TRUE(life.opens()) << life.error();
  EXPECT_TRUE(eventually([&] { return life.engine().head() == 2; }));
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
  EXPECT_EQ(life.server().instance_id(), report.instance);
  EXPECT_TRUE(eventually([&] { return life.engine().head() == 3'000; }));
  EXPECT_EQ(next_of(life, 7), 2'000U);
  EXPECT_EQ(next_of(life, 8), 1'000U);
  // And goes on.
  send_rows(life, 8, 1'000, 100);
  EXPECT_EQ(life.engine().head(), 3'100U);
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
      if (at % 20'000 == 0) life.server().request_checkpoint().value();
    }
  });
  for (int i = 0; i < 5; ++i) {
    const std::uint64_t before = life.server().log().durable_head.load();
    const std::string to = temporary_path("hot-" + std::to_string(i));
    const CopyReport report = copy(from, to);
    EXPECT_GE(report.rows, before);
    EXPECT_EQ(report.instance, life.server().instance_id());
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
  EXPECT_EQ(life.server().instance_id(), report.instance);
  EXPECT_NE(report.instance, KeptFolder(history()).log_identity().value().instance);
  EXPECT_TRUE(eventually([&] { return life.engine().head() == rows; }));
  for (const auto& [producer, next] : expected) EXPECT_EQ(next_of(life, producer), next);
}

INSTANTIATE_TEST_SUITE_P(Rows, RestoreTo,
                         ::testing::Values(1'000, 1'001, 1'050, 1'999, 2'000, 2'001, 2'550, 3'000),
                         ::testing::PrintToStringParamName());

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

TEST(DurableText, SaysWhatIsOnDisk) {
  v1::Durable d;
  d.set_checkpoint_age_ns(-1);
  EXPECT_TRUE(says(durable_lines(d, 0).at(0), "nothing; a restart starts cold"));
  d.set_keeps_folder(true);
  d.set_durable_through(120'000);
  d.set_log_capacity_bytes(256 << 20);
  d.set_log_used_bytes(34 << 20);
  d.set_checkpoint_head(118'000);
  EXPECT_TRUE(says(durable_lines(d, 120'000).at(0),
                   "newest checkpoint from before the start, at row 118,000"));
  d.set_checkpoint_age_ns(12'000'000'000);
  ASSERT_EQ(durable_lines(d, 120'000).size(), 1U);
  EXPECT_EQ(durable_lines(d, 120'000).at(0),
            "on disk: all 120,000 rows; log 34.0 MiB of 256.0 MiB; newest checkpoint 12 s old, at "
            "row 118,000");
  EXPECT_TRUE(says(durable_lines(d, 120'500).at(0), "120,000 of 120,500 rows"));
  d.set_recovering_through(119'000);
  d.set_log_status(v1::REASON_IO_ERROR);
  d.set_log_errno(5);
  d.set_log_failures(3);
  d.set_checkpoint_status(v1::REASON_TIMEOUT);
  const std::vector<std::string> all = durable_lines(d, 120'000);
  ASSERT_EQ(all.size(), 4U);
  EXPECT_TRUE(says(all[1], "rows up to 119,000"));
  EXPECT_TRUE(says(all[2], "io_error: Input/output error; senders wait; 3 commits"));
  EXPECT_TRUE(says(all[3], "the last checkpoint failed: timeout"));
  EXPECT_EQ(durable_json(d)["log_errno"], 5);
  EXPECT_EQ(durable_json(d)["checkpoint_status"], "timeout");
  d.set_log_capacity_bytes(0);
  EXPECT_TRUE(says(durable_lines(d, 120'000).at(0), "checkpoints alone, no log"));
}

}  // namespace
}  // namespace windhover::testing::kept_test
