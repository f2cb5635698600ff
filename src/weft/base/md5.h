// MD5 (RFC 1321): tells whether a downloaded file is the one that was published. Not for secrets.
// Callers: data/ (checksums of known files).
#pragma once

#include <string>
#include <string_view>

namespace weft {

/// 32 hexadecimal digits.
std::string md5(std::string_view bytes);

}  // namespace weft
