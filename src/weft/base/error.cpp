#include "weft/base/error.h"

#include <locale>

namespace weft {

namespace detail {

std::string joined_text(const PrintPart* prints, const void* const* parts, std::size_t count) {
    std::ostringstream stream;
    stream.imbue(std::locale::classic());
    for (std::size_t i = 0; i < count; ++i) prints[i](stream, parts[i]);
    return stream.str();
}

template <>
void print_part<Characters>(std::ostream& stream, const void* part) {
    stream << static_cast<const char*>(part);
}

}  // namespace detail

void refuse_broken_promise(const char* what) {
    throw InternalError(text("weft broke a promise of its own: ", what, ". Please report this."));
}

}  // namespace weft
