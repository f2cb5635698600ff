// Read once instead of in every source, in sanitized builds (which no compiler cache speeds up on a fresh machine). The other builds do
// without, so a source that forgets an include is found out.
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
