#include "weft/backend/cpu/caches.h"

#if defined(__unix__)
#include <unistd.h>
#endif

#include "weft/backend/cpu/isa.h"

namespace weft::cpu {

int first_level_ways() {
#if defined(_SC_LEVEL1_DCACHE_ASSOC)
    static const auto ways = static_cast<int>(sysconf(_SC_LEVEL1_DCACHE_ASSOC));
    if (ways > 0) return ways;
#endif
    return 8;
}

std::size_t third_level_bytes() {
#if defined(_SC_LEVEL3_CACHE_SIZE)
    static const long bytes = is_intel() ? sysconf(_SC_LEVEL3_CACHE_SIZE) : 0;
    if (bytes > 0) return static_cast<std::size_t>(bytes);
#endif
    return 0;
}

bool go_past_caches(std::size_t bytes_of_blocks, std::size_t third_level) {
    constexpr std::size_t large = std::size_t{384} << 20;  // an Emerald Rapids has up to 320 MB
    return bytes_of_blocks >= (third_level >= large ? past_bytes : past_bytes_of_blocks);
}

}  // namespace weft::cpu
