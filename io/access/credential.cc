// OpenSSL 3 deprecates these functions of SHA-256, but they are the only ones that allocate
// nothing: their replacements make a context on the heap for each digest.
#define OPENSSL_SUPPRESS_DEPRECATED
#include "windhover/io/access/credential.h"

#include <cstring>

#include <netinet/in.h>
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

Credential Credential::of_address(int descriptor) noexcept {
  sockaddr_storage address{};
  socklen_t size = sizeof address;
  if (::getpeername(descriptor, reinterpret_cast<sockaddr*>(&address), &size) != 0) return {};
  Credential credential{Kind::kAddress, {}};
  if (address.ss_family == AF_UNIX) {
    credential.key = of_socket(descriptor).key;
    return credential;
  }
  if (address.ss_family == AF_INET) {
    const auto& v4 = reinterpret_cast<const sockaddr_in&>(address);
    std::memcpy(credential.key.data(), &v4.sin_addr, sizeof v4.sin_addr);
  } else {
    constexpr std::size_t kNetwork = 8;
    const in6_addr& v6 = reinterpret_cast<const sockaddr_in6&>(address).sin6_addr;
    const bool mapped = IN6_IS_ADDR_V4MAPPED(&v6) != 0;
    std::memcpy(credential.key.data(), &v6.s6_addr[mapped ? 12 : 0], mapped ? 4 : kNetwork);
  }
  return credential;
}

bool Credential::same_as(const Credential& other) const noexcept {
  const int difference = CRYPTO_memcmp(key.data(), other.key.data(), key.size());
  return difference == 0 && kind == other.kind;
}

}  // namespace windhover
