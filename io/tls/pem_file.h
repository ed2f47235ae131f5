// PEM files as OpenSSL's objects, without stdio, whose buffers would come from the heap.
#ifndef WINDHOVER_IO_TLS_PEM_FILE_H_
#define WINDHOVER_IO_TLS_PEM_FILE_H_

#include <string_view>

#include <openssl/ssl.h>

namespace windhover {

// Each null, or a sentence about what is wrong. A file is 64 KiB at most.
// The first certificate is the server's own or the client's, the others lead to the root.
const char* use_certificates(SSL_CTX* context, std::string_view path) noexcept;
// Refused where others than its owner may get at it. After the certificate, which it must fit.
const char* use_key(SSL_CTX* context, std::string_view path) noexcept;
// Loads the authorities that vouch for the other side. `names`: a client is told who they are.
const char* trust(SSL_CTX* context, std::string_view path, bool names) noexcept;

}  // namespace windhover

#endif  // WINDHOVER_IO_TLS_PEM_FILE_H_
