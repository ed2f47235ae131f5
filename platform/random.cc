#include "windhover/platform/random.h"

#include "windhover/platform/check.h"
#include "windhover/platform/cpu.h"
#include "windhover/platform/random_kernels.h"

namespace windhover {
namespace {

const random_kernels::Kernels& kernels() noexcept {
#if defined(__x86_64__)
  static constexpr const random_kernels::Kernels* kTable[] = {&random_kernels::kBaselineKernels,
                                                              &random_kernels::kAvx2Kernels,
                                                              &random_kernels::kAvx512Kernels};
  return *kTable[static_cast<std::size_t>(instruction_set())];
#else
  return random_kernels::kBaselineKernels;
#endif
}

constexpr std::uint32_t low(std::uint64_t x) noexcept { return static_cast<std::uint32_t>(x); }
constexpr std::uint32_t high(std::uint64_t x) noexcept {
  return static_cast<std::uint32_t>(x >> 32);
}

random_kernels::Start start_of(std::uint64_t seed, const RandomPosition& position,
                               std::uint32_t block) noexcept {
  const std::uint32_t chain = position.chain;
  const auto purpose = static_cast<std::uint32_t>(position.purpose);
  return {{low(seed), high(seed)},
          {low(position.step), high(position.step), chain | purpose << 16},
          block};
}

constexpr std::size_t kWordsPerBlock = 4;
constexpr std::size_t kDoublesPerBlock = 2;

// Moves `block` past `count` elements and returns where it was.
std::uint32_t advance(std::uint32_t& block, std::size_t count, std::size_t per_block) noexcept {
  const std::uint64_t next = block + (std::uint64_t{count} + per_block - 1) / per_block;
  WINDHOVER_CHECK(next <= 0xffffffff);
  const std::uint32_t first = block;
  block = static_cast<std::uint32_t>(next);
  return first;
}

}  // namespace

std::array<std::uint32_t, 4> philox4x32(std::array<std::uint32_t, 4> counter,
                                        std::array<std::uint32_t, 2> key) noexcept {
  const random_kernels::Start start{
      {key[0], key[1]}, {counter[0], counter[1], counter[2]}, counter[3]};
  std::array<std::uint32_t, 4> block;
  kernels().bits(start, block.data(), block.size());
  return block;
}

void fill_bits(std::uint64_t seed, const RandomPosition& position,
               std::span<std::uint32_t> out) noexcept {
  kernels().bits(start_of(seed, position, 0), out.data(), out.size());
}

void fill_indices(std::uint64_t seed, const RandomPosition& position, std::uint32_t bound,
                  std::span<std::uint32_t> out) noexcept {
  kernels().indices(start_of(seed, position, 0), bound, out.data(), out.size());
}

void fill_uniforms(std::uint64_t seed, const RandomPosition& position,
                   std::span<double> out) noexcept {
  kernels().uniforms(start_of(seed, position, 0), out.data(), out.size());
}

void fill_normals(std::uint64_t seed, const RandomPosition& position,
                  std::span<double> out) noexcept {
  kernels().normals(start_of(seed, position, 0), out.data(), out.size());
}

void Rng::fill_bits(std::span<std::uint32_t> out) noexcept {
  const std::uint32_t block = advance(block_, out.size(), kWordsPerBlock);
  kernels().bits(start_of(seed_, position_, block), out.data(), out.size());
}

void Rng::fill_indices(std::uint32_t bound, std::span<std::uint32_t> out) noexcept {
  const std::uint32_t block = advance(block_, out.size(), kWordsPerBlock);
  kernels().indices(start_of(seed_, position_, block), bound, out.data(), out.size());
}

void Rng::fill_uniforms(std::span<double> out) noexcept {
  const std::uint32_t block = advance(block_, out.size(), kDoublesPerBlock);
  kernels().uniforms(start_of(seed_, position_, block), out.data(), out.size());
}

void Rng::fill_normals(std::span<double> out) noexcept {
  const std::uint32_t block = advance(block_, out.size(), kDoublesPerBlock);
  kernels().normals(start_of(seed_, position_, block), out.data(), out.size());
}

}  // namespace windhover
