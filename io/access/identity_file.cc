#include "windhover/io/access/identity_file.h"

#include <algorithm>
#include <array>
#include <cerrno>
#include <charconv>
#include <cstring>
#include <optional>
#include <utility>

#include <fcntl.h>
#include <openssl/crypto.h>
#include <sys/stat.h>
#include <unistd.h>

namespace windhover {
namespace {

constexpr std::string_view kBlank = " \t\r";
constexpr std::string_view kUser = "uid:";
constexpr std::string_view kCertificate = "cert:";
constexpr std::string_view kRole = "role:";
constexpr const char* kWrongLimits =
    "the last word are limits: frames=N, bytes=N, questions=N, cost=N, connections=N, producers=N, "
    "each once, with commas between; 0: none";

// Takes the first word off `text`; empty: there is none.
std::string_view take_word(std::string_view& text) noexcept {
  text.remove_prefix(std::min(text.find_first_not_of(kBlank), text.size()));
  const std::string_view word = text.substr(0, text.find_first_of(kBlank));
  text.remove_prefix(word.size());
  return word;
}

bool read_roles(std::string_view list, RoleSet& roles) noexcept {
  for (;;) {
    const std::string_view name = list.substr(0, list.find(','));
    if (name == "observe") {
      roles.add(Role::kObserve);
    } else if (name == "query") {
      roles.add(Role::kQuery);
    } else if (name == "admin") {
      roles.add(Role::kAdmin);
    } else {
      return false;
    }
    if (name.size() == list.size()) return true;
    list.remove_prefix(name.size() + 1);
  }
}

// "frames=100,questions=20": each at most once.
bool read_limits(std::string_view list, OwnLimits& limits) noexcept {
  for (;;) {
    const std::string_view word = list.substr(0, list.find(','));
    const std::size_t equals = word.find('=');
    if (equals == std::string_view::npos) return false;
    const std::string_view name = word.substr(0, equals);
    std::optional<std::uint64_t>* const limit = name == "frames"        ? &limits.frames
                                                : name == "bytes"       ? &limits.bytes
                                                : name == "questions"   ? &limits.questions
                                                : name == "cost"        ? &limits.cost
                                                : name == "connections" ? &limits.connections
                                                : name == "producers"   ? &limits.producers
                                                                        : nullptr;
    if (limit == nullptr || limit->has_value()) return false;
    const char* const end = word.data() + word.size();
    const auto parsed = std::from_chars(word.data() + equals + 1, end, limit->emplace());
    if (parsed.ec != std::errc() || parsed.ptr != end) return false;
    if (word.size() == list.size()) return true;
    list.remove_prefix(word.size() + 1);
  }
}

bool read_hash(std::string_view text, Sha256& hash) noexcept {
  if (text.size() != 2 * hash.size()) return false;
  for (std::size_t i = 0; i < hash.size(); ++i) {
    const char* const digits = text.data() + 2 * i;
    const auto [end, error] = std::from_chars(digits, digits + 2, hash[i], 16);
    if (error != std::errc() || end != digits + 2) return false;
  }
  return true;
}

bool is_printable(std::string_view text) noexcept {
  return std::ranges::all_of(text, [](char c) { return c > ' ' && c <= '~'; });
}

// A descriptor that is closed at the end.
struct ReadOnlyFile {
  explicit ReadOnlyFile(const char* path) noexcept
      : descriptor(::open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY)) {}
  ~ReadOnlyFile() {
    if (descriptor >= 0) ::close(descriptor);
  }
  ReadOnlyFile(const ReadOnlyFile&) = delete;
  ReadOnlyFile& operator=(const ReadOnlyFile&) = delete;

  const int descriptor;
};

struct Buffer {
  Buffer() noexcept = default;
  ~Buffer() { OPENSSL_cleanse(bytes.data(), bytes.size()); }
  Buffer(const Buffer&) = delete;
  Buffer& operator=(const Buffer&) = delete;

  std::array<char, kLongestIdentityLine + 1> bytes;
  std::size_t size = 0;
};

const char* take_line(std::string_view line, IdentitySink& sink) noexcept {
  IdentityLine identity;
  if (const char* const wrong = read_identity_line(line, identity)) return wrong;
  const bool nobodys = identity.who.kind == Credential::Kind::kNone && !identity.of_role;
  return nobodys ? nullptr : sink.take(identity);
}

// Reads a line like "role:query questions=50"; `line` is what follows the name.
const char* read_role_line(std::string_view name, std::string_view line, IdentityLine& identity) {
  name.remove_prefix(kRole.size());
  RoleSet roles;
  if (name.find(',') != std::string_view::npos || !read_roles(name, roles)) {
    return "role: is followed by observe, query or admin";
  }
  identity.of_role = static_cast<Role>(roles.bits);
  return read_limits(take_word(line), identity.limits) && take_word(line).empty() ? nullptr
                                                                                  : kWrongLimits;
}

}  // namespace

const char* read_identity_line(std::string_view line, IdentityLine& identity) noexcept {
  identity = {};
  const std::string_view name = take_word(line);
  if (name.empty() || name.front() == '#') return nullptr;
  if (name.starts_with(kRole)) return read_role_line(name, line, identity);
  const std::string_view roles = take_word(line);
  identity.models = take_word(line);
  std::string_view hash = take_word(line);
  std::string_view limits = take_word(line);
  if (limits.empty() && hash.find('=') != std::string_view::npos) std::swap(hash, limits);
  if (!is_printable(name)) return "a name is of printable ASCII";
  if (!read_roles(roles, identity.roles)) {
    return "after the name come roles: observe, query, admin, with commas between";
  }
  const std::string_view models = identity.models;
  if (models.empty() || models.front() == ',' || models.back() == ',' ||
      models.find(",,") != std::string_view::npos) {
    return "after the roles come models: * for all, or names with commas between";
  }
  if (!limits.empty() && !read_limits(limits, identity.limits)) {
    return kWrongLimits;
  }
  if (!take_word(line).empty()) return "a line has at most five words";
  if (name.starts_with(kUser)) {
    std::uint32_t uid = 0;
    const char* const end = name.data() + name.size();
    const auto parsed = std::from_chars(name.data() + kUser.size(), end, uid);
    if (parsed.ec != std::errc() || parsed.ptr != end) return "uid: is followed by a number";
    identity.who = Credential::of_user(uid);
  } else if (name.starts_with(kCertificate)) {
    identity.who = Credential::of_certificate(name.substr(kCertificate.size()));
    if (identity.who.kind == Credential::Kind::kNone) return "cert: is followed by a name";
  } else {
    Credential token{Credential::Kind::kToken, {}};
    if (!read_hash(hash, token.key)) {
      return "the fourth word is the SHA-256 of the token, 64 hexadecimal digits";
    }
    identity.who = token;
    return nullptr;
  }
  return hash.empty() ? nullptr : "uid: and cert: have no token";
}

IdentityFault read_identity_file(const char* path, IdentitySink& sink) noexcept {
  const ReadOnlyFile file(path);
  if (file.descriptor < 0) return {"the file cannot be opened", 0, errno};
  struct stat facts {};
  if (::fstat(file.descriptor, &facts) != 0) return {"the file cannot be looked at", 0, errno};
  if (!S_ISREG(facts.st_mode)) return {"this is no regular file", 0, 0};
  if ((facts.st_mode & 077) != 0) {
    return {"others than its owner may read or write the file; chmod 600 it", 0, 0};
  }
  Buffer buffer;
  std::uint32_t number = 0;
  for (bool more = true; more;) {
    const ssize_t got = ::read(file.descriptor, buffer.bytes.data() + buffer.size,
                               buffer.bytes.size() - buffer.size);
    if (got < 0 && errno == EINTR) continue;
    if (got < 0) return {"the file cannot be read", 0, errno};
    buffer.size += static_cast<std::size_t>(got);
    more = got > 0;
    std::string_view there(buffer.bytes.data(), buffer.size);
    for (std::size_t end = there.find('\n');
         end != std::string_view::npos || (!more && !there.empty()); end = there.find('\n')) {
      const std::string_view line = there.substr(0, end);
      ++number;
      if (const char* const wrong = take_line(line, sink)) return {wrong, number, 0};
      there.remove_prefix(std::min(there.size(), line.size() + 1));
    }
    if (there.size() == buffer.bytes.size()) return {"the line is too long", number + 1, 0};
    std::memmove(buffer.bytes.data(), there.data(), there.size());
    buffer.size = there.size();
  }
  return {};
}

}  // namespace windhover
