// Room for the descriptors of a process.
#ifndef WINDHOVER_IO_DESCRIPTORS_H_
#define WINDHOVER_IO_DESCRIPTORS_H_

#include <cstddef>

#include "windhover/io/server_config.h"

namespace windhover {

// Makes room for `more` descriptors at one time, or as many as their limit allows. Linux enlarges
// the table of descriptors when one is opened, and then every thread that opens one waits for tens
// of milliseconds, or hundreds where processors are short: a server would accept and answer nobody
// meanwhile. For set-up.
void reserve_descriptors(std::size_t more) noexcept;

// How many may be open at one time; SIZE_MAX: no limit.
std::size_t descriptor_limit() noexcept;
// Raises the soft limit of descriptors to the hard one. Systems set a low soft limit for programs
// that call select(), which nothing here does. For a host's set-up.
void raise_descriptor_limit() noexcept;

// The most descriptors that a server has open at one time: connections, and logs and checkpoints of
// so many models. A start that reads its logs again has a model's log open twice for a moment.
std::size_t most_descriptors(const ServerConfig& config, std::size_t models) noexcept;

}  // namespace windhover

#endif  // WINDHOVER_IO_DESCRIPTORS_H_
