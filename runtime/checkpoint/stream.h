// Writes and reads checkpoints section by section.
#ifndef WINDHOVER_RUNTIME_CHECKPOINT_STREAM_H_
#define WINDHOVER_RUNTIME_CHECKPOINT_STREAM_H_

#include <cstddef>
#include <cstdint>
#include <span>

#include "windhover/platform/result.h"
#include "windhover/platform/state_visitor.h"
#include "windhover/runtime/checkpoint/format.h"
#include "windhover/runtime/checkpoint/sink.h"
#include "windhover/runtime/config.h"

namespace windhover::checkpoint {

// Writes a checkpoint. After a status other than kOk it is not called again.
class Writer {
 public:
  explicit Writer(Sink& sink) noexcept : sink_(sink) {}

  Status begin(Header header) noexcept;
  // Writes the section of the configuration's fields.
  Status configuration(const EngineConfig& config) noexcept;
  Status section(const SectionHeader& header, std::span<const std::byte> payload) noexcept;
  // Writes sections that stand one after another, each with its header.
  Status sections(std::span<const std::byte> bytes) noexcept;
  Status end() noexcept;

 private:
  Sink& sink_;
  std::uint64_t sum_ = 0;  // the checksum written last
  std::uint64_t sections_ = 0;
};

// Reads a checkpoint and verifies it: everything that it hands out has been checked. After an error
// it is not called again. Errors say what is wrong and, where something is damaged, at which byte
// the section begins.
class Reader {
 public:
  explicit Reader(Source& source) noexcept : source_(source) {}

  // Reads the header. kMalformed: this is no checkpoint, or its first bytes are damaged;
  // kUnsupported: it is of a later version of the format.
  Result<Header> begin() noexcept;
  // Reads the section of the configuration and compares it. kInvalidConfig: a field differs, of
  // several one that decides others, or else the first; kUnsupported: it has other fields. `room`
  // has space for the section.
  Result<bool> configuration(const Header& header, const EngineConfig& config,
                             std::uint64_t fingerprint, std::span<std::byte> room) noexcept;
  // Reads the next section, of which kEnd is the last. The payload of rows and of keys goes into
  // `rows`, that of other sections, after the section's header, into `room`.
  struct Section {
    SectionHeader header;
    std::span<std::byte> payload;
  };
  Result<Section> next(std::span<std::byte> rows, std::span<std::byte> room) noexcept;

  // The error that says the section read last is damaged.
  Error damaged() const noexcept;
  // The byte at which that section begins.
  std::uint64_t section_at() const noexcept { return section_; }

 private:
  Status read(std::span<std::byte> bytes) noexcept;
  Result<Section> verify(const SectionHeader& header, std::span<std::byte> payload) noexcept;
  Error failed(Status status) const noexcept;

  Source& source_;
  std::uint64_t sum_ = 0;
  std::uint64_t sections_ = 0;
  std::uint64_t at_ = 0;       // bytes read
  std::uint64_t section_ = 0;  // where the section read last began
  SectionHeader header_;
};

// Puts the numbers of verified sections into the objects that show them. From the first number that
// does not fit on every number is set to 0, and misfit() tells.
class StateRestorer final : public StateVisitor {
 public:
  // `sections`: one after another, each with its header; the first began at byte `at` of the
  // checkpoint, in which each is followed by its checksum. `block`: where spans of numbers must
  // lie.
  StateRestorer(std::span<const std::byte> sections, std::span<const std::byte> block,
                std::uint64_t at = 0) noexcept
      : left_(sections), block_(block), next_at_(at) {}

  bool restores() const noexcept override { return true; }
  void section(const char* name, std::uint32_t version) noexcept override;
  void visit(std::span<double> numbers) noexcept override { put(std::as_writable_bytes(numbers)); }
  void visit(std::span<std::uint64_t> numbers) noexcept override {
    put(std::as_writable_bytes(numbers));
  }
  void visit(std::span<std::uint32_t> numbers) noexcept override {
    put(std::as_writable_bytes(numbers));
  }

  // The name of the first section that does not fit; null: all fitted, and nothing is left. Call it
  // after the last number.
  const char* misfit() noexcept;
  // The byte at which that section begins, or what stands in its place. REQUIRES: misfit() is not
  // null.
  std::uint64_t misfit_at() const noexcept { return misfit_at_; }
  bool of_another_version() const noexcept { return of_another_version_; }

 private:
  void put(std::span<std::byte> numbers) noexcept;
  void fail() noexcept;

  std::span<const std::byte> left_;  // sections after the present one
  std::span<const std::byte> block_;
  std::span<const std::byte> payload_;  // what is left of the present one
  const char* name_ = "";
  std::uint64_t at_ = 0;       // where the present one begins
  std::uint64_t next_at_ = 0;  // where the next one begins
  const char* misfit_ = nullptr;
  std::uint64_t misfit_at_ = 0;
  bool of_another_version_ = false;
};

// What an error says of the section: static text, with the section's name where that is known.
const char* sentence_of_damage(const SectionHeader& header) noexcept;
const char* sentence_of_version(const char* name) noexcept;

}  // namespace windhover::checkpoint

#endif  // WINDHOVER_RUNTIME_CHECKPOINT_STREAM_H_
