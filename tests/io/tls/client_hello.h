// What a TLS client says first.
#ifndef WINDHOVER_TESTS_IO_TLS_CLIENT_HELLO_H_
#define WINDHOVER_TESTS_IO_TLS_CLIENT_HELLO_H_

#include <openssl/ssl.h>

#include <string>

namespace windhover::testing {

// Of OpenSSL's client, which offers no version above `version`.
inline std::string client_hello(int version = TLS1_3_VERSION) {
  SSL_CTX* const context = SSL_CTX_new(TLS_client_method());
  SSL_CTX_set_max_proto_version(context, version);
  SSL* const connection = SSL_new(context);
  SSL_set_connect_state(connection);
  SSL_set_bio(connection, BIO_new(BIO_s_mem()), BIO_new(BIO_s_mem()));
  (void)SSL_do_handshake(connection);
  char* bytes = nullptr;
  const long size = BIO_get_mem_data(SSL_get_wbio(connection), &bytes);
  std::string hello(bytes, static_cast<std::size_t>(size));
  SSL_free(connection);
  SSL_CTX_free(context);
  return hello;
}

}  // namespace windhover::testing

#endif  // WINDHOVER_TESTS_IO_TLS_CLIENT_HELLO_H_
