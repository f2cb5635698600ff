// How many processors this process may keep busy: what its affinity mask, its control group's quota and WEFT_THREADS
// allow, whichever is least, and at least one. Read once, by base/thread_pool.cpp; the parsers are here for their
// tests.
#pragma once

#include <optional>
#include <string_view>

namespace weft {

/// min(affinity, quota rounded up, WEFT_THREADS). ValueError if WEFT_THREADS is not a positive integer.
int usable_processors();

/// Processors that a control group's version 2 `cpu.max` grants ("150000 100000" is 1.5); nothing for "max" or
/// nonsense.
std::optional<double> quota_of_cpu_max(std::string_view content);

/// The value of WEFT_THREADS as a count; ValueError names what was given.
int threads_from_text(std::string_view value);

}  // namespace weft
