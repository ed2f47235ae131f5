// The functions of SHA-256 that OpenSSL 3 calls deprecated are the only ones that take no memory:
// what stands in their place makes a context on the heap for each digest.
#define OPENSSL_SUPPRESS_DEPRECATED
#include "windhover/io/access/credential.h"

#include <cstring>

#include <openssl/crypto.h>
#include <openssl/sha.h>
#include <sys/socket.h>
#include <unistd.h>

namespace windhover {

Sha256 sha256_of(std::string_view bytes) noexcept {
  Sha256 digest;
  SHA256_CTX context;
  SHA256_Init(&context);
  SHA256_Update(&context, bytes.data(), bytes.size());
  SHA256_Final(digest.data(), &context);
  OPENSSL_cleanse(&context, sizeof context);
  return digest;
}

Credential Credential::of_token(std::string_view token) noexcept {
  if (token.empty() || token.size() > kLongestToken) return {};
  return {Kind::kToken, sha256_of(token)};
}

Credential Credential::of_user(std::uint32_t uid) noexcept {
  Credential credential{Kind::kUser, {}};
  std::memcpy(credential.key.data(), &uid, sizeof uid);
  return credential;
}

Credential Credential::of_certificate(std::string_view name) noexcept {
  if (name.empty()) return {};
  return {Kind::kCertificate, sha256_of(name)};
}

Credential Credential::of_socket(int descriptor) noexcept {
  sockaddr_storage address{};
  socklen_t size = sizeof address;
  if (::getsockname(descriptor, reinterpret_cast<sockaddr*>(&address), &size) != 0) return {};
  ucred peer{};
  size = sizeof peer;
  if (address.ss_family != AF_UNIX ||
      ::getsockopt(descriptor, SOL_SOCKET, SO_PEERCRED, &peer, &size) != 0) {
    return {};
  }
  return of_user(peer.uid);
}

bool Credential::same_as(const Credential& other) const noexcept {
  const int difference = CRYPTO_memcmp(key.data(), other.key.data(), key.size());
  return difference == 0 && kind == other.kind;
}

}  // namespace windhover
