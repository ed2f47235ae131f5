// Reads PEM files into OpenSSL's objects, without stdio, whose buffers would come from the heap.
#ifndef WINDHOVER_IO_TLS_PEM_FILE_H_
#define WINDHOVER_IO_TLS_PEM_FILE_H_

#include <string_view>

#include <openssl/ssl.h>

namespace windhover {

// Each returns null, or a sentence that says what is wrong. A file must be smaller than 64 KiB.
// Uses the first certificate as the own one, of the server or the client; the others lead to the
// root.
const char* use_certificates(SSL_CTX* context, std::string_view path) noexcept;
// Uses the private key, which must fit the certificate; called after use_certificates(). Refuses a
// file that others than its owner may read or write.
const char* use_key(SSL_CTX* context, std::string_view path) noexcept;
// Trusts the authorities in the file to vouch for the other side. `names`: clients are told their
// names.
const char* trust(SSL_CTX* context, std::string_view path, bool names) noexcept;

}  // namespace windhover

#endif  // WINDHOVER_IO_TLS_PEM_FILE_H_
