#include "windhover/io/access/identity_file.h"

#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "windhover/tests/io/access/identities.h"

namespace windhover {
namespace identity_file_test {

using Kind = Credential::Kind;

const std::string kHash = testing::hash_text("x");

// What it returns refers to `line`.
IdentityLine read(std::string_view line) {
  IdentityLine identity;
  const char* const wrong = read_identity_line(line, identity);
  EXPECT_EQ(wrong, nullptr) << line << ": " << wrong;
  return identity;
}

TEST(IdentityLine, TokensUsersAndCertificatesAreRead) {
  const std::string line = "  feeder\tobserve,admin  * " + kHash + " \r";
  const IdentityLine token = read(line);
  EXPECT_TRUE(token.who.same_as(Credential::of_token("x")));
  EXPECT_TRUE(token.roles.has(Role::kObserve) && token.roles.has(Role::kAdmin));
  EXPECT_FALSE(token.roles.has(Role::kQuery));
  EXPECT_EQ(token.models, "*");
  const IdentityLine user = read("uid:1000 query price,clicks");
  EXPECT_TRUE(user.who.same_as(Credential::of_user(1000)));
  EXPECT_EQ(user.models, "price,clicks");
  EXPECT_TRUE(read("cert:ada query *").who.same_as(Credential::of_certificate("ada")));
  for (const char* nothing : {"", "   ", "# ada query *", "#"}) {
    EXPECT_EQ(read(nothing).who.kind, Kind::kNone) << nothing;
  }
}

TEST(IdentityLine, LimitsComeLast) {
  const std::string token = "ada query * " + kHash;
  EXPECT_FALSE(read(token).limits.frames.has_value());
  const ConnectionLimits all{1, 2, 3, 4};
  EXPECT_EQ(read(token).limits.in_place_of(all), all);
  EXPECT_EQ(read(token + " questions=20").limits.in_place_of(all), (ConnectionLimits{1, 2, 20, 4}));
  EXPECT_EQ(read("uid:7 query * bytes=0,frames=9").limits.in_place_of(all),
            (ConnectionLimits{9, 0, 3, 4}));
  EXPECT_EQ(read(token + " cost=8").limits.in_place_of(all), (ConnectionLimits{1, 2, 3, 8}));
  EXPECT_EQ(read("cert:ada query * frames=5").limits.in_place_of(all),
            (ConnectionLimits{5, 2, 3, 4}));
  for (const char* wrong :
       {"frames", "frames=", "frames=-1", "frames=1x", "rows=1", "=1", "frames=1,", ",frames=1",
        "frames=1,frames=2", "frames=1 bytes=1", "frames=18446744073709551616"}) {
    IdentityLine identity;
    EXPECT_NE(read_identity_line(token + " " + wrong, identity), nullptr) << wrong;
    const std::string user = std::string("uid:7 query * ") + wrong;
    EXPECT_NE(read_identity_line(user, identity), nullptr) << wrong;
  }
  IdentityLine identity;
  EXPECT_NE(read_identity_line("ada query * frames=1", identity), nullptr) << "no token";
}

TEST(IdentityLine, LimitsOfARoleHaveALineOfTheirOwn) {
  const IdentityLine role = read(" role:query  questions=50,producers=7 \r");
  EXPECT_EQ(role.who.kind, Kind::kNone);
  EXPECT_EQ(role.of_role, Role::kQuery);
  EXPECT_EQ(role.limits.questions, 50U);
  EXPECT_EQ(role.limits.producers, 7U);
  EXPECT_FALSE(role.limits.frames.has_value());
  EXPECT_FALSE(read("cert:role:query query *").of_role.has_value());
  for (const char* wrong :
       {"role: frames=1", "role:reader frames=1", "role:query", "role:query,observe frames=1",
        "role:query rows=1", "role:query frames=1 more", "role:query * frames=1"}) {
    IdentityLine identity;
    EXPECT_NE(read_identity_line(wrong, identity), nullptr) << wrong;
  }
}

TEST(IdentityLine, WhatIsWrongIsRefusedWithASentence) {
  const std::vector<std::string> lines = {
      "ada", "ada query", "ada query *", "ada query * " + kHash.substr(1),
      "ada query * " + kHash + "0", "ada query * " + kHash.substr(1) + "g",
      "ada query * " + kHash + " more", "ada reader * " + kHash, "ada query, * " + kHash,
      "ada ,query * " + kHash, "ada query ,a " + kHash, "ada query a,,b " + kHash,
      "ada query a, " + kHash, "uid: query *", "uid:x query *", "uid:-1 query *",
      "uid:4294967296 query *", "uid:7 query * " + kHash, "cert: query *",
      "cert:ada query * " + kHash, "a\x01 query * " + kHash, "\xc3\xa9 query * " + kHash,
      // A token in place of its hash.
      "ada query * windhover_0123456789"};
  for (const std::string& line : lines) {
    IdentityLine identity;
    EXPECT_NE(read_identity_line(line, identity), nullptr) << line;
  }
}

struct Taken final : IdentitySink {
  const char* take(const IdentityLine& identity) noexcept override {
    if (refuse_at == models.size()) return "refused";
    models.emplace_back(identity.models);
    return nullptr;
  }
  std::vector<std::string> models;
  std::size_t refuse_at = 1'000'000;
};

TEST(IdentityFile, LinesAreCountedAndTheLastNeedsNoEnd) {
  const std::string lines =
      "# who\n\n" + testing::token_line("ada", "query", "a") + "uid:7 query b\ncert:x observe c";
  Taken taken;
  const std::string path = testing::write_identities("identities", lines);
  EXPECT_EQ(read_identity_file(path.c_str(), taken).sentence, nullptr);
  EXPECT_EQ(taken.models, (std::vector<std::string>{"a", "b", "c"}));
  Taken stops;
  stops.refuse_at = 1;
  const IdentityFault fault = read_identity_file(path.c_str(), stops);
  EXPECT_STREQ(fault.sentence, "refused");
  EXPECT_EQ(fault.line, 4U);
}

// The file is read in pieces: a line may lie across their border.
TEST(IdentityFile, ManyLinesAndLongOnes) {
  std::string lines;
  for (int i = 0; i < 1000; ++i) {
    lines += "cert:n" + std::to_string(i) + std::string(static_cast<std::size_t>(i % 97), ' ') +
             " query m" + std::to_string(i) + "\n";
  }
  Taken taken;
  EXPECT_EQ(read_identity_file(testing::write_identities("many", lines).c_str(), taken).sentence,
            nullptr);
  ASSERT_EQ(taken.models.size(), 1000U);
  EXPECT_EQ(taken.models[777], "m777");
  const std::string longest = "uid:1 query " + std::string(kLongestIdentityLine - 12, 'a');
  EXPECT_EQ(
      read_identity_file(testing::write_identities("long", "\n" + longest).c_str(), taken).sentence,
      nullptr);
  const IdentityFault fault =
      read_identity_file(testing::write_identities("long", "\n" + longest + "aa\n").c_str(), taken);
  EXPECT_STREQ(fault.sentence, "the line is too long");
  EXPECT_EQ(fault.line, 2U);
}

TEST(IdentityFile, OneThatOthersCanGetAtIsRefused) {
  Taken taken;
  for (const mode_t mode : {0644, 0640, 0602, 0660, 0604}) {
    const std::string path =
        testing::write_identities("open", testing::token_line("ada", "query"), mode);
    EXPECT_NE(read_identity_file(path.c_str(), taken).sentence, nullptr) << std::oct << mode;
  }
  EXPECT_EQ(read_identity_file(testing::temporary_path("none").c_str(), taken).error, ENOENT);
  EXPECT_NE(read_identity_file("/", taken).sentence, nullptr);
  EXPECT_TRUE(taken.models.empty());
}

}  // namespace identity_file_test
}  // namespace windhover
