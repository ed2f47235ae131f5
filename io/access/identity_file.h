// The file that says who may do what: one line an identity, of words with blanks between.
//
//   # NAME     ROLES          MODELS        SHA-256 of the token, in hexadecimal
//   feeder     observe        * 9f86d081884c7d659a2feaa0c55ad015a3bf4f1b2b0b822cd15d6c15b0f00a08
//   uid:1000   observe,query  *
//   cert:ada   query          price,clicks  frames=100,questions=20
//   role:query questions=50
//
// ROLES and MODELS are lists with commas; * is all models. What begins with # is no identity. Last
// may come limits, a second and a connection: frames, bytes, questions, cost; 0: none; and how many
// connections and producers it may have. A line of a role says what identities with that role have
// in place of the server's limits where their own line says nothing; of several roles the largest.
#ifndef WINDHOVER_IO_ACCESS_IDENTITY_FILE_H_
#define WINDHOVER_IO_ACCESS_IDENTITY_FILE_H_

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string_view>

#include "windhover/io/access/credential.h"
#include "windhover/io/access/roles.h"
#include "windhover/io/connection_limits.h"

namespace windhover {

// One identity as its line has it.
struct IdentityLine {
  Credential who;  // kNone: a blank line or a comment
  RoleSet roles;
  std::string_view models;  // "*", or names with commas between, none of them empty
  OwnLimits limits;
  std::optional<Role> of_role;  // the limits are of all with this role; there is no identity
};

// Null, or a sentence about what is wrong with the line. `line` has no end of line in it.
const char* read_identity_line(std::string_view line, IdentityLine& identity) noexcept;

// Takes the identities of a file, and limits of roles, in their order.
class IdentitySink {
 public:
  // Null, or a sentence about why not.
  virtual const char* take(const IdentityLine& identity) noexcept = 0;

 protected:
  ~IdentitySink() = default;
};

// What is wrong with a file.
struct IdentityFault {
  const char* sentence = nullptr;  // null: nothing
  std::uint32_t line = 0;          // from 1 on; 0: the file as a whole
  int error = 0;                   // errno, or 0
};

// Hands over what the file holds. Refuses one that others than its owner can get at. No heap call:
// of a line there may be kLongestIdentityLine bytes.
inline constexpr std::size_t kLongestIdentityLine = 4095;
IdentityFault read_identity_file(const char* path, IdentitySink& sink) noexcept;

}  // namespace windhover

#endif  // WINDHOVER_IO_ACCESS_IDENTITY_FILE_H_
