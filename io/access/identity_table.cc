#include "windhover/io/access/identity_table.h"

#include <algorithm>
#include <bit>
#include <thread>

#include <openssl/crypto.h>

namespace windhover {
namespace {

constexpr std::size_t kBits = 64;

bool bit(std::span<const std::uint64_t> words, std::size_t i) noexcept {
  return i / kBits < words.size() && (words[i / kBits] >> (i % kBits) & 1) != 0;
}

}  // namespace

IdentityTable::IdentityTable(Arena& arena, std::size_t capacity, std::size_t models) noexcept
    : model_count_(models), words_((models + kBits - 1) / kBits) {
  for (Half& half : halves_) {
    half.entries = arena.allocate<Entry>(capacity);
    half.models = arena.allocate<std::uint64_t>(capacity * words_);
  }
}

IdentityTable::Found IdentityTable::find(const Credential& who, std::size_t model) const noexcept {
  Found found;
  readers_.fetch_add(1);
  const Half& half = halves_[active_.load()];
  for (std::size_t i = 0; i < half.used; ++i) {
    const Entry& entry = half.entries[i];
    if (!entry.who.same_as(who)) continue;  // the loop goes on after a match, for constant time
    const std::span<const std::uint64_t> models = half.models.subspan(i * words_, words_);
    std::size_t allowed = 0;
    for (std::size_t m = 0; m < model_count_; ++m) allowed += bit(models, m) ? 1 : 0;
    found.known = true;
    if (bit(models, model)) found.here = entry.roles;
    if (allowed > 0) found.anywhere = entry.roles;
    if (allowed == model_count_) found.everywhere = entry.roles;
    found.limits = limits_of(half, entry);
  }
  readers_.fetch_sub(1);
  return found;
}

OwnLimits IdentityTable::limits_of(const Half& half, const Entry& entry) noexcept {
  OwnLimits of_roles;
  for (std::size_t i = 0; i < half.of_roles.size(); ++i) {
    const bool has = entry.roles.has(static_cast<Role>(1U << i));
    if (has && half.of_roles[i]) of_roles = of_roles.larger_of(*half.of_roles[i]);
  }
  return entry.limits.or_of(of_roles);
}

void IdentityTable::find(const Credential& who, std::span<RoleSet> on_models) const noexcept {
  std::ranges::fill(on_models, kNoRoles);
  readers_.fetch_add(1);
  const Half& half = halves_[active_.load()];
  for (std::size_t i = 0; i < half.used; ++i) {
    const Entry& entry = half.entries[i];
    if (!entry.who.same_as(who)) continue;  // the loop goes on after a match, for constant time
    const std::span<const std::uint64_t> models = half.models.subspan(i * words_, words_);
    for (std::size_t m = 0; m < on_models.size(); ++m) {
      if (bit(models, m)) on_models[m] = entry.roles;
    }
  }
  readers_.fetch_sub(1);
}

IdentityTable::Filler::Filler(IdentityTable& table, std::span<const std::string_view> models,
                              bool others) noexcept
    : table_(table), models_(models), others_(others) {
  Half& half = table_.halves_[1 - table_.active_.load()];
  half.used = 0;
  half.of_roles = {};
}

const char* IdentityTable::Filler::take(const IdentityLine& identity) noexcept {
  Half& half = table_.halves_[1 - table_.active_.load()];
  if (identity.of_role) {
    const auto bit = static_cast<unsigned>(*identity.of_role);
    std::optional<OwnLimits>& limits =
        half.of_roles[static_cast<std::size_t>(std::countr_zero(bit))];
    if (limits) return "the limits of this role stand in a line before";
    limits = identity.limits;
    return nullptr;
  }
  for (std::size_t i = 0; i < half.used; ++i) {
    if (half.entries[i].who.same_as(identity.who)) {
      return "this token, uid or certificate stands in a line before";
    }
  }
  if (half.used == half.entries.size()) return "there are more identities than max_identities";
  const std::span<std::uint64_t> bits =
      half.models.subspan(half.used * table_.words_, table_.words_);
  std::ranges::fill(bits, identity.models == "*" ? ~std::uint64_t{0} : 0);
  std::string_view list = identity.models == "*" ? std::string_view() : identity.models;
  while (!list.empty()) {
    const std::string_view name = list.substr(0, list.find(','));
    list.remove_prefix(std::min(list.size(), name.size() + 1));
    const auto known = std::ranges::find(models_, name);
    if (known == models_.end() && others_) continue;
    if (known == models_.end()) return "the server has no model of that name";
    const auto i = static_cast<std::size_t>(known - models_.begin());
    bits[i / kBits] |= std::uint64_t{1} << (i % kBits);
  }
  half.entries[half.used++] = {identity.who, identity.roles, identity.limits};
  return nullptr;
}

void IdentityTable::Filler::exchange() noexcept {
  const unsigned before = table_.active_.load();
  table_.active_.store(1 - before);
  table_.generation_.fetch_add(1, std::memory_order_release);
  while (table_.readers_.load() != 0) std::this_thread::yield();
  Half& old = table_.halves_[before];
  OPENSSL_cleanse(old.entries.data(), old.used * sizeof(Entry));
  old.used = 0;
}

}  // namespace windhover
