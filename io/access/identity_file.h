// The file that says who may do what: a line for each identity, of words separated by blanks.
//
//   # NAME     ROLES          MODELS        SHA-256 of the token, in hexadecimal
//   feeder     observe        * 9f86d081884c7d659a2feaa0c55ad015a3bf4f1b2b0b822cd15d6c15b0f00a08
//   uid:1000   observe,query  *
//   cert:ada   query          price,clicks  frames=100,questions=20
//   role:query questions=50
//
// ROLES and MODELS are lists with commas; * is all models. A line that begins with # is a comment.
// The last word may give limits: frames, bytes, questions and cost, per second of each connection,
// and how many connections and producers the identity may have; 0: none (ConnectionLimits). A line
// of a role gives limits to all identities with that role whose own line gives none, in place of
// the server's; of several roles the largest count.
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
  std::optional<Role> of_role;  // the line has no identity, but limits for all with this role
};

// Null, or a sentence that says what is wrong with the line. `line` does not contain its end.
const char* read_identity_line(std::string_view line, IdentityLine& identity) noexcept;

// Takes the lines of a file in their order: identities, and limits of roles.
class IdentitySink {
 public:
  // Null, or a sentence that says why not.
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

// Hands the lines of the file to `sink`. Refuses a file that others than its owner may read or
// write, and a line of more than kLongestIdentityLine bytes. No heap call.
inline constexpr std::size_t kLongestIdentityLine = 4095;
IdentityFault read_identity_file(const char* path, IdentitySink& sink) noexcept;

}  // namespace windhover

#endif  // WINDHOVER_IO_ACCESS_IDENTITY_FILE_H_
