// A checkpoint that is damaged, wherever, is refused and leaves no trace.
#include <gtest/gtest.h>

#include <functional>
#include <string>

#include "windhover/runtime/checkpoint/stream.h"
#include "windhover/tests/runtime/checkpoint_fixture.h"

namespace windhover::test::checkpoint_damage_test {
namespace {

bool is_rows(const OpenCheckpoint::Section& section) {
  return section.header.is(checkpoint::kRows);
}

TEST(CheckpointDamage, EveryFlippedBitIsFound) {
  const EngineConfig config = saved_config();
  Lived lived(config);
  Bytes bytes = bytes_of(*lived.engine);
  Refusal refusal(config);
  const std::string names[] = {"'rows'", "'learner'", "'snapshot'", "'counters'", "'end'"};
  std::size_t seen[5] = {};
  for (std::size_t i = 0; i < bytes.size(); ++i) {
    const std::byte flip{static_cast<unsigned char>(1U << i % 8)};
    bytes[i] ^= flip;
    const Error error = refusal.refuse(bytes);
    bytes[i] ^= flip;
    ASSERT_TRUE(error.status == Status::kMalformed || error.status == Status::kClosed)
        << i << ": " << error.sentence;
    if (i % 61 == 0 || i < 200) {
      ASSERT_EQ(refusal.trace(), "") << i;
    }
    for (std::size_t k = 0; k < 5; ++k) {
      seen[k] += std::string(error.sentence).find(names[k]) != std::string::npos;
    }
  }
  for (std::size_t k = 0; k < 5; ++k) EXPECT_GT(seen[k], 25u) << names[k];
  ASSERT_EQ(refusal.trace(), "");
  EXPECT_EQ(restore_error(*refusal.engine(), bytes).status, Status::kOk) << "and it still can";
  EXPECT_EQ(difference(save(*refusal.engine()), save(*lived.engine)), "");
}

TEST(CheckpointDamage, EveryPrefixIsFound) {
  const EngineConfig config = saved_config();
  Lived lived(config);
  const Bytes bytes = bytes_of(*lived.engine);
  Refusal refusal(config);
  for (std::size_t size = 0; size < bytes.size(); ++size) {
    const Error error = refusal.refuse(std::span(bytes).first(size));
    ASSERT_EQ(error.status, Status::kClosed) << size;
    ASSERT_NE(std::string(error.sentence).find("ends too early"), std::string::npos);
    if (size % 97 == 0) {
      ASSERT_EQ(refusal.trace(), "") << size;
    }
  }
  const Error error = refusal.refuse(std::span(bytes).first(5000), Status::kIoError);
  EXPECT_EQ(error.status, Status::kIoError);
  EXPECT_EQ(refusal.trace(), "");
}

TEST(CheckpointDamage, SectionsMovedLeftOutDoubledOrOfAnotherCheckpointAreFound) {
  const EngineConfig config = saved_config();
  Lived lived(config), other(config, 120, 5);
  const Bytes bytes = bytes_of(*lived.engine);
  Refusal refusal(config);
  const OpenCheckpoint open(bytes);
  // Bytes of each section, with its checksum.
  std::vector<std::span<const std::byte>> pieces;
  std::size_t at = sizeof(checkpoint::Header);
  for (const auto& section : open.sections) {
    const std::size_t size = sizeof(section.header) + section.payload.size() + 8;
    pieces.push_back(std::span(bytes).subspan(at, size));
    at += size;
  }
  const auto joined = [&](const std::function<void(std::vector<std::span<const std::byte>>&)>& f) {
    auto changed = pieces;
    f(changed);
    Bytes out(bytes.begin(), bytes.begin() + sizeof(checkpoint::Header));
    for (const auto& piece : changed) out.insert(out.end(), piece.begin(), piece.end());
    return out;
  };
  for (std::size_t i = 0; i + 1 < pieces.size(); ++i) {
    refusal.refuse(joined([&](auto& p) { std::swap(p[i], p[i + 1]); }));
    refusal.refuse(joined([&](auto& p) { p.erase(p.begin() + static_cast<std::ptrdiff_t>(i)); }));
    refusal.refuse(
        joined([&](auto& p) { p.insert(p.begin() + static_cast<std::ptrdiff_t>(i), p[i]); }));
    ASSERT_EQ(refusal.trace(), "") << i;
  }
  Bytes mixed = bytes_of(*other.engine);
  std::copy_n(bytes.begin(), sizeof(checkpoint::Header), mixed.begin());
  refusal.refuse(mixed);
  EXPECT_EQ(refusal.trace(), "");
}

// The checksums fit: no damage makes these bytes, but another version may.
TEST(CheckpointDamage, WhatIsSignedAndDoesNotFitIsRefused) {
  const EngineConfig config = saved_config();
  Lived lived(config);
  const Bytes bytes = bytes_of(*lived.engine);
  Refusal refusal(config);
  const auto refuse = [&](const std::function<void(OpenCheckpoint&)>& change) {
    OpenCheckpoint open(bytes);
    change(open);
    const Error error = refusal.refuse(open.signed_anew());
    EXPECT_EQ(refusal.trace(), "") << error.sentence;
    return error;
  };
  ASSERT_EQ(OpenCheckpoint(bytes).signed_anew(), bytes);
  EXPECT_EQ(refuse([](auto& o) { o.header.version = 2; }).status, Status::kUnsupported);
  EXPECT_EQ(refuse([](auto& o) { o.header.magic[3] = 'x'; }).status, Status::kMalformed);
  EXPECT_EQ(refuse([](auto& o) { ++o.header.fingerprint; }).status, Status::kInvalidConfig);
  EXPECT_EQ(refuse([](auto& o) { ++o.header.first; }).status, Status::kMalformed);
  EXPECT_EQ(refuse([](auto& o) { --o.header.head; }).status, Status::kMalformed);
  EXPECT_EQ(refuse([](auto& o) { o.header.head += 1; }).status, Status::kMalformed);
  EXPECT_EQ(refuse([](auto& o) { o.header.lease = o.header.head + 1; }).status, Status::kMalformed);
  const Error lease = refuse([](auto& o) {
    --o.header.lease;
    --o.header.first;
    std::uint64_t rows[2];
    Bytes& payload = o.named("rows").payload;
    std::memcpy(rows, payload.data(), sizeof(rows));
    rows[0] -= 1;
    rows[1] += 1;
    std::memcpy(payload.data(), rows, sizeof(rows));
    payload.insert(payload.begin() + 16, 24, std::byte{0});
  });
  EXPECT_NE(std::string(lease.sentence).find("'learner'"), std::string::npos);
  EXPECT_EQ(refuse([](auto& o) { o.header.head = ~std::uint64_t{0}; }).status,
            Status::kInvalidConfig);
  const Error version = refuse([](auto& o) { o.named("window sums").header.version = 7; });
  EXPECT_EQ(version.status, Status::kUnsupported);
  EXPECT_NE(std::string(version.sentence).find("'window sums'"), std::string::npos);
  // Every section one number longer or shorter, left out, and another one in its place.
  const std::size_t sections = OpenCheckpoint(bytes).sections.size();
  ASSERT_GT(sections, 20u);
  for (std::size_t i = 0; i < sections; ++i) {
    refuse([i](auto& o) { o.sections[i].payload.resize(o.sections[i].payload.size() + 8); });
    refuse([i](auto& o) {
      if (o.sections[i].payload.size() < 8) return void(o.sections.clear());
      o.sections[i].payload.resize(o.sections[i].payload.size() - 8);
    });
    refuse([i](auto& o) { o.sections.erase(o.sections.begin() + static_cast<std::ptrdiff_t>(i)); });
    refuse([i](auto& o) { o.sections[i].header.name[0] = 'X'; });
  }
  // Rows that are not where they are said to be, are none, or are missing.
  const auto rows = [&](std::size_t at, std::uint64_t value) {
    return refuse([=](auto& o) { std::memcpy(&o.named("rows").payload[at], &value, 8); });
  };
  EXPECT_EQ(rows(0, 0).status, Status::kMalformed);
  EXPECT_EQ(rows(8, 41).status, Status::kMalformed);
  EXPECT_EQ(rows(8, ~std::uint64_t{0} / 2).status, Status::kMalformed);
  const Error missing = refuse([](auto& o) {
    std::erase_if(o.sections, is_rows);
    const std::uint64_t before_the_end = o.sections.size() - 1;
    std::memcpy(o.named("end").payload.data(), &before_the_end, sizeof(before_the_end));
  });
  EXPECT_NE(std::string(missing.sentence).find("lacks rows"), std::string::npos);
  EXPECT_EQ(missing.number, static_cast<double>(OpenCheckpoint(bytes).header.first));
}

// Whole, and one number too long, or another one in its place.
TEST(CheckpointDamage, TheSectionThatDoesNotFitIsNamedWithItsByte) {
  const EngineConfig config = saved_config();
  Lived lived(config);
  const Bytes bytes = bytes_of(*lived.engine);
  Refusal refusal(config);
  const std::size_t sections = OpenCheckpoint(bytes).sections.size();
  std::size_t begins = sizeof(checkpoint::Header);
  for (std::size_t i = 0; i + 1 < sections; ++i) {
    OpenCheckpoint open(bytes);
    const std::string name = open.sections[i].header.name.data();
    const std::size_t size = open.sections[i].payload.size();
    open.sections[i].payload.resize(size + 8);
    const auto expect_named = [&](const Error& error) {
      EXPECT_NE(std::string(error.sentence).find("'" + name + "'"), std::string::npos)
          << error.sentence;
      EXPECT_EQ(error.number, static_cast<double>(begins)) << error.sentence;
    };
    if (name != checkpoint::kConfiguration) {
      expect_named(refusal.refuse(open.signed_anew()));
      open.sections[i].payload.resize(size);
      if (name != checkpoint::kRows) {
        open.sections[i].header.name[0] = 'X';
        expect_named(refusal.refuse(open.signed_anew()));
      }
    }
    begins += sizeof(checkpoint::SectionHeader) + size + sizeof(std::uint64_t);
  }
}

// A count that is too large is not followed past the section that holds it, nor out of the block.
TEST(CheckpointDamage, NumbersAreTakenFromTheirSectionAndPutIntoTheBlockAlone) {
  std::vector<std::uint64_t> memory(64, 5);
  const auto block = std::as_bytes(std::span(memory).subspan(16, 32));
  const auto sections = [&](std::size_t numbers) {
    checkpoint::SectionHeader header("some");
    header.length = 8 * numbers;
    Bytes bytes(sizeof(header) + header.length, std::byte{1});
    std::memcpy(bytes.data(), &header, sizeof(header));
    return bytes;
  };
  const auto restored = [&](std::size_t held, std::size_t first, std::size_t count) {
    std::ranges::fill(memory, 5u);
    const Bytes bytes = sections(held);
    checkpoint::StateRestorer restorer(bytes, block);
    restorer.section("some", 1);
    restorer.visit(std::span(memory).subspan(first, count));
    return restorer.misfit() == nullptr;
  };
  EXPECT_TRUE(restored(32, 16, 32));
  EXPECT_EQ(memory[15], 5u);
  EXPECT_EQ(memory[16], 0x0101010101010101u);
  EXPECT_EQ(memory[48], 5u);
  EXPECT_FALSE(restored(33, 16, 32)) << "a number is left";
  EXPECT_FALSE(restored(31, 16, 32)) << "a number is missing";
  EXPECT_EQ(memory[16], 0u) << "none of them is put";
  EXPECT_FALSE(restored(33, 16, 33));
  EXPECT_FALSE(restored(33, 15, 33));
  EXPECT_EQ(std::ranges::count(memory, 5u), 64) << "nothing is written outside, nor before it";
  std::uint64_t one = 5;
  const Bytes bytes = sections(1);
  checkpoint::StateRestorer restorer(bytes, block);
  restorer.section("some", 1);
  restorer.value(one);
  EXPECT_EQ(one, 0x0101010101010101u);
  restorer.value(one);
  EXPECT_EQ(one, 0u);
  EXPECT_STREQ(restorer.misfit(), "some");
}

}  // namespace
}  // namespace windhover::test::checkpoint_damage_test
