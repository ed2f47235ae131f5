// Files of identities for tests.
#ifndef WINDHOVER_TESTS_IO_ACCESS_IDENTITIES_H_
#define WINDHOVER_TESTS_IO_ACCESS_IDENTITIES_H_

#include <sys/stat.h>

#include <cstdio>
#include <fstream>
#include <string>

#include "windhover/io/access/credential.h"
#include "windhover/tests/temporary_folder.h"

namespace windhover::testing {

inline std::string hash_text(const std::string& token) {
  std::string text;
  for (const unsigned char byte : sha256_of(token)) {
    char digits[3];
    std::snprintf(digits, sizeof digits, "%02x", byte);
    text += digits;
  }
  return text;
}

// The line of an identity whose token is its name with "-token" behind.
inline std::string token_line(const std::string& name, const std::string& roles,
                              const std::string& models = "*") {
  return name + " " + roles + " " + models + " " + hash_text(name + "-token") + "\n";
}

// Written anew under its name, as a deployment would: readers see the old one or the new one.
inline std::string write_identities(const std::string& name, const std::string& lines,
                                    mode_t mode = 0600) {
  const std::string path = temporary_path(name);
  const std::string fresh = path + ".new";
  std::ofstream(fresh) << lines;
  ::chmod(fresh.c_str(), mode);
  std::rename(fresh.c_str(), path.c_str());
  return path;
}

}  // namespace windhover::testing

#endif  // WINDHOVER_TESTS_IO_ACCESS_IDENTITIES_H_
