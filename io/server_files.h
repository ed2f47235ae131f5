// Checks the files that a server reads at its start, without a server.
#ifndef WINDHOVER_IO_SERVER_FILES_H_
#define WINDHOVER_IO_SERVER_FILES_H_

#include <span>
#include <string>
#include <string_view>

#include "windhover/io/server_config.h"
#include "windhover/io/tls/certificate_dates.h"

namespace windhover {

// What open() would find wrong with certificate, key, client CA and the file of identities: "FILE:
// what" or "FILE:LINE: what"; empty: nothing. `models`: their names; an only one may be "".
// Allocates. REQUIRES: check(config, ...) is ok.
std::string wrong_with_files(const ServerConfig& config, std::span<const std::string_view> models);

// The dates of the certificates in their files; unknown without TLS, or where they cannot be read.
TlsDates certificate_dates(const ServerConfig& config);

}  // namespace windhover

#endif  // WINDHOVER_IO_SERVER_FILES_H_
