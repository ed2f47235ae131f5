#include "windhover/io/tls/pem_file.h"

#include <array>
#include <cerrno>
#include <memory>

#include <fcntl.h>
#include <openssl/err.h>
#include <openssl/pem.h>
#include <sys/stat.h>
#include <unistd.h>

namespace windhover {
namespace {

template <class T, void (*free_it)(T*)>
struct Freed {
  void operator()(T* object) const noexcept { free_it(object); }
};
using Certificate = std::unique_ptr<X509, Freed<X509, X509_free>>;
using Key = std::unique_ptr<EVP_PKEY, Freed<EVP_PKEY, EVP_PKEY_free>>;

// The bytes of a file, wiped at the end.
class PemFile {
 public:
  PemFile(std::string_view path, bool secret) noexcept {
    std::array<char, 4096> name{};
    path.copy(name.data(), name.size() - 1);  // a longer path is cut, and not found
    const int file = ::open(name.data(), O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY);
    if (file >= 0) {
      read(file, secret);
      ::close(file);
    } else {
      fail("the file cannot be opened");
    }
    if (wrong_ == nullptr) bio_ = BIO_new_mem_buf(bytes_.data(), static_cast<int>(size_));
    if (wrong_ == nullptr && bio_ == nullptr) fail("there is no memory to read it");
  }
  ~PemFile() {
    BIO_free(bio_);
    OPENSSL_cleanse(bytes_.data(), size_);
    ERR_clear_error();
  }
  PemFile(const PemFile&) = delete;
  PemFile& operator=(const PemFile&) = delete;

  const char* wrong() const noexcept { return wrong_; }
  Certificate next_certificate() noexcept {
    return Certificate(PEM_read_bio_X509(bio_, nullptr, &no_password, nullptr));
  }
  Key key() noexcept { return Key(PEM_read_bio_PrivateKey(bio_, nullptr, &no_password, nullptr)); }
  // Whether the last read failed because nothing more was there.
  static bool at_end() noexcept {
    return ERR_GET_REASON(ERR_peek_last_error()) == PEM_R_NO_START_LINE;
  }

 private:
  static int no_password(char*, int, int, void*) { return -1; }
  void fail(const char* sentence) noexcept { wrong_ = sentence; }
  void read(int file, bool secret) noexcept {
    struct stat facts {};
    if (::fstat(file, &facts) != 0 || !S_ISREG(facts.st_mode)) return fail("this is no file");
    if (secret && (facts.st_mode & 077) != 0) {
      return fail("others than its owner may read or write the file; chmod 600 it");
    }
    for (;;) {
      const ssize_t got = ::read(file, bytes_.data() + size_, bytes_.size() - size_);
      if (got < 0 && errno == EINTR) continue;
      if (got < 0) return fail("the file cannot be read");
      size_ += static_cast<std::size_t>(got);
      if (size_ == bytes_.size()) return fail("the file is larger than 64 KiB");
      if (got == 0) return;
    }
  }

  std::array<char, 64 * 1024> bytes_;
  std::size_t size_ = 0;
  const char* wrong_ = nullptr;
  BIO* bio_ = nullptr;
};

// Calls take(certificate, index) for each; it returns false where OpenSSL refuses the certificate.
template <class Take>
const char* each_certificate(std::string_view path, Take take) noexcept {
  PemFile file(path, false);
  if (file.wrong() != nullptr) return file.wrong();
  for (std::size_t i = 0;; ++i) {
    const Certificate certificate = file.next_certificate();
    if (certificate == nullptr) {
      return i > 0 && PemFile::at_end() ? nullptr : "this is no certificate in PEM";
    }
    if (!take(certificate.get(), i)) return "OpenSSL does not take this certificate";
  }
}

}  // namespace

const char* use_certificates(SSL_CTX* context, std::string_view path) noexcept {
  return each_certificate(path, [context](X509* certificate, std::size_t i) {
    if (i == 0) return SSL_CTX_use_certificate(context, certificate) == 1;
    return SSL_CTX_add1_chain_cert(context, certificate) == 1;
  });
}

const char* use_key(SSL_CTX* context, std::string_view path) noexcept {
  PemFile file(path, true);
  if (file.wrong() != nullptr) return file.wrong();
  const Key key = file.key();
  if (key == nullptr) return "this is no private key in PEM without a password";
  if (SSL_CTX_use_PrivateKey(context, key.get()) != 1 || SSL_CTX_check_private_key(context) != 1) {
    return "the key is not that of the certificate";
  }
  return nullptr;
}

const char* trust(SSL_CTX* context, std::string_view path, bool names) noexcept {
  return each_certificate(path, [context, names](X509* certificate, std::size_t) {
    return X509_STORE_add_cert(SSL_CTX_get_cert_store(context), certificate) == 1 &&
           (!names || SSL_CTX_add_client_CA(context, certificate) == 1);
  });
}

}  // namespace windhover
