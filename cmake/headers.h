// Read once instead of in every source where no compiler cache speeds up a build (WEFT_SHARE_HEADERS). Builds with a cache do without, so
// a source that forgets an include is found out.
#pragma once

#include <algorithm>
#include <atomic>
#include <complex>
#include <functional>
#include <iostream>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <set>
#include <span>
#include <sstream>
#include <string>
#include <unordered_map>
#include <vector>
