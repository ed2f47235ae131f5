// An authority, a server with its certificate, and clients that trust it.
#ifndef WINDHOVER_TESTS_IO_TLS_AUTHORITY_H_
#define WINDHOVER_TESTS_IO_TLS_AUTHORITY_H_

#include <chrono>
#include <string>

#include "windhover/tests/io/server_fixture.h"
#include "windhover/tests/io/tls/certificates.h"

namespace windhover::testing {

struct Authority {
  TestCertificate root{"authority", "", nullptr};
  TestCertificate server{"server", "DNS:localhost,IP:127.0.0.1", &root};

  ServerConfig config() const {
    ServerConfig config = small_server();
    config.tls.certificate = server.certificate();
    config.tls.key = server.key();
    return config;
  }
  ClientOptions options() const {
    ClientOptions options;
    options.tls.ca_file = root.certificate();
    options.reply_timeout = std::chrono::seconds(20);
    return options;
  }
};

inline std::string tls(const std::string& address) { return "tls://" + address; }

}  // namespace windhover::testing

#endif  // WINDHOVER_TESTS_IO_TLS_AUTHORITY_H_
