// The file of identities: whatever is in it, each line is taken or refused with a sentence, one
// that is taken is known by what it says, and one that is refused changes nothing.
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <memory>
#include <string>
#include <vector>

#include "windhover/io/access/access.h"
#include "windhover/io/access/identity_file.h"
#include "windhover/platform/memory.h"
#include "windhover/tests/fuzz/driver.h"

namespace windhover::testing {
namespace {

constexpr std::size_t kMost = 6;

// A file in memory.
struct World {
  World() : block(1 << 16), arena(block.bytes()), access(arena, kMost, 2) {
    descriptor = ::memfd_create("identities", MFD_CLOEXEC);
    require(descriptor >= 0 && ::fchmod(descriptor, 0600) == 0);
    path = "/proc/self/fd/" + std::to_string(descriptor);
    access.set_model(0, "price");
    access.set_model(1, "clicks");
  }
  void write(const std::uint8_t* data, std::size_t size) const {
    require(::ftruncate(descriptor, 0) == 0);
    require(::pwrite(descriptor, data, size, 0) == static_cast<ssize_t>(size));
  }

  MappedBlock block;
  Arena arena;
  Access access;
  int descriptor;
  std::string path;
};

// Every line as the file has them, read by themselves: what is taken, and whether all were good.
struct Lines final : IdentitySink {
  const char* take(const IdentityLine& line) noexcept override {
    require(line.roles.any() && !line.models.empty());
    require(line.who.kind != Credential::Kind::kNone && line.who.kind != Credential::Kind::kHost);
    if (taken < who.size()) who[taken] = line.who;
    ++taken;
    return nullptr;
  }
  std::array<Credential, kMost> who;
  std::size_t taken = 0;
};

}  // namespace

std::string make_case(std::mt19937_64& random) {
  static const std::vector<std::string> words = {
      "ada",
      "uid:1000",
      "uid:",
      "cert:ada",
      "cert:",
      "query",
      "observe,query",
      "admin",
      "query,",
      "*",
      "price",
      "price,clicks",
      "clicks,none",
      ",",
      "9f86d081884c7d659a2feaa0c55ad015a3bf4f1b2b0b822cd15d6c15b0f00a08",
      "9f86d081884c7d659a2feaa0c55ad015a3bf4f1b2b0b822cd15d6c15b0f00a09",
      "frames=1",
      "bytes=0,questions=7",
      "frames=",
      "#",
      " ",
      "\t",
      "\n",
      "\r\n"};
  static const std::vector<std::string> lines = {
      "uid:1000 query *\n", "cert:ada query price frames=9\n", "# nobody\n",
      "ada observe,admin clicks " + words[14] + "\n", "\n"};
  std::string text;
  for (std::uint64_t n = random() % 12; n > 0; --n) {
    text +=
        random() % 4 == 0 ? words[random() % words.size()] + " " : lines[random() % lines.size()];
  }
  if (random() % 16 == 0) text += std::string(random() % 6'000, 'a');
  return text;
}

}  // namespace windhover::testing

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace windhover;
  using namespace windhover::testing;
  static const auto world = std::make_unique<World>();
  world->write(data, size);
  Lines lines;
  const IdentityFault fault = read_identity_file(world->path.c_str(), lines);
  const std::uint64_t before = world->access.generation();
  Access::Sentence sentence{};
  const Result<std::size_t> loaded = world->access.load(world->path, sentence);
  if (fault.sentence != nullptr) require(!loaded.ok());
  if (!loaded.ok()) {
    require(world->access.generation() == before);
    require(std::string_view(loaded.error().sentence).starts_with(world->path));
    return 0;
  }
  require(loaded.value() == lines.taken && lines.taken <= kMost);
  for (std::size_t i = 0; i < lines.taken; ++i) {
    require(world->access.anywhere(lines.who[i]).any());
  }
  require(!world->access.anywhere(Credential::of_token("a token that nobody has")).any());
  return 0;
}
