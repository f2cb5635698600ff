// The tests' main: machine code is made for every loop from its first run on, so that what a test runs once is what users run often.
// WEFT_EMITTER in the environment says otherwise.
#include <gtest/gtest.h>

#include <cstdlib>

int main(int count, char** arguments) {
    testing::InitGoogleTest(&count, arguments);
    setenv("WEFT_EMITTER", "always", 0);
    return RUN_ALL_TESTS();
}
