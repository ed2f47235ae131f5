// The state of an engine, kept as the bits of its numbers.
#ifndef WINDHOVER_TESTS_RUNTIME_SAVED_STATE_H_
#define WINDHOVER_TESTS_RUNTIME_SAVED_STATE_H_

#include <cstdint>
#include <string>
#include <vector>

#include "windhover/platform/state_visitor.h"

namespace windhover::test {

struct SavedState {
  struct Section {
    std::string name;
    std::vector<std::uint64_t> bits;
    bool operator==(const Section&) const = default;
  };
  std::vector<Section> sections;

  bool operator==(const SavedState&) const = default;
  // The bits of all sections of this name.
  std::vector<std::uint64_t> bits_of(const std::string& name) const;
};

// Where the two first differ, in words; empty: nowhere.
std::string difference(const SavedState& one, const SavedState& other);

class StateWriter final : public StateVisitor {
 public:
  void section(const char* name, std::uint32_t version) noexcept override;
  void visit(std::span<double> numbers) noexcept override;
  void visit(std::span<std::uint64_t> numbers) noexcept override;
  void visit(std::span<std::uint32_t> numbers) noexcept override;

  SavedState state;
};

// Puts the numbers of `state` back; fits() tells afterwards whether they were as many, in the same
// sections.
class StateRestorer final : public StateVisitor {
 public:
  explicit StateRestorer(const SavedState& state) : state_(state) {}
  bool restores() const noexcept override { return true; }
  void section(const char* name, std::uint32_t version) noexcept override;
  void visit(std::span<double> numbers) noexcept override;
  void visit(std::span<std::uint64_t> numbers) noexcept override;
  void visit(std::span<std::uint32_t> numbers) noexcept override;

  bool fits() const;

 private:
  std::uint64_t next() noexcept;

  const SavedState& state_;
  std::size_t section_ = 0;  // counted from 1
  std::size_t at_ = 0;
  bool fits_ = true;
};

// Saves the state of an engine, or of anything that has state itself.
template <class Owner>
SavedState save(Owner& owner) {
  StateWriter writer;
  if constexpr (requires { owner.state(); }) {
    owner.state().visit_state(writer);
  } else {
    owner.visit_state(writer);
  }
  return writer.state;
}

}  // namespace windhover::test

#endif  // WINDHOVER_TESTS_RUNTIME_SAVED_STATE_H_
