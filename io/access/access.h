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

// With a file of identities: what it says, and all roles for the user whom the server runs as,
// unless the file has a line for that uid. Without one: all roles for everybody;
// check(ServerConfig) then allows loopback alone, unless serve_anyone is set.
class Access {
 public:
  // Takes memory. `capacity`: identities at most; 0: there is no file.
  Access(Arena& arena, std::size_t capacity, std::size_t models) noexcept;

  bool has_file() const noexcept { return !everyone_; }

  // Sets the name in one of the models' places; empty: the place is free. The name's text lives
  // until the next call for this place. What the file says about it holds after the next load().
  void set_model(std::size_t index, std::string_view name) noexcept;
  // Before load(): the file may name models that do not exist, because they may come later.
  void allow_later_models() noexcept { later_models_ = true; }

  // Reads the file, and again whenever it may have changed. From any thread, beside all other
  // calls. A wrong file changes nothing; the error's sentence is "FILE: what" or "FILE:LINE: what",
  // and lies in the caller's `sentence`, as several threads may load. The value: how many
  // identities there are. No heap call.
  using Sentence = std::array<char, 512>;
  Result<std::size_t> load(std::string_view path, Sentence& sentence) noexcept;

  // Changes when the answers below may.
  std::uint64_t generation() const noexcept { return table_.generation(); }

  // The roles on one model, on at least one, and on all of them. Any thread; they wait for nothing.
  RoleSet on_model(const Credential& who, std::size_t model) const noexcept;
  // The roles on the first roles.size() models, at the price of one look-up.
  void on_models(const Credential& who, std::span<RoleSet> roles) const noexcept;
  RoleSet anywhere(const Credential& who) const noexcept;
  RoleSet everywhere(const Credential& who) const noexcept;

  // The identity's limits in place of ServerConfig::limits; the server's own parts have none.
  OwnLimits limits(const Credential& who) const noexcept;
  // The owner of the producers that it speaks for; nobody without a file.
  ProducerOwner owner(const Credential& who, const ConnectionLimits& all) const noexcept;

  bool is_host(const Credential& who) const noexcept;
  // The token of the server's own parts, which have all roles.
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

// What one connection may do at the moment. The thread of the connection.
class PeerRights {
 public:
  // Begins with a new peer; `peer` is what is known of it. `access` null: it may do everything.
  void begin(const Access* access, const Credential& peer) noexcept;
  // The peer has shown a token, which replaces what was known of it.
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
  // Looks anew only when identities have changed; otherwise it costs one atomic load.
  ProducerOwner owner(const ConnectionLimits& all) noexcept;
  // Whether it is a part of the server itself: HTTP, which sends the rows of its own peers.
  bool is_host() const noexcept { return is_host_; }
  // The peer's own limits, where they may have changed since the last call; otherwise nothing, at
  // the cost of one atomic load.
  std::optional<OwnLimits> new_limits() noexcept;
  // Looks anew only when the model is another one or identities have changed; otherwise it costs
  // one atomic load.
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
