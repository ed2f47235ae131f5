// The files that a server reads at its start, and what is wrong with them, without a server.
#ifndef WINDHOVER_IO_SERVER_FILES_H_
#define WINDHOVER_IO_SERVER_FILES_H_

#include <span>
#include <string>
#include <string_view>

#include "windhover/io/server_config.h"
#include "windhover/io/tls/certificate_dates.h"

namespace windhover {

// Certificate, key, client CA and the file of identities, as open() would judge them; empty:
// nothing is wrong, otherwise "FILE: what" or "FILE:LINE: what". `models`: their names; "" of an
// only one. Allocates. REQUIRES: check(config, ...) is ok.
std::string wrong_with_files(const ServerConfig& config, std::span<const std::string_view> models);

// The dates of the certificate in its file; unknown without TLS, or where it cannot be read.
CertificateDates certificate_dates(const ServerConfig& config);

}  // namespace windhover

#endif  // WINDHOVER_IO_SERVER_FILES_H_
