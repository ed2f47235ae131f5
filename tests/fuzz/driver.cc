// Drives a fuzz target without libFuzzer: deterministic cases from a seed, most of them damaged.
#include "windhover/tests/fuzz/driver.h"

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <vector>

namespace {

using Random = std::mt19937_64;

std::size_t below(Random& random, std::size_t n) { return static_cast<std::size_t>(random() % n); }

void damage(std::string& bytes, Random& random) {
  for (std::size_t times = below(random, 4); times > 0; --times) {
    if (bytes.empty()) return;
    const std::size_t at = below(random, bytes.size());
    const std::size_t length = 1 + below(random, std::min<std::size_t>(16, bytes.size() - at));
    switch (below(random, 7)) {
      case 0:
        bytes[at] = static_cast<char>(bytes[at] ^ (1 << below(random, 8)));
        break;
      case 1:
        bytes[at] = static_cast<char>(random());
        break;
      case 2:
        bytes.resize(at);
        break;
      case 3:
        bytes.erase(at, length);
        break;
      case 4:
        bytes.insert(below(random, bytes.size() + 1), bytes.substr(at, length));
        break;
      case 5:  // varints that are long, negative or huge
        bytes.insert(at, length, static_cast<char>(0x80 | random()));
        break;
      default:
        bytes[at] = static_cast<char>("\x00\x01\x7f\x80\xff"[below(random, 5)]);
    }
  }
}

}  // namespace

int main(int argc, char** argv) {
  std::uint64_t cases = 20'000;
  std::uint64_t seed = 1;
  for (int i = 1; i < argc; i += 2) {
    const bool valued = i + 1 < argc;
    if (valued && std::strcmp(argv[i], "--cases") == 0) {
      cases = std::strtoull(argv[i + 1], nullptr, 10);
    } else if (valued && std::strcmp(argv[i], "--seed") == 0) {
      seed = std::strtoull(argv[i + 1], nullptr, 10);
    } else {
      std::fprintf(stderr, "usage: %s [--cases N] [--seed N]\n", argv[0]);
      return 2;
    }
  }
  Random random(seed);
  for (std::uint64_t i = 0; i < cases; ++i) {
    std::string bytes = windhover::testing::make_case(random);
    damage(bytes, random);
    // A copy of exactly that size, so that AddressSanitizer sees a read behind it.
    const std::vector<std::uint8_t> exact(bytes.begin(), bytes.end());
    LLVMFuzzerTestOneInput(exact.data(), exact.size());
  }
  std::printf("%llu cases, seed %llu: nothing found\n", static_cast<unsigned long long>(cases),
              static_cast<unsigned long long>(seed));
  return 0;
}
