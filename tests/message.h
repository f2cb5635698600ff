// The message of the error that a call throws, for tests that fix messages to the letter.
#pragma once

#include <string>

namespace weft {

template <class E, class F>
std::string message(F f) {
    try {
        f();
    } catch (const E& error) {
        return error.what();
    }
    return "no error";
}

/// Without the lines that say where ("\n  in ...", "\n  at ...").
template <class E, class F>
std::string first_line(F f) {
    std::string all = message<E>(f);
    return all.substr(0, all.find('\n'));
}

}  // namespace weft
