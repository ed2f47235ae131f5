#ifndef WINDHOVER_IO_ACCESS_IDENTITY_TABLE_H_
#define WINDHOVER_IO_ACCESS_IDENTITY_TABLE_H_

#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>

#include "windhover/io/access/credential.h"
#include "windhover/io/access/identity_file.h"
#include "windhover/io/access/roles.h"
#include "windhover/platform/arena.h"

namespace windhover {

// Who may do what, in fixed memory: one half is read, the other one is filled and then takes its
// place. Any thread may read, and waits for nothing; one thread at a time fills.
//
// Invariant: nobody reads the half that is being filled. A reader counts itself before it looks
// which half to read, and after the halves have changed places the filling thread waits until
// nobody reads.
class IdentityTable {
 public:
  // Takes memory, writes nothing into it.
  IdentityTable(Arena& arena, std::size_t capacity, std::size_t models) noexcept;

  struct Found {
    bool known = false;
    RoleSet here;        // on the model asked about
    RoleSet anywhere;    // on one model at least
    RoleSet everywhere;  // on all of them
    OwnLimits limits;
  };
  // Compares with every identity, so that the time does not tell which one it is. O(capacity +
  // models). Any thread.
  Found find(const Credential& who, std::size_t model) const noexcept;

  // Finds the roles on each of the models, in one pass over the identities. Any thread.
  void find(const Credential& who, std::span<RoleSet> on_models) const noexcept;

  // Counts exchanges. A find() after this reads the table of this generation, or a newer one.
  std::uint64_t generation() const noexcept { return generation_.load(std::memory_order_acquire); }
  std::size_t size() const noexcept { return halves_[active_.load()].used; }  // the filling thread

  // Fills the other half. `models`: the models' names by their places; lines name these. With
  // `others` lines may name further models, without effect. "*" includes places without a name.
  class Filler final : public IdentitySink {
   public:
    Filler(IdentityTable& table, std::span<const std::string_view> models,
           bool others = false) noexcept;
    const char* take(const IdentityLine& identity) noexcept override;
    // Has readers read the new half from now on. Without this call nothing changes.
    void exchange() noexcept;

   private:
    IdentityTable& table_;
    std::span<const std::string_view> models_;
    bool others_;
  };

 private:
  struct Entry {
    Credential who;
    RoleSet roles;
    OwnLimits limits;
  };
  struct Half {
    std::span<Entry> entries;
    std::span<std::uint64_t> models;  // words_ an entry, a bit a model
    std::size_t used = 0;
    std::array<std::optional<OwnLimits>, 3> of_roles;  // observe, query, admin
  };
  // The entry's limits; those that it lacks come from its roles.
  static OwnLimits limits_of(const Half& half, const Entry& entry) noexcept;

  std::size_t model_count_;
  std::size_t words_;
  Half halves_[2];
  std::atomic<unsigned> active_{0};
  std::atomic<std::uint64_t> generation_{1};
  mutable std::atomic<std::uint32_t> readers_{0};
};

}  // namespace windhover

#endif  // WINDHOVER_IO_ACCESS_IDENTITY_TABLE_H_
