// Who may do what at a server's endpoints.
#ifndef WINDHOVER_IO_ACCESS_ACCESS_H_
#define WINDHOVER_IO_ACCESS_ACCESS_H_

#include <array>
#include <cstddef>
#include <cstdint>
#include <mutex>
#include <optional>
#include <span>
#include <string_view>

#include "windhover/io/access/credential.h"
#include "windhover/io/access/identity_table.h"
#include "windhover/io/access/roles.h"
#include "windhover/io/producer_shares.h"
#include "windhover/platform/arena.h"
#include "windhover/platform/result.h"

namespace windhover {

// With a file of identities: what it says, and all for the user whom the server runs as, unless the
// file has a line for that uid. Without one: all for everybody, whom check(ServerConfig) lets no
// further than loopback.
class Access {
 public:
  // Takes memory. `capacity`: identities at most; 0: there is no file.
  Access(Arena& arena, std::size_t capacity, std::size_t models) noexcept;

  bool has_file() const noexcept { return !everyone_; }

  // The name of one of the models, which outlives this or the next call; empty: none is there. What
  // the file says about it holds after the next load().
  void set_model(std::size_t index, std::string_view name) noexcept;
  // Before load(): models may come later, so the file may name some that are not there.
  void allow_later_models() noexcept { later_models_ = true; }

  // Takes up the file; again whenever it may have changed, beside everything else, from any thread.
  // What is wrong with it is refused and changes nothing; the sentence is "FILE:LINE: what", and
  // lies in `sentence`, which is the caller's: another may load at the same time. The value: how
  // many identities there are. No heap call.
  using Sentence = std::array<char, 512>;
  Result<std::size_t> load(std::string_view path, Sentence& sentence) noexcept;

  // Changes when the answers below may.
  std::uint64_t generation() const noexcept { return table_.generation(); }

  // Any thread; waits for nothing. On one model, on one at least, and on all of them.
  RoleSet on_model(const Credential& who, std::size_t model) const noexcept;
  // The roles on the first roles.size() models, at the price of one look-up.
  void on_models(const Credential& who, std::span<RoleSet> roles) const noexcept;
  RoleSet anywhere(const Credential& who) const noexcept;
  RoleSet everywhere(const Credential& who) const noexcept;

  // What its connections have in place of ServerConfig::limits; the server's own parts have none.
  OwnLimits limits(const Credential& who) const noexcept;
  // The owner of the producers that it speaks for; nobody without a file.
  ProducerOwner owner(const Credential& who, const ConnectionLimits& all) const noexcept;

  bool is_host(const Credential& who) const noexcept;
  // What the server's own parts say as their token, to be told from others: all roles.
  std::string_view host_token() const noexcept { return {host_token_.data(), host_token_.size()}; }

 private:
  bool may_all(const Credential& who) const noexcept;
  IdentityTable::Found find(const Credential& who, std::size_t model) const noexcept;

  const bool everyone_;
  bool later_models_ = false;
  std::span<std::string_view> models_;
  IdentityTable table_;
  std::array<char, 64> host_token_{};
  Credential host_;
  Credential own_user_;
  std::mutex loading_;
};

// What one connection may do, as it goes on. The thread of the connection.
class PeerRights {
 public:
  // A new peer, of whom this is known. `access` null: it may do everything.
  void begin(const Access* access, const Credential& peer) noexcept;
  // It has said a token, which stands in place of what was known of it.
  void show_token(std::string_view token) noexcept;

  RoleSet anywhere() const noexcept {
    return access_ == nullptr ? kAllRoles : access_->anywhere(who_);
  }
  RoleSet everywhere() const noexcept {
    return access_ == nullptr ? kAllRoles : access_->everywhere(who_);
  }
  void on_models(std::span<RoleSet> roles) const noexcept;
  // Admin of one model at least, and no part of the server itself.
  bool is_admin() const noexcept {
    return access_ != nullptr && anywhere().has(Role::kAdmin) && !access_->is_host(who_);
  }
  const Credential& who() const noexcept { return who_; }
  OwnLimits limits() const noexcept {
    return access_ == nullptr ? OwnLimits{} : access_->limits(who_);
  }
  // Looks anew only when identities have changed: a load otherwise.
  ProducerOwner owner(const ConnectionLimits& all) noexcept;
  // Whether it is a part of the server itself: HTTP, which brings the rows of its own peers.
  bool is_host() const noexcept { return is_host_; }
  // What it has in place of the limits of all, where that may have changed since this was asked
  // last: a load otherwise.
  std::optional<OwnLimits> new_limits() noexcept;
  // Looks anew only when the model is another one or identities have changed: a load otherwise.
  RoleSet on_model(std::size_t model) noexcept {
    if (access_ == nullptr) return kAllRoles;
    const std::uint64_t generation = access_->generation();
    if (generation != generation_ || model != model_) {
      generation_ = generation;
      model_ = model;
      roles_ = access_->on_model(who_, model);
    }
    return roles_;
  }

 private:
  const Access* access_ = nullptr;
  Credential who_;
  std::uint64_t generation_ = 0;  // 0: not looked yet
  std::uint64_t limits_generation_ = 0;
  std::uint64_t owner_generation_ = 0;
  ProducerOwner owner_;
  bool is_host_ = false;
  std::size_t model_ = 0;
  RoleSet roles_;
};

}  // namespace windhover

#endif  // WINDHOVER_IO_ACCESS_ACCESS_H_
