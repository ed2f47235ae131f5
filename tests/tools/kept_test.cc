// Folders that a server has written, and read: checkpoints, the log, rows exported.
#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <fstream>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "windhover/io/producer_table.h"
#include "windhover/tests/tools/kept_support.h"
#include "windhover/tests/tools/support.h"
#include "windhover/tools/kept/checkpoint_contents.h"
#include "windhover/tools/kept/export_rows.h"
#include "windhover/tools/kept/kept_log.h"
#include "windhover/tools/kept/kept_text.h"

namespace windhover::testing::kept_test {
namespace {

std::size_t lines(const std::string& text) {
  return static_cast<std::size_t>(std::count(text.begin(), text.end(), '\n'));
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

TEST(KeptFolder, OfSeveralModelsSaysWhichOnesThereAre) {
  const std::string several = temporary_path("several");
  std::filesystem::create_directory(several);
  const auto refusal = [&] { return refusal_of([&] { KeptFolder folder(several); }); };
  for (const char* model : {"price", "clicks", "empty"}) {
    std::filesystem::create_directory(several + "/" + model);
  }
  EXPECT_TRUE(says(refusal(), "is no data folder of windhoverd"));
  for (const char* model : {"price", "clicks"}) {
    std::filesystem::copy_file(history() + "/identity", several + "/" + model + "/identity");
  }
  EXPECT_EQ(refusal(), several + " holds the folders of a daemon's models: give one of them, " +
                           several + "/clicks, " + several + "/price");
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

// Trials stand beside the target, and are learned again after a restart.
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

}  // namespace
}  // namespace windhover::testing::kept_test
