// EXPECT_REFUSED(ShapeError, call, "message"): the call throws exactly this type with exactly this message, to which only the user's
// place ("\n  at file:line") may be added.
#pragma once

#include <gtest/gtest.h>

#include <string>

#include "weft/base/error.h"

#define EXPECT_REFUSED(Type, call, message)                                    \
    try {                                                                      \
        (void)(call);                                                          \
        ADD_FAILURE() << "nothing was thrown";                                 \
    } catch (const Type& error) {                                              \
        std::string full = error.what();                                       \
        EXPECT_EQ(full.substr(0, full.find("\n  at ")), std::string(message)); \
    }
