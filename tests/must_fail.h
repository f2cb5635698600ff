// EXPECT_MESSAGE(ValueError, "what is wrong", call): the call throws exactly this, with the user's line after it.
// EXPECT_PLAIN_MESSAGE: the same without a line (there is no operand that could carry it).
#pragma once

#include <gtest/gtest.h>

#include "weft/base/error.h"

#define EXPECT_MESSAGE_OF(Kind, message, ...)                                 \
    do {                                                                      \
        try {                                                                 \
            (void)(__VA_ARGS__);                                              \
            ADD_FAILURE() << "nothing was thrown by " #__VA_ARGS__;           \
        } catch (const ::weft::Kind& error) {                                 \
            EXPECT_EQ(std::string(error.what()), std::string(message));       \
        } catch (const std::exception& error) {                               \
            ADD_FAILURE() << "another kind than " #Kind ": " << error.what(); \
        }                                                                     \
    } while (false)
#define EXPECT_MESSAGE(Kind, message, ...) \
    EXPECT_MESSAGE_OF(Kind, ::weft::text(message, "\n  at ", __FILE__, ":", __LINE__), __VA_ARGS__)
#define EXPECT_PLAIN_MESSAGE(Kind, message, ...) EXPECT_MESSAGE_OF(Kind, message, __VA_ARGS__)
