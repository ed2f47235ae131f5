#include "windhover/io/tls/tls_memory.h"

#include <algorithm>
#include <atomic>
#include <bit>
#include <cstring>
#include <new>

#include <openssl/crypto.h>
#include <sys/mman.h>

#include "windhover/io/tls/tls_config.h"
#include "windhover/platform/check.h"

namespace windhover {
namespace {

constexpr std::size_t kSmallest = 16;
constexpr std::uint32_t kInUse = 0x77686f75;
constexpr std::uint32_t kFree = 0x77686672;

// Sizes are 16, 32, 48 and 64 bytes, then 20, 24, 28 and 32 times a power of two: 80, 96, 112, ...
constexpr std::size_t class_of(std::size_t bytes) noexcept {
  const std::size_t units = (std::max(bytes, kSmallest) + kSmallest - 1) / kSmallest;
  if (units <= 4) return units - 1;
  const auto power = static_cast<std::size_t>(std::bit_width(units - 1)) - 3;  // units > 4 << power
  return 4 + 4 * power + ((units - 1) >> power) - 4;
}
constexpr std::size_t size_of_class(std::size_t size_class) noexcept {
  if (size_class < 4) return (size_class + 1) * kSmallest;
  const std::size_t power = (size_class - 4) / 4;
  return (((size_class - 4) % 4 + 5) << power) * kSmallest;
}
static_assert(size_of_class(class_of(1)) == 16 && size_of_class(class_of(65)) == 80);
static_assert(size_of_class(class_of(80)) == 80 && size_of_class(class_of(129)) == 160);
static_assert(size_of_class(class_of(16'500)) == 20'480 && class_of(65) == 4);

PiecePool* installed = nullptr;
std::atomic<std::size_t> connections{0};

void* pool_malloc(std::size_t bytes, const char*, int) { return installed->allocate(bytes); }
void* pool_realloc(void* piece, std::size_t bytes, const char*, int) {
  if (piece == nullptr) return installed->allocate(bytes);
  if (bytes > 0) return installed->reallocate(piece, bytes);
  installed->free(piece);
  return nullptr;
}
void pool_free(void* piece, const char*, int) { installed->free(piece); }

}  // namespace

void* PiecePool::allocate(std::size_t bytes) noexcept {
  static_assert(sizeof(Header) == kSmallest);
  const std::lock_guard lock(mutex_);
  if (bytes > block_.size()) {
    ++refusals_;
    return nullptr;
  }
  const std::size_t size_class = class_of(bytes);
  const std::size_t size = sizeof(Header) + size_of_class(size_class);
  Header* header = size_class < kClasses ? free_[size_class] : nullptr;
  if (header != nullptr) {
    free_[size_class] = header->next;
  } else {
    if (size_class >= kClasses || size > block_.size() - used_) {
      ++refusals_;
      return nullptr;
    }
    header = new (block_.data() + used_) Header{};
    used_ += size;
  }
  *header = {static_cast<std::uint32_t>(size_class), kInUse, nullptr};
  in_use_ += size;
  return header + 1;
}

void* PiecePool::reallocate(void* piece, std::size_t bytes) noexcept {
  const Header& header = static_cast<Header*>(piece)[-1];
  const std::size_t size = size_of_class(header.size_class);
  if (bytes <= size) return piece;
  void* const larger = allocate(bytes);
  if (larger == nullptr) return nullptr;
  std::memcpy(larger, piece, size);
  OPENSSL_cleanse(piece, size);  // it may hold a secret, and OpenSSL wipes only what it frees
  free(piece);
  return larger;
}

void PiecePool::free(void* piece) noexcept {
  if (piece == nullptr) return;
  const std::lock_guard lock(mutex_);
  Header* const header = static_cast<Header*>(piece) - 1;
  WINDHOVER_CHECK(header->check == kInUse);
  in_use_ -= sizeof(Header) + size_of_class(header->size_class);
  header->check = kFree;
  header->next = free_[header->size_class];
  free_[header->size_class] = header;
}

std::size_t PiecePool::in_use() const noexcept {
  const std::lock_guard lock(mutex_);
  return in_use_;
}
std::size_t PiecePool::untouched() const noexcept {
  const std::lock_guard lock(mutex_);
  return block_.size() - used_;
}
std::size_t PiecePool::refusals() const noexcept {
  const std::lock_guard lock(mutex_);
  return refusals_;
}

Status install_tls_memory(std::size_t bytes, bool touched) noexcept {
  if (installed != nullptr) return Status::kUnsupported;
  // Never unmapped: OpenSSL frees memory until the very end of the process.
  void* const block = ::mmap(nullptr, bytes, PROT_READ | PROT_WRITE,
                             MAP_PRIVATE | MAP_ANONYMOUS | (touched ? MAP_POPULATE : 0), -1, 0);
  if (block == MAP_FAILED) return Status::kUnavailable;
  alignas(PiecePool) static std::byte room[sizeof(PiecePool)];
  installed = new (room) PiecePool({static_cast<std::byte*>(block), bytes});
  if (CRYPTO_set_mem_functions(&pool_malloc, &pool_realloc, &pool_free) == 1) return Status::kOk;
  installed = nullptr;
  ::munmap(block, bytes);
  return Status::kUnsupported;
}

PiecePool* tls_memory() noexcept { return installed; }

bool begin_tls_connection() noexcept {
  if (installed == nullptr) return true;
  const std::size_t capacity = installed->capacity();
  const std::size_t most =
      capacity > kTlsBaseBytes ? (capacity - kTlsBaseBytes) / kTlsConnectionBytes : 0;
  if (connections.fetch_add(1) < most) return true;
  connections.fetch_sub(1);
  return false;
}

void end_tls_connection() noexcept {
  if (installed != nullptr) connections.fetch_sub(1);
}

}  // namespace windhover
