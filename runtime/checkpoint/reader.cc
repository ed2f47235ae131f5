#include <algorithm>
#include <functional>

#include "windhover/platform/checksum.h"
#include "windhover/runtime/checkpoint/config_fields.h"
#include "windhover/runtime/checkpoint/stream.h"

namespace windhover::checkpoint {

Status Reader::read(std::span<std::byte> bytes) noexcept {
  const Status status = source_.read(bytes);
  if (ok(status)) at_ += bytes.size();
  return status;
}

Error Reader::failed(Status status) const noexcept {
  const auto at = static_cast<double>(at_);
  if (status == Status::kClosed) {
    return {status, "the checkpoint ends too early, after this many bytes or a few more", at};
  }
  return {status, "the checkpoint cannot be read beyond this many bytes", at};
}

Error Reader::damaged() const noexcept {
  return {Status::kMalformed, sentence_of_damage(header_), static_cast<double>(section_)};
}

Result<Header> Reader::begin() noexcept {
  Header header;
  const Status status = read(std::as_writable_bytes(std::span<Header, 1>(&header, 1)));
  if (!ok(status)) return failed(status);
  if (header.magic != kMagic) {
    return Error{Status::kMalformed, "this is no checkpoint: it does not begin as one does"};
  }
  sum_ = checksum(bytes_of(header).first(offsetof(Header, checksum)));
  if (header.checksum != sum_) {
    return Error{Status::kMalformed, "the header of the checkpoint is damaged"};
  }
  if (header.version > kFormatVersion || header.reserved != 0) {
    return Error{Status::kUnsupported, "the checkpoint is of a later version of the format",
                 static_cast<double>(header.version)};
  }
  return header;
}

Result<Reader::Section> Reader::next(std::span<std::byte> rows,
                                     std::span<std::byte> room) noexcept {
  section_ = at_;
  header_ = SectionHeader();
  SectionHeader header;
  Status status = read(std::as_writable_bytes(std::span<SectionHeader, 1>(&header, 1)));
  if (!ok(status)) return failed(status);
  header_ = header;
  std::span<std::byte> payload = rows;
  if (!header.is(kRows) && !header.is(kKeys)) {
    // One that holds more than its configuration can have is damaged in a length.
    if (room.size() < sizeof(header)) return damaged();
    std::memcpy(room.data(), &header, sizeof(header));
    payload = room.subspan(sizeof(header));
  }
  if (header.length > payload.size()) return damaged();
  payload = payload.first(header.length);
  status = read(payload);
  if (!ok(status)) return failed(status);
  return verify(header, payload);
}

Result<Reader::Section> Reader::verify(const SectionHeader& header,
                                       std::span<std::byte> payload) noexcept {
  std::uint64_t stored = 0;
  const Status status = read(std::as_writable_bytes(std::span<std::uint64_t, 1>(&stored, 1)));
  if (!ok(status)) return failed(status);
  Checksum sum(sum_);
  sum.update(bytes_of(header));
  sum.update(payload);
  sum_ = sum.value();
  if (stored != sum_) return damaged();
  if (header.is(kEnd)) {
    if (payload.size() != sizeof(std::uint64_t)) return damaged();
    if (load<std::uint64_t>(payload.data()) != sections_) return damaged();
  }
  ++sections_;
  return Section{header, payload};
}

Result<bool> Reader::configuration(const Header& header, const EngineConfig& config,
                                   std::uint64_t fingerprint, std::span<std::byte> room) noexcept {
  const Result<Section> section = next({}, room);
  if (!section.ok()) return section.error();
  const std::span<const std::byte> payload = section.value().payload;
  const std::span<const ConfigField> fields = config_fields();
  const std::size_t held = payload.size() / sizeof(FieldEntry);
  const Error other_fields{Status::kUnsupported,
                           "the checkpoint has other fields of configuration: it is of another "
                           "version; so many fields",
                           static_cast<double>(held)};
  if (!section.value().header.is(kConfiguration)) return damaged();
  if (payload.size() != fields.size() * sizeof(FieldEntry)) return other_fields;
  const ConfigField* differs = nullptr;
  std::uint64_t there = 0;
  for (std::size_t i = 0; i < fields.size(); ++i) {
    const auto entry = load<FieldEntry>(payload.data() + i * sizeof(FieldEntry));
    FieldEntry expected;
    fields[i].name().copy(expected.name.data(), expected.name.size());
    if (entry.name != expected.name) return other_fields;
    const bool tells_more =
        differs == nullptr || (fields[i].decides_others && !differs->decides_others);
    if (!tells_more || entry.bits == fields[i].bits(config)) continue;
    differs = &fields[i];
    there = entry.bits;
  }
  if (differs != nullptr) {
    return Error{Status::kInvalidConfig, differs->sentence, differs->number(there)};
  }
  if (header.fingerprint != fingerprint || header.configuration != configuration_hash(config)) {
    return Error{Status::kInvalidConfig, "the checkpoint is of another model or configuration"};
  }
  return true;
}

void StateRestorer::section(const char* name, std::uint32_t version) noexcept {
  if (!payload_.empty()) fail();
  name_ = name;
  at_ = next_at_;
  if (left_.size() < sizeof(SectionHeader)) return fail();
  const auto header = load<SectionHeader>(left_.data());
  left_ = left_.subspan(sizeof(header));
  if (header.length > left_.size()) return fail();
  payload_ = left_.first(header.length);
  left_ = left_.subspan(header.length);
  next_at_ += sizeof(header) + header.length + sizeof(Header::checksum);
  if (!header.is(name)) return fail();
  if (header.version == version) return;
  of_another_version_ = misfit_ == nullptr;
  fail();
}

void StateRestorer::fail() noexcept {
  if (misfit_ == nullptr) {
    misfit_ = name_;
    misfit_at_ = at_;
  }
  payload_ = {};
}

const char* StateRestorer::misfit() noexcept {
  if (!payload_.empty() || !left_.empty()) fail();
  return misfit_;
}

// Numbers are written inside the engine's block only; a single one may be on the stack.
void StateRestorer::put(std::span<std::byte> numbers) noexcept {
  if (numbers.empty()) return;
  const std::less_equal<const std::byte*> before;
  const bool inside = before(block_.data(), numbers.data()) &&
                      before(numbers.data() + numbers.size(), block_.data() + block_.size());
  if (!inside && numbers.size() > sizeof(std::uint64_t)) return fail();
  if (misfit_ != nullptr || numbers.size() > payload_.size()) {
    fail();
    std::fill(numbers.begin(), numbers.end(), std::byte{0});
    return;
  }
  std::memcpy(numbers.data(), payload_.data(), numbers.size());
  payload_ = payload_.subspan(numbers.size());
}

}  // namespace windhover::checkpoint
