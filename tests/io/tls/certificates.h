// Certificates made when a test wants them: nothing that is kept can expire.
#ifndef WINDHOVER_TESTS_IO_TLS_CERTIFICATES_H_
#define WINDHOVER_TESTS_IO_TLS_CERTIFICATES_H_

#include <openssl/evp.h>
#include <openssl/pem.h>
#include <openssl/x509v3.h>
#include <sys/stat.h>

#include <cstdio>
#include <string>

#include <gtest/gtest.h>

#include "windhover/tests/temporary_folder.h"

namespace windhover::testing {

// An authority, or what it vouches for, as PEM files "NAME.pem" and "NAME.key".
class TestCertificate {
 public:
  // `alternative` as OpenSSL writes it, "DNS:localhost,IP:127.0.0.1"; empty: none. `issuer` null:
  // an authority, by itself. Good from `from_seconds` to `valid_seconds` from now on.
  TestCertificate(const std::string& name, const std::string& alternative,
                  const TestCertificate* issuer, long valid_seconds = 86'400,
                  long from_seconds = -86'400)
      : certificate_(temporary_path(name + ".pem")),
        key_(temporary_path(name + ".key")),
        pair_(EVP_EC_gen("P-256")),
        x509_(X509_new()) {
    static long serial = 1;
    X509_set_version(x509_, 2);
    ASN1_INTEGER_set(X509_get_serialNumber(x509_), serial++);
    X509_gmtime_adj(X509_getm_notBefore(x509_), from_seconds);
    X509_gmtime_adj(X509_getm_notAfter(x509_), valid_seconds);
    X509_set_pubkey(x509_, pair_);
    X509_NAME* const subject = X509_get_subject_name(x509_);
    X509_NAME_add_entry_by_txt(subject, "CN", MBSTRING_ASC,
                               reinterpret_cast<const unsigned char*>(name.c_str()), -1, -1, 0);
    X509* const by = issuer != nullptr ? issuer->x509_ : x509_;
    X509_set_issuer_name(x509_, X509_get_subject_name(by));
    extend(by, NID_basic_constraints, issuer == nullptr ? "critical,CA:TRUE" : "CA:FALSE");
    if (!alternative.empty()) extend(by, NID_subject_alt_name, alternative);
    EXPECT_GT(X509_sign(x509_, issuer != nullptr ? issuer->pair_ : pair_, EVP_sha256()), 0);
    write(certificate_, [this](std::FILE* file) { return PEM_write_X509(file, x509_); });
    write(key_, [this](std::FILE* file) {
      return PEM_write_PrivateKey(file, pair_, nullptr, nullptr, 0, nullptr, nullptr);
    });
  }
  ~TestCertificate() {
    X509_free(x509_);
    EVP_PKEY_free(pair_);
  }
  TestCertificate(const TestCertificate&) = delete;
  TestCertificate& operator=(const TestCertificate&) = delete;

  const std::string& certificate() const { return certificate_; }
  const std::string& key() const { return key_; }

 private:
  void extend(X509* issuer, int what, const std::string& value) {
    X509V3_CTX context;
    X509V3_set_ctx(&context, issuer, x509_, nullptr, nullptr, 0);
    X509_EXTENSION* const extension = X509V3_EXT_conf_nid(nullptr, &context, what, value.c_str());
    ASSERT_NE(extension, nullptr) << value;
    X509_add_ext(x509_, extension, -1);
    X509_EXTENSION_free(extension);
  }
  template <class Write>
  static void write(const std::string& path, Write write) {
    std::FILE* const file = std::fopen(path.c_str(), "wb");
    ASSERT_NE(file, nullptr) << path;
    EXPECT_EQ(write(file), 1);
    std::fclose(file);
    ::chmod(path.c_str(), 0600);
  }

  std::string certificate_;
  std::string key_;
  EVP_PKEY* pair_;
  X509* x509_;
};

}  // namespace windhover::testing

#endif  // WINDHOVER_TESTS_IO_TLS_CERTIFICATES_H_
