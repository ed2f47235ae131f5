#include "windhover/tests/runtime/saved_state.h"

#include <algorithm>
#include <bit>

namespace windhover::test {

std::vector<std::uint64_t> SavedState::bits_of(const std::string& name) const {
  std::vector<std::uint64_t> all;
  for (const Section& section : sections) {
    if (section.name == name) all.insert(all.end(), section.bits.begin(), section.bits.end());
  }
  return all;
}

std::string difference(const SavedState& one, const SavedState& other) {
  for (std::size_t s = 0; s < std::max(one.sections.size(), other.sections.size()); ++s) {
    if (s >= one.sections.size() || s >= other.sections.size()) return "other sections";
    const SavedState::Section& a = one.sections[s];
    const SavedState::Section& b = other.sections[s];
    if (a.name != b.name) return a.name + " against " + b.name;
    if (a.bits.size() != b.bits.size()) return a.name + ": other sizes";
    const auto at = std::ranges::mismatch(a.bits, b.bits).in1 - a.bits.begin();
    if (a.bits != b.bits) return a.name + ", number " + std::to_string(at);
  }
  return "";
}

void StateWriter::section(const char* name, std::uint32_t version) noexcept {
  state.sections.push_back({name, {version}});
}

void StateWriter::visit(std::span<double> numbers) noexcept {
  for (const double x : numbers) {
    state.sections.back().bits.push_back(std::bit_cast<std::uint64_t>(x));
  }
}

void StateWriter::visit(std::span<std::uint64_t> numbers) noexcept {
  for (const std::uint64_t x : numbers) state.sections.back().bits.push_back(x);
}

void StateWriter::visit(std::span<std::uint32_t> numbers) noexcept {
  for (const std::uint32_t x : numbers) state.sections.back().bits.push_back(x);
}

void StateRestorer::section(const char* name, std::uint32_t version) noexcept {
  fits_ = fits_ && (section_ == 0 || at_ == state_.sections[section_ - 1].bits.size());
  fits_ = fits_ && section_ < state_.sections.size() && state_.sections[section_].name == name;
  ++section_;
  at_ = 0;
  fits_ = fits_ && next() == version;
}

std::uint64_t StateRestorer::next() noexcept {
  fits_ = fits_ && at_ < state_.sections[section_ - 1].bits.size();
  return fits_ ? state_.sections[section_ - 1].bits[at_++] : 0;
}

void StateRestorer::visit(std::span<double> numbers) noexcept {
  for (double& x : numbers) x = std::bit_cast<double>(next());
}

void StateRestorer::visit(std::span<std::uint64_t> numbers) noexcept {
  for (std::uint64_t& x : numbers) x = next();
}

void StateRestorer::visit(std::span<std::uint32_t> numbers) noexcept {
  for (std::uint32_t& x : numbers) x = static_cast<std::uint32_t>(next());
}

bool StateRestorer::fits() const {
  return fits_ && section_ == state_.sections.size() &&
         at_ == state_.sections[section_ - 1].bits.size();
}

}  // namespace windhover::test
