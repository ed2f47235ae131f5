// A checkpoint whose checksums are right and whose contents are not: a later version's, or a
// liar's.
#include <algorithm>
#include <filesystem>
#include <fstream>
#include <functional>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "windhover/io/durable/checkpoint_store.h"
#include "windhover/io/durable/log_format.h"
#include "windhover/io/durable/posix_folder.h"
#include "windhover/io/producer_table.h"
#include "windhover/tests/io/durable/server_on_disk.h"
#include "windhover/tests/runtime/memory_stream.h"
#include "windhover/tests/temporary_folder.h"

namespace windhover::testing::server_misfit_test {
namespace {

using test::Bytes;
using test::OpenCheckpoint;

// What a server's checkpoint holds, taken apart.
struct Body {
  std::vector<std::uint64_t> producers;  // who, what is expected next, by turns
  OpenCheckpoint engine;

  Bytes bytes() {
    Bytes all(8 + 8 * producers.size());
    store_number(all.data(), producers.size() / 2);
    for (std::size_t i = 0; i < producers.size(); ++i) {
      store_number(&all[8 + 8 * i], producers[i]);
    }
    const Bytes engine_bytes = engine.signed_anew();
    all.insert(all.end(), engine_bytes.begin(), engine_bytes.end());
    return all;
  }
};

class ServerMisfit : public ::testing::Test {
 protected:
  ServerMisfit() {
    ServerLife life(config_);
    Client client;
    EXPECT_EQ(client.connect(life.observe(), {.producer = 7}), Status::kOk) << client.error_text();
    EXPECT_EQ(client.send_observe(TestRows(100).rows()), Status::kOk) << client.error_text();
    EXPECT_EQ(client.wait_acknowledged(), Status::kOk) << client.error_text();
    (void)life.settled(100);
    EXPECT_EQ(life.end(true), Status::kOk);
  }

  // What a start says of a checkpoint that has been changed so, and is the newest.
  std::string start_with(const std::function<void(Body&)>& change) {
    PosixFolder folder = std::move(PosixFolder::open(path_.c_str(), false).value());
    Bytes buffer(kMinCheckpointBuffer);
    CheckpointStore store = CheckpointStore::open(folder, buffer).value();
    Result<CheckpointReader> opened = store.open_newest();
    const CheckpointFacts facts = opened.value().facts();
    Bytes all(opened.value().left());
    EXPECT_EQ(opened.value().read(all), Status::kOk);
    const std::size_t producers = load_number(all.data());
    Body body{{}, OpenCheckpoint(std::span(all).subspan(8 + 16 * producers))};
    for (std::size_t i = 0; i < 2 * producers; ++i) {
      body.producers.push_back(load_number(&all[8 + 8 * i]));
    }
    EXPECT_EQ(body.bytes(), all);
    change(body);
    EXPECT_EQ(store.begin(facts), Status::kOk);
    EXPECT_EQ(store.sink().write(body.bytes()), Status::kOk);
    EXPECT_EQ(store.finish(), Status::kOk);
    for (const auto& file : std::filesystem::directory_iterator(path_)) {
      if (is_checkpoint_file(file.path().filename().string())) {
        newest_ = std::max(newest_, file.path().string());
      }
    }
    return ServerLife(config_).error();
  }
  // Takes the newest away, so that the next change is made to what this one was made to.
  void take_away_newest() {
    std::filesystem::remove(newest_);
    newest_.clear();
  }
  checkpoint::SectionHeader section_at(std::streamoff byte) const {
    checkpoint::SectionHeader header;
    std::ifstream file(newest_, std::ios::binary);
    file.seekg(byte);
    file.read(reinterpret_cast<char*>(&header), sizeof(header));
    return header;
  }

  const std::string path_ = temporary_path(
      std::string("misfit-") + ::testing::UnitTest::GetInstance()->current_test_info()->name());
  const ServerConfig config_ = server_on_disk(path_);
  std::string newest_;
};

TEST_F(ServerMisfit, ASectionIsNamedWithItsByteInTheFile) {
  for (const std::string name : {"rows", "learner", "counters"}) {
    const std::string error = start_with([&](Body& body) {
      Bytes& payload = body.engine.named(name).payload;
      payload.resize(payload.size() + 8);
    });
    const std::string sentence =
        "the section '" + name + "' of the checkpoint is damaged; it begins at byte ";
    const std::size_t at = error.find(sentence);
    ASSERT_NE(at, std::string::npos) << error;
    EXPECT_TRUE(section_at(std::stoll(error.substr(at + sentence.size()))).is(name)) << error;
    take_away_newest();
  }
}

TEST_F(ServerMisfit, ATableOfProducersThatCannotBeIsNotCalledTooLong) {
  const std::vector<std::uint64_t> tables[] = {
      {7, 1, 7, 2}, {0, 1}, {kNoProducer, 3, kNoProducer, 4}, {7, 1, kNoProducer, 3}};
  for (const std::vector<std::uint64_t>& table : tables) {
    const std::string error = start_with([&](Body& body) { body.producers = table; });
    EXPECT_NE(error.find("the newest checkpoint's table of producers cannot be read"),
              std::string::npos)
        << error;
    take_away_newest();
  }
  EXPECT_EQ(start_with([](Body& body) { body.producers = {kNoProducer, 3, 7, 100}; }), "");
}

}  // namespace
}  // namespace windhover::testing::server_misfit_test
