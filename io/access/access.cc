#include "windhover/io/access/access.h"

#include <algorithm>
#include <cerrno>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <limits>

#include <unistd.h>

#include "windhover/io/access/identity_file.h"
#include "windhover/platform/entropy.h"

namespace windhover {
namespace {

constexpr std::size_t kLongestPath = 4096;

}  // namespace

Access::Access(Arena& arena, std::size_t capacity, std::size_t models) noexcept
    : everyone_(capacity == 0),
      models_(arena.make_array<std::string_view>(models)),
      table_(arena, capacity, models),
      own_user_(Credential::of_user(::geteuid())) {
  std::array<std::byte, 32> random{};
  // The kernel always gives so few bytes, once it has any. Without them nobody has this token.
  if (!fill_with_entropy(random)) return;
  for (std::size_t i = 0; i < random.size(); ++i) {
    constexpr char kDigits[] = "0123456789abcdef";
    const auto byte = std::to_integer<unsigned>(random[i]);
    host_token_[2 * i] = kDigits[byte >> 4];
    host_token_[2 * i + 1] = kDigits[byte & 15];
  }
  host_ = Credential::of_token(host_token());
}

void Access::set_model(std::size_t index, std::string_view name) noexcept {
  const std::lock_guard lock(loading_);
  models_[index] = name;
}

Result<std::size_t> Access::load(std::string_view path, Sentence& sentence) noexcept {
  if (everyone_) return std::size_t{0};
  const std::lock_guard lock(loading_);
  std::array<char, kLongestPath> name{};
  IdentityFault fault{"the path of the file is too long", 0, ENAMETOOLONG};
  if (path.size() < name.size()) {
    path.copy(name.data(), path.size());
    IdentityTable::Filler filler(table_, models_, later_models_);
    fault = read_identity_file(name.data(), filler);
    if (fault.sentence == nullptr) filler.exchange();
  }
  if (fault.sentence == nullptr) return table_.size();
  char line[16] = "";
  if (fault.line > 0) std::snprintf(line, sizeof line, ":%u", fault.line);
  const char* const system = fault.error != 0 ? ::strerrordesc_np(fault.error) : nullptr;
  // A long path is cut to its end, so that the rest of the sentence fits.
  const std::size_t shown = std::min<std::size_t>(path.size(), 300);
  const std::string_view end = path.substr(path.size() - shown);
  std::snprintf(sentence.data(), sentence.size(), "%.*s%s: %s%s%s", static_cast<int>(shown),
                end.data(), line, fault.sentence, system != nullptr ? ": " : "",
                system != nullptr ? system : "");
  return Error{fault.error == 0 ? Status::kInvalidConfig : Status::kIoError, sentence.data(),
               std::numeric_limits<double>::quiet_NaN()};
}

bool Access::is_host(const Credential& who) const noexcept {
  if (who.kind == Credential::Kind::kHost) return true;
  return host_.kind == Credential::Kind::kToken && host_.same_as(who);
}

bool Access::may_all(const Credential& who) const noexcept { return everyone_ || is_host(who); }

IdentityTable::Found Access::find(const Credential& who, std::size_t model) const noexcept {
  if (may_all(who)) return {true, kAllRoles, kAllRoles, kAllRoles, {}};
  if (who.kind == Credential::Kind::kNone) return {};
  IdentityTable::Found found = table_.find(who, model);
  if (!found.known && own_user_.same_as(who)) found = {true, kAllRoles, kAllRoles, kAllRoles, {}};
  return found;
}

RoleSet Access::on_model(const Credential& who, std::size_t model) const noexcept {
  return find(who, model).here;
}
// find() has given an identity of the file what the file says; the server's own user needs no line.
void Access::on_models(const Credential& who, std::span<RoleSet> roles) const noexcept {
  const IdentityTable::Found found = find(who, 0);
  if (found.everywhere.any() || !found.anywhere.any()) {
    std::ranges::fill(roles, found.everywhere);
    return;
  }
  table_.find(who, roles);
}
RoleSet Access::anywhere(const Credential& who) const noexcept { return find(who, 0).anywhere; }
RoleSet Access::everywhere(const Credential& who) const noexcept { return find(who, 0).everywhere; }

OwnLimits Access::limits(const Credential& who) const noexcept {
  return is_host(who) ? OwnLimits{0, 0, 0, 0, 0, {}} : find(who, 0).limits;
}

ProducerOwner Access::owner(const Credential& who, const ConnectionLimits& all) const noexcept {
  if (everyone_) return {};
  return {who.owner_number(), limits(who).in_place_of(all).producers};
}

void PeerRights::begin(const Access* access, const Credential& peer) noexcept {
  access_ = access;
  who_ = peer;
  is_host_ = access != nullptr && access->is_host(peer);
  generation_ = limits_generation_ = owner_generation_ = 0;
}

void PeerRights::on_models(std::span<RoleSet> roles) const noexcept {
  if (access_ == nullptr) {
    std::ranges::fill(roles, kAllRoles);
  } else {
    access_->on_models(who_, roles);
  }
}

void PeerRights::show_token(std::string_view token) noexcept {
  who_ = Credential::of_token(token);
  is_host_ = access_ != nullptr && access_->is_host(who_);
  generation_ = limits_generation_ = owner_generation_ = 0;
}

ProducerOwner PeerRights::owner(const ConnectionLimits& all) noexcept {
  if (access_ == nullptr) return {};
  const std::uint64_t generation = access_->generation();
  if (generation != owner_generation_) owner_ = access_->owner(who_, all);
  owner_generation_ = generation;
  return owner_;
}

std::optional<OwnLimits> PeerRights::new_limits() noexcept {
  if (access_ == nullptr) return std::nullopt;
  const std::uint64_t generation = access_->generation();
  if (generation == limits_generation_) return std::nullopt;
  limits_generation_ = generation;
  return access_->limits(who_);
}

}  // namespace windhover
