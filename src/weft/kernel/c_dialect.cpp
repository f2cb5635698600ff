#include "weft/kernel/c_dialect.h"

#include <array>
#include <cctype>
#include <charconv>
#include <cmath>

#include "weft/base/error.h"
#include "weft/kernel/builder.h"

namespace weft {
namespace {

constexpr DialectWords c_words{
    .opening = "#include <math.h>\n#include <stdint.h>\n\n",
    .kernel = "",
    .function = "static inline ",
    .global = "",
    .local = "",
    .suffix = "f",
    .group = "",
    .groups = "",
    .lane = "",
    .thread = "",
    .threads = "",
    .barrier = "",
    .aligned = "__builtin_assume_aligned",
    .offsets = false,
};
constexpr DialectWords opencl_words{
    .opening = "#pragma OPENCL EXTENSION cl_khr_fp64 : enable\n#pragma OPENCL FP_CONTRACT OFF\n\n",
    .kernel = "__kernel ",
    .function = "static inline ",
    .global = "__global ",
    .local = "__local ",
    .suffix = "",
    .group = "($I)get_group_id(0)",
    .groups = "($I)get_num_groups(0)",
    .lane = "(int)get_local_id(0)",
    .thread = "($I)get_global_id(0)",
    .threads = "($I)get_global_size(0)",
    .barrier = "barrier(CLK_LOCAL_MEM_FENCE);",
    .aligned = "",
    .offsets = true,
};
constexpr DialectWords cuda_words{
    .opening = "",
    .kernel = "extern \"C\" __global__ ",
    .function = "static __device__ inline ",
    .global = "",
    .local = "__shared__ ",
    .suffix = "f",
    .group = "($I)blockIdx.x",
    .groups = "($I)gridDim.x",
    .lane = "(int)threadIdx.x",
    .thread = "($I)blockIdx.x * blockDim.x + threadIdx.x",
    .threads = "($I)gridDim.x * blockDim.x",
    .barrier = "__syncthreads();",
    .aligned = "__builtin_assume_aligned",
    .offsets = false,
};

/// A type's name in a text, and what stands for it in C, OpenCL C and CUDA C: empty where the dialect knows the name.
struct TypeWords {
    std::string_view name, c, opencl, cuda;
};

TypeWords type_words(DType dtype) {
    constexpr std::string_view floats = "struct { float re, im; }", doubles = "struct { double re, im; }";
    switch (dtype) {
        case DType::bool_:
            return {"bool8", "unsigned char", "uchar", "unsigned char"};
        case DType::int8:
            return {"int8_t", "", "char", "signed char"};
        case DType::int16:
            return {"int16_t", "", "short", "short"};
        case DType::int32:
            return {"int32_t", "", "int", "int"};
        case DType::int64:
            return {"int64_t", "", "long", "long long"};
        case DType::uint8:
            return {"uint8_t", "", "uchar", "unsigned char"};
        case DType::uint16:
            return {"uint16_t", "", "ushort", "unsigned short"};
        case DType::uint32:
            return {"uint32_t", "", "uint", "unsigned int"};
        case DType::uint64:
            return {"uint64_t", "", "ulong", "unsigned long long"};
        case DType::float16:
            return {"float16_bits", "uint16_t", "ushort", "unsigned short"};
        case DType::bfloat16:
            return {"bfloat16_bits", "uint16_t", "ushort", "unsigned short"};
        case DType::float32:
            return {"float", "", "", ""};
        case DType::float64:
            return {"double", "", "", ""};
        case DType::complex64:
            return {"complex64", floats, floats, floats};
        case DType::complex128:
            return {"complex128", doubles, doubles, doubles};
    }
    __builtin_unreachable();
}

bool in_word(char c) { return std::isalnum(static_cast<unsigned char>(c)) || c == '_'; }

bool mentions(std::string_view text, std::string_view word) {
    for (std::size_t at = text.find(word); at != text.npos; at = text.find(word, at + 1)) {
        bool starts = at == 0 || !in_word(text[at - 1]);
        std::size_t end = at + word.size();
        if (starts && (end == text.size() || !in_word(text[end]))) return true;
    }
    return false;
}

/// The shortest decimal that reads back as the same number; a negative one in parentheses, so that it may follow any operator.
template <class T>
std::string float_text(T value, std::string_view suffix) {
    if (std::isnan(value)) return text("(0.0", suffix, " / 0.0", suffix, ")");
    if (std::isinf(value)) return text(value < 0 ? "(-1.0" : "(1.0", suffix, " / 0.0", suffix, ")");
    std::array<char, 40> buffer;
    char* end = std::to_chars(buffer.data(), buffer.data() + buffer.size(), value).ptr;
    std::string digits(buffer.data(), end);
    if (digits.find_first_of(".e") == digits.npos) digits += ".0";
    digits += suffix;
    return std::signbit(value) ? "(" + digits + ")" : digits;
}

template <class T>
std::string integer_text(T value) {
    if constexpr (std::is_same_v<T, std::uint64_t>)
        return text("(uint64_t)", value, "u");  // no suffix has one width everywhere
    if constexpr (std::is_unsigned_v<T>) return text(static_cast<std::uint32_t>(value), sizeof(T) == 4 ? "u" : "");
    if (static_cast<std::int64_t>(value) == std::numeric_limits<std::int64_t>::min())
        return "(-9223372036854775807 - 1)";  // the digits alone are one too large for the type
    std::string digits = text(static_cast<std::int64_t>(value));
    return value < 0 ? "(" + digits + ")" : digits;
}

std::string text_of(float value) { return float_text(value, "f"); }
std::string text_of(double value) { return float_text(value, ""); }

}  // namespace

const DialectWords& words_of(Dialect dialect) {
    switch (dialect) {
        case Dialect::c:
            return c_words;
        case Dialect::opencl:
            return opencl_words;
        case Dialect::cuda:
            return cuda_words;
    }
    __builtin_unreachable();
}

std::string_view c_type(DType dtype) { return type_words(dtype).name; }

std::string_view c_wrapping_type(DType dtype) {
    switch (size_of(dtype)) {
        case 1:
            return "uint8_t";
        case 2:
            return "uint16_t";
        case 4:
            return "uint32_t";
        default:
            return "uint64_t";
    }
}

std::string typedefs_for(std::string_view mentioned, Dialect dialect) {
    std::string all;
    for (DType dtype : all_dtypes()) {
        TypeWords words = type_words(dtype);
        std::string_view own = dialect == Dialect::c ? words.c : dialect == Dialect::opencl ? words.opencl : words.cuda;
        if (!own.empty() && mentions(mentioned, words.name)) all += text("typedef ", own, " ", words.name, ";\n");
    }
    return all;
}

std::string c_literal(DType dtype, const Literal& literal) {
    Literal held = literal_as(dtype, literal);
    return with_dtype(dtype, [&](auto tag) -> std::string {
        using T = typename decltype(tag)::Type;
        T value = held.as<T>();
        if constexpr (std::is_same_v<T, bool>)
            return value ? "1" : "0";
        else if constexpr (std::is_integral_v<T>)
            return integer_text(value);
        else if constexpr (std::is_floating_point_v<T>)
            return text_of(value);
        else if constexpr (std::is_same_v<T, Float16> || std::is_same_v<T, BFloat16>)
            return text(value.bits, " /* ", static_cast<float>(value), " */");
        else
            return text(c_type(dtype), "_of(", text_of(value.real()), ", ", text_of(value.imag()), ")");
    });
}

std::string filled(std::string_view pattern, std::initializer_list<std::pair<char, std::string_view>> texts) {
    std::string result;
    for (std::size_t i = 0; i < pattern.size(); ++i) {
        if (pattern[i] != '$') {
            result += pattern[i];
            continue;
        }
        char wanted = pattern[++i];
        for (const auto& [letter, by] : texts) {
            if (letter == wanted) result += by;
        }
    }
    return result;
}

}  // namespace weft
