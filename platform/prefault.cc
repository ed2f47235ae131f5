#include "windhover/platform/prefault.h"

#include <algorithm>
#include <array>

#include "windhover/platform/memory.h"
#include "windhover/platform/thread.h"

namespace windhover {
namespace {

constexpr std::size_t kMostThreads = 16;
constexpr std::size_t kLeastPart = 64UL << 20;
constexpr std::size_t kLargePage = 2UL << 20;  // no two threads touch the same one

struct Part {
  std::span<std::byte> memory;
  Thread thread;
};

void touch(void* part) { prefault(static_cast<Part*>(part)->memory); }

}  // namespace

void prefault(std::span<std::byte> memory, std::size_t threads) noexcept {
  const std::size_t most = std::min({threads, kMostThreads, memory.size() / kLeastPart});
  const std::size_t parts = std::max<std::size_t>(most, 1);
  const std::size_t size = (memory.size() / parts + kLargePage - 1) / kLargePage * kLargePage;
  std::array<Part, kMostThreads> all;
  for (std::size_t i = 1; i < parts; ++i) {
    const std::size_t begin = std::min(i * size, memory.size());
    all[i].memory = memory.subspan(begin, std::min(size, memory.size() - begin));
    if (!ok(all[i].thread.start({.name = "wh-prefault"}, &touch, &all[i]))) touch(&all[i]);
  }
  prefault(memory.first(std::min(size, memory.size())));
}

}  // namespace windhover
