#include "windhover/platform/checksum.h"
#include "windhover/runtime/checkpoint/config_fields.h"
#include "windhover/runtime/checkpoint/stream.h"

namespace windhover::checkpoint {

Status Writer::begin(Header header) noexcept {
  header.checksum = sum_ = checksum(bytes_of(header).first(offsetof(Header, checksum)));
  return sink_.write(bytes_of(header));
}

Status Writer::configuration(const EngineConfig& config) noexcept {
  std::array<FieldEntry, 96> entries = {};
  const std::span<const ConfigField> fields = config_fields();
  for (std::size_t i = 0; i < fields.size(); ++i) {
    fields[i].name().copy(entries[i].name.data(), entries[i].name.size());
    entries[i].bits = fields[i].bits(config);
  }
  return section(SectionHeader(kConfiguration),
                 std::as_bytes(std::span(entries).first(fields.size())));
}

Status Writer::section(const SectionHeader& header, std::span<const std::byte> payload) noexcept {
  SectionHeader whole = header;
  whole.length = payload.size();
  Checksum sum(sum_);
  sum.update(bytes_of(whole));
  sum.update(payload);
  sum_ = sum.value();
  ++sections_;
  if (const Status status = sink_.write(bytes_of(whole)); !ok(status)) return status;
  if (const Status status = sink_.write(payload); !ok(status)) return status;
  return sink_.write(bytes_of(sum_));
}

Status Writer::sections(std::span<const std::byte> bytes) noexcept {
  while (!bytes.empty()) {
    const auto header = load<SectionHeader>(bytes.data());
    const Status status = section(header, bytes.subspan(sizeof(header), header.length));
    if (!ok(status)) return status;
    bytes = bytes.subspan(sizeof(header) + header.length);
  }
  return Status::kOk;
}

Status Writer::end() noexcept {
  const std::uint64_t before = sections_;
  return section(SectionHeader(kEnd), bytes_of(before));
}

}  // namespace windhover::checkpoint
