// What differs between the dialects of C that kernels are printed in: a table of words, the names of types, how numbers are written.
// Always: below its first lines a text's types have the same names in every dialect: C99's (int64_t, float, ...), and bool8, float16_bits,
// bfloat16_bits, complex64, complex128. (NumPy's names would be vectors in OpenCL C, where int8 is eight ints.)
// Callers: kernel/print_c.cpp, kernel/c_writer.cpp, kernel/c_expressions.cpp.
#pragma once

#include <string>
#include <string_view>

#include "weft/core/dtype.h"
#include "weft/core/literal.h"
#include "weft/kernel/print_c.h"

namespace weft {

struct DialectWords {
    std::string_view opening;   // the first lines of a text
    std::string_view kernel;    // before a kernel's result type
    std::string_view function;  // before a helper's result type
    std::string_view global;    // before a pointer into the device's memory
    std::string_view local;     // before memory that a group shares
    std::string_view suffix;    // of the mathematical functions of float: sqrtf, or sqrt for all types
    std::string_view group, groups, lane, thread, threads;  // expressions of the type $I: which, of how many
    std::string_view barrier;                               // a statement: all threads of the group meet
    std::string_view
        aligned;  // a function (address, bytes): the address, which the compiler may take to be a multiple; or none
    bool
        offsets;  // an array is a buffer's address and the number of its first element: pointers cannot be made elsewhere
};

const DialectWords& words_of(Dialect dialect);

/// The type's name in a text.
std::string_view c_type(DType dtype);
/// The unsigned type in which a type's arithmetic wraps: as wide, so that bits beyond the type fall away when it is cast back.
std::string_view c_wrapping_type(DType dtype);
/// The typedefs of those types that `text` mentions.
std::string typedefs_for(std::string_view text, Dialect dialect);
/// The number as the type holds it: 0.5f, 7u, (uint64_t)7u, (-1), complex64_of(1.0f, 2.0f).
std::string c_literal(DType dtype, const Literal& literal);

/// `pattern` with each $X of the pairs {X, text} filled in.
std::string filled(std::string_view pattern, std::initializer_list<std::pair<char, std::string_view>> texts);

}  // namespace weft
