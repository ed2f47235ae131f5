// Bytes into a TLS port, in whatever pieces: the server's side takes them, waits or ends, says
// nothing more once it has failed, and gives all its memory back.
#include <openssl/crypto.h>
#include <openssl/ssl.h>
#include <sys/socket.h>
#include <unistd.h>

#include <array>
#include <memory>
#include <span>
#include <string>

#include "windhover/io/tls/tls_channel.h"
#include "windhover/io/tls/tls_context.h"
#include "windhover/io/tls/tls_memory.h"
#include "windhover/tests/fuzz/driver.h"
#include "windhover/tests/io/tls/certificates.h"
#include "windhover/tests/io/tls/client_hello.h"

namespace windhover::testing {
namespace {

struct World {
  World() {
    TlsSettings settings;
    require(
        context
            .read({.certificate = own.certificate(), .key = own.key(), .client_ca = {}}, settings)
            .ok());
    context.use(std::move(settings));
  }
  TestCertificate own{"fuzz", "", nullptr};
  TlsContext context;
};

World& world() {
  // The memory is installed before anything of OpenSSL runs.
  static const bool installed = ok(install_tls_memory(std::size_t{8} << 20, false));
  require(installed);
  static World made;
  return made;
}

void converse(std::span<const std::uint8_t> bytes, std::size_t step) {
  std::array<int, 2> ends{};
  require(::socketpair(AF_UNIX, SOCK_STREAM | SOCK_NONBLOCK, 0, ends.data()) == 0);
  TlsChannel channel;
  require(channel.begin(world().context.new_connection(), ends[0], true));
  std::array<std::byte, 4096> room;
  std::array<char, 4096> said;
  bool ended = false;
  while (!bytes.empty()) {
    const auto piece = bytes.first(std::min(step, bytes.size()));
    if (::send(ends[1], piece.data(), piece.size(), MSG_NOSIGNAL) < 0) break;
    bytes = bytes.subspan(piece.size());
    const TlsResult result = channel.read(room);
    require(result.end != TlsEnd::kDone && result.bytes == 0);  // nobody has the keys
    require(!channel.established());
    ended = ended || result.end == TlsEnd::kFailed || result.end == TlsEnd::kClosed;
    while (::recv(ends[1], said.data(), said.size(), 0) > 0) continue;
    if (!ended) continue;
    // Nothing goes through it any more.
    require(channel.read(room).end != TlsEnd::kDone);
    require(channel.write(room).end != TlsEnd::kDone);
    channel.say_goodbye();
    require(::recv(ends[1], said.data(), said.size(), 0) <= 0);
    break;
  }
  channel.end();
  ::close(ends[0]);
  ::close(ends[1]);
}

}  // namespace

std::string make_case(std::mt19937_64& random) {
  (void)world();
  static const std::array<std::string, 2> hellos = {client_hello(TLS1_3_VERSION),
                                                    client_hello(TLS1_2_VERSION)};
  std::string bytes = hellos[random() % 2];
  if (random() % 8 == 0) bytes.resize(random() % (bytes.size() + 1));
  for (std::uint64_t n = random() % 4; n > 0; --n) {
    // Another record behind it: of any kind, with what it says its length is, or not.
    const std::size_t size = random() % 300;
    bytes += static_cast<char>(20 + random() % 5);
    bytes += "\x03\x03";
    bytes += static_cast<char>(size >> 8);
    bytes += static_cast<char>(size & 255);
    for (std::size_t i = 0; i < size; ++i) bytes += static_cast<char>(random());
  }
  return bytes;
}

}  // namespace windhover::testing

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace windhover;
  using namespace windhover::testing;
  (void)world();
  static const std::size_t before = [] {
    converse({}, 1);
    const std::string hello = client_hello(TLS1_3_VERSION);
    converse({reinterpret_cast<const std::uint8_t*>(hello.data()), hello.size()}, hello.size());
    return tls_memory()->in_use();
  }();
  converse({data, size}, 1 + size % 97);
  // What OpenSSL learns once (algorithms fetched, strings of errors) it keeps, and no more.
  require(tls_memory()->in_use() < before + (std::size_t{256} << 10));
  require(tls_memory()->refusals() == 0);
  return 0;
}
