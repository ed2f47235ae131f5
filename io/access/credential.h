#ifndef WINDHOVER_IO_ACCESS_CREDENTIAL_H_
#define WINDHOVER_IO_ACCESS_CREDENTIAL_H_

#include <array>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <string_view>

namespace windhover {

using Sha256 = std::array<unsigned char, 32>;
// Without a heap call.
Sha256 sha256_of(std::string_view bytes) noexcept;

// How a peer shows who it is. Of a token only the SHA-256 is kept.
struct Credential {
  enum class Kind : std::uint8_t {
    kNone,         // nothing is known of the peer
    kToken,        // it has shown a token
    kUser,         // a process of this machine, of that user
    kCertificate,  // TLS has verified its certificate of that name
    kHost,         // a part of the server itself
    kAddress,      // the address it asks from: no identity
  };

  // A token that is empty or longer than kLongestToken bytes, which no identity has, gives kNone.
  static constexpr std::size_t kLongestToken = 256;
  static Credential of_token(std::string_view token) noexcept;
  static Credential of_user(std::uint32_t uid) noexcept;
  static Credential of_certificate(std::string_view name) noexcept;
  static Credential of_host() noexcept { return {Kind::kHost, {}}; }
  // The user at the other end of a Unix-domain socket, as the kernel says; kNone for other sockets.
  static Credential of_socket(int descriptor) noexcept;

  // Where the peer of a socket is: its address, for IPv6 its network (/64), over a Unix-domain
  // socket its user.
  static Credential of_address(int descriptor) noexcept;

  // A number that tells addresses apart.
  std::uint64_t number() const noexcept {
    std::uint64_t number = 0;
    std::memcpy(&number, key.data(), sizeof number);
    return number;
  }

  // A number that stands for an identity where its key would be too long; not 0.
  std::uint64_t owner_number() const noexcept {
    const std::uint64_t owner = number() ^ std::uint64_t{static_cast<std::uint8_t>(kind)} << 56;
    return owner == 0 ? 1 : owner;
  }

  // The keys are compared in constant time.
  bool same_as(const Credential& other) const noexcept;

  Kind kind = Kind::kNone;
  Sha256 key{};  // hash of the token or the name; or the uid in front
};

}  // namespace windhover

#endif  // WINDHOVER_IO_ACCESS_CREDENTIAL_H_
