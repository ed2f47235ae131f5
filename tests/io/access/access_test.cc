#include "windhover/io/access/access.h"

#include <unistd.h>

#include <atomic>
#include <string>
#include <thread>
#include <vector>

#include <gtest/gtest.h>

#include "windhover/platform/memory.h"
#include "windhover/tests/io/access/identities.h"

namespace windhover {
namespace access_test {

using testing::token_line;
using testing::write_identities;

struct World {
  explicit World(std::size_t capacity = 8)
      : block(1 << 20), arena(block.bytes()), access(arena, capacity, 2) {
    access.set_model(0, "price");
    access.set_model(1, "clicks");
  }
  RoleSet on(const std::string& token, std::size_t model) const {
    return access.on_model(Credential::of_token(token), model);
  }

  static Credential own_user() { return Credential::of_user(::getuid()); }

  Result<std::size_t> load(const std::string& path) { return access.load(path, sentence); }

  MappedBlock block;
  Arena arena;
  Access access;
  Access::Sentence sentence{};
};

constexpr RoleSet kObserve{1};
constexpr RoleSet kQuery{2};

TEST(Access, WithoutAFileEverybodyMayDoEverything) {
  World world(0);
  EXPECT_TRUE(world.load("no such file").ok());
  EXPECT_EQ(world.access.on_model({}, 1), kAllRoles);
  EXPECT_EQ(world.on("any", 0), kAllRoles);
}

TEST(Access, RolesAreThoseOfTheFileAndOfItsModels) {
  World world;
  const std::string path = write_identities(
      "rights", token_line("ada", "query", "clicks") + token_line("bob", "observe") +
                    "uid:4242 query,observe price\ncert:eve query *\n");
  ASSERT_EQ(world.load(path).value(), 4U);
  EXPECT_EQ(world.on("ada-token", 0), kNoRoles);
  EXPECT_EQ(world.on("ada-token", 1), kQuery);
  EXPECT_EQ(world.on("ada", 1), kNoRoles);
  EXPECT_EQ(world.on("bob-token", 0), kObserve);
  EXPECT_EQ(world.access.anywhere(Credential::of_token("ada-token")), kQuery);
  EXPECT_EQ(world.access.everywhere(Credential::of_token("ada-token")), kNoRoles);
  EXPECT_EQ(world.access.everywhere(Credential::of_token("bob-token")), kObserve);
  EXPECT_EQ(world.access.on_model(Credential::of_user(4242), 0), (RoleSet{3}));
  EXPECT_EQ(world.access.on_model(Credential::of_user(4242), 1), kNoRoles);
  for (const Credential& who :
       {Credential::of_token("ada-token"), Credential::of_token("bob-token"),
        Credential::of_token("ada"), Credential::of_user(4242), Credential()}) {
    std::vector<RoleSet> roles(2, kAllRoles);
    world.access.on_models(who, roles);
    EXPECT_EQ(roles[0], world.access.on_model(who, 0));
    EXPECT_EQ(roles[1], world.access.on_model(who, 1));
  }
  EXPECT_EQ(world.access.on_model(Credential::of_certificate("eve"), 1), kQuery);
  // A token is no certificate, also where the texts are the same.
  EXPECT_EQ(world.on("eve", 1), kNoRoles);
  EXPECT_EQ(world.access.on_model({}, 0), kNoRoles);
}

// What its own line says counts; of several roles the larger, and 0, which is no limit, is that.
TEST(Access, LimitsOfARoleAreThoseOfWhoHasIt) {
  World world;
  const auto with = [](std::string line, const std::string& limits) {
    return line.insert(line.size() - 1, " " + limits);
  };
  const std::string path = write_identities(
      "roles", token_line("ada", "query") + "role:query questions=50,frames=7\n" +
                   "role:observe frames=9,producers=3\n" +
                   with(token_line("eve", "query"), "questions=0") +
                   token_line("bob", "observe,query", "price") + token_line("keeper", "admin"));
  ASSERT_EQ(world.load(path).value(), 4U);
  const auto of = [&](const std::string& name) {
    return world.access.limits(Credential::of_token(name + "-token"));
  };
  EXPECT_EQ(of("ada").questions, 50U);
  EXPECT_EQ(of("ada").frames, 7U);
  EXPECT_FALSE(of("ada").producers.has_value());
  EXPECT_EQ(of("eve").questions, 0U);
  EXPECT_EQ(of("eve").frames, 7U);
  EXPECT_EQ(of("bob").questions, 50U);
  EXPECT_EQ(of("bob").frames, 9U);
  EXPECT_EQ(of("bob").producers, 3U);
  EXPECT_FALSE(of("keeper").frames.has_value());
  EXPECT_FALSE(world.access.limits(world.own_user()).frames.has_value());
  write_identities("roles", token_line("bob", "observe,query") + "role:query frames=0\n" +
                                "role:observe frames=9\n");
  ASSERT_TRUE(world.load(path).ok());
  EXPECT_EQ(of("bob").frames, 0U);
  EXPECT_FALSE(of("bob").questions.has_value()) << "of the file before";
  write_identities("roles", "role:query frames=1\n\nrole:query bytes=1\n");
  const Result<std::size_t> twice = world.load(path);
  ASSERT_FALSE(twice.ok());
  EXPECT_NE(std::string(twice.error().sentence).find(":3: the limits of this role"),
            std::string::npos)
      << twice.error().sentence;
  EXPECT_EQ(of("bob").frames, 0U);
}

TEST(Access, OwnUserMayDoEverythingUnlessTheFileSaysOtherwise) {
  World world;
  const Credential own = Credential::of_user(::geteuid());
  ASSERT_TRUE(world.load(write_identities("own", token_line("ada", "query"))).ok());
  EXPECT_EQ(world.access.on_model(own, 0), kAllRoles);
  EXPECT_EQ(world.access.on_model(Credential::of_user(::geteuid() + 1), 0), kNoRoles);
  const std::string less = "uid:" + std::to_string(::geteuid()) + " query price\n";
  ASSERT_TRUE(world.load(write_identities("own", less)).ok());
  EXPECT_EQ(world.access.on_model(own, 0), kQuery);
  EXPECT_EQ(world.access.on_model(own, 1), kNoRoles);
}

TEST(Access, HostTokenIsKnownToItselfAlone) {
  World world;
  World other;
  ASSERT_TRUE(world.load(write_identities("host", "")).ok());
  ASSERT_TRUE(other.load(write_identities("host", "")).ok());
  const std::string token(world.access.host_token());
  EXPECT_EQ(token.size(), 64U);
  EXPECT_EQ(world.on(token, 1), kAllRoles);
  EXPECT_EQ(other.on(token, 1), kNoRoles);
}

TEST(Access, FileThatIsWrongChangesNothingAndIsNamedWithItsLine) {
  World world(2);
  const std::string good = token_line("ada", "query");
  ASSERT_TRUE(world.load(write_identities("changes", good)).ok());
  const std::uint64_t before = world.access.generation();
  for (const std::string& bad :
       {good + "nonsense\n", good + good, good + token_line("bob", "query", "no-such-model"),
        good + token_line("bob", "query") + token_line("eve", "query")}) {
    const std::string path = write_identities("changes", bad);
    const auto refused = world.load(path);
    ASSERT_FALSE(refused.ok()) << bad;
    const std::string sentence = refused.error().sentence;
    const std::string line = bad.ends_with(token_line("eve", "query")) ? ":3: " : ":2: ";
    EXPECT_TRUE(sentence.starts_with(path + line)) << sentence;
    EXPECT_EQ(world.access.generation(), before);
    EXPECT_EQ(world.on("ada-token", 0), kQuery);
    EXPECT_EQ(world.on("bob-token", 0), kNoRoles);
  }
  write_identities("changes", good, 0644);
  EXPECT_NE(std::string(world.load(testing::temporary_path("changes")).error().sentence)
                .find("others than its owner"),
            std::string::npos);
  EXPECT_NE(std::string(world.load(testing::temporary_path("no such file")).error().sentence)
                .find("No such file"),
            std::string::npos);
  EXPECT_FALSE(world.load(std::string(5000, 'a')).ok());
  EXPECT_EQ(world.on("ada-token", 0), kQuery);
}

// An operator reloads while another thread adds a model: each has the sentence of its own file.
TEST(Access, LoadedByTwoThreads_EachIsToldOfItsOwnFile) {
  World world;
  const auto refused = [&](const char* name) {
    Access::Sentence sentence{};
    const std::string path = write_identities(name, "nonsense\n");
    for (int i = 0; i < 200; ++i) {
      const auto loaded = world.access.load(path, sentence);
      ASSERT_FALSE(loaded.ok());
      ASSERT_TRUE(std::string(loaded.error().sentence).starts_with(path + ":1: "));
    }
  };
  std::thread other([&] { refused("reloads"); });
  refused("adds");
  other.join();
  // What one was told stays when the other is told something else.
  Access::Sentence first{};
  Access::Sentence second{};
  const auto of_first = world.access.load("no such file", first);
  (void)world.access.load(write_identities("adds", "nonsense\n"), second);
  EXPECT_TRUE(std::string(of_first.error().sentence).starts_with("no such file: "));
}

TEST(PeerRights, FollowTheFileAndTheToken) {
  World world;
  const std::string path = write_identities("peer", token_line("ada", "query"));
  ASSERT_TRUE(world.load(path).ok());
  PeerRights rights;
  rights.begin(&world.access, Credential::of_user(::geteuid()));
  EXPECT_EQ(rights.on_model(0), kAllRoles);
  rights.show_token("wrong");
  EXPECT_EQ(rights.on_model(0), kNoRoles);
  rights.show_token("ada-token");
  EXPECT_EQ(rights.on_model(0), kQuery);
  write_identities("peer", token_line("ada", "observe", "clicks"));
  ASSERT_TRUE(world.load(path).ok());
  EXPECT_EQ(rights.on_model(0), kNoRoles);
  EXPECT_EQ(rights.on_model(1), kObserve);
  rights.show_token(std::string(Credential::kLongestToken + 1, 'a'));
  EXPECT_EQ(rights.anywhere(), kNoRoles);
}

// A thread that reads sees one file or the other, whole.
TEST(Access, LoadedBesideReaders_OneFileOrTheOther) {
  World world;
  const std::string one = write_identities(
      "one", token_line("ada", "query") + token_line("bob", "observe") + "uid:4242 query *\n");
  const std::string two = write_identities(
      "two", "uid:4242 observe *\n" + token_line("bob", "query") + token_line("ada", "observe"));
  ASSERT_TRUE(world.load(one).ok());
  std::atomic<bool> done{false};
  std::vector<std::thread> readers;
  for (int i = 0; i < 3; ++i) {
    readers.emplace_back([&] {
      PeerRights rights;
      rights.begin(&world.access, Credential::of_token("bob-token"));
      while (!done) {
        const RoleSet ada = world.on("ada-token", 0);
        const RoleSet user = world.access.on_model(Credential::of_user(4242), 1);
        const RoleSet bob = rights.on_model(0);
        for (const RoleSet roles : {ada, user, bob})
          EXPECT_TRUE(roles == kQuery || roles == kObserve);
      }
    });
  }
  for (int i = 0; i < 200; ++i) ASSERT_TRUE(world.load(i % 2 == 0 ? two : one).ok());
  done = true;
  for (std::thread& reader : readers) reader.join();
}

}  // namespace access_test
}  // namespace windhover
