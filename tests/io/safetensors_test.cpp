#include "weft/io/safetensors.h"

#include <gmock/gmock.h>

#include <cstring>

#include "io/scratch.h"

namespace weft::io {
namespace {

using testing::HasSubstr;

std::string file_of(const std::string& header, std::size_t data) {
    std::string bytes;
    for (int i = 0; i < 8; ++i) bytes.push_back(static_cast<char>(header.size() >> (8 * i)));
    return bytes + header + std::string(data, '\1');
}

TEST(Safetensors, reads_what_the_reference_wrote) {
    for (bool map : {false, true}) {
        NamedArrays contents = load_safetensors(kept("reference.safetensors"), {.map = map});
        ASSERT_EQ(contents.arrays.size(), 5u);
        EXPECT_EQ(contents.metadata.at("format"), "np");
        EXPECT_EQ(contents.arrays.at("b").data<float>()[5], 1.25f);
        EXPECT_TRUE(*contents.arrays.at("a").data<bool>());
        EXPECT_EQ(contents.arrays.at("c").data<std::int64_t>()[4], 4);
        EXPECT_EQ(contents.arrays.at("d").dims, (Dims{0, 2}));
        EXPECT_EQ(contents.arrays.at("h").data<Float16>()[1].bits, 0x3555);
    }
}

NamedArrays of_every_type() {
    NamedArrays contents;
    contents.metadata["note"] = "a \"quoted\" \xc3\xa4";
    for (DType dtype : all_dtypes()) {
        if (dtype == complex128) continue;
        Array array = Array::zeros(dtype, {3, 1});
        static_cast<unsigned char*>(array.address())[0] = 1;
        contents.arrays.emplace(text("layer.", dtype), array);
    }
    contents.arrays.emplace("scalar", Array::scalar(2.5f));
    return contents;
}

TEST(Safetensors, every_type_comes_back_and_bytes_are_reproducible) {
    Scratch scratch;
    NamedArrays contents = of_every_type();
    save_safetensors(scratch / "a", contents);
    for (bool map : {false, true}) {
        NamedArrays back = load_safetensors(scratch / "a", {.map = map});
        EXPECT_EQ(back.metadata, contents.metadata);
        ASSERT_EQ(back.arrays.size(), contents.arrays.size());
        for (const auto& [name, array] : contents.arrays) {
            const Array& other = back.arrays.at(name);
            EXPECT_EQ(other.dtype, array.dtype) << name;
            EXPECT_EQ(other.dims, array.dims) << name;
            EXPECT_EQ(std::memcmp(other.address(), array.address(), array.bytes()), 0) << name;
        }
        save_safetensors(scratch / "b", back);
        EXPECT_EQ(bytes_of_file(scratch / "a"), bytes_of_file(scratch / "b"));
    }
}

TEST(Safetensors, names_an_array_that_the_format_cannot_hold) {
    Scratch scratch;
    NamedArrays contents;
    contents.arrays.emplace("w", Array::zeros(complex128, {1}));
    EXPECT_THAT(error_of<DTypeError>([&] { save_safetensors(scratch / "a", contents); }),
                HasSubstr("array 'w' is complex128"));
    EXPECT_EQ(scratch.files(), 0u);
}

TEST(Safetensors, refuses_what_is_not_sound) {
    Scratch scratch;
    auto refusal = [&](const std::string& bytes) {
        put_file(scratch / "f", bytes);
        return error_of([&] { (void)load_safetensors(scratch / "f"); });
    };
    auto entry = [](const char* name, int begin, int end, const char* dtype = "U8", const char* shape = "4") {
        return text("\"", name, "\": {\"dtype\": \"", dtype, "\", \"shape\": [", shape, "], \"data_offsets\": [", begin,
                    ", ", end, "]}");
    };
    EXPECT_EQ(refusal(file_of("{" + entry("a", 0, 4) + "}", 4)), "no error");
    EXPECT_THAT(refusal("abc"), HasSubstr("it holds 3 bytes"));
    EXPECT_THAT(refusal(std::string(8, '\xff') + "{}"),
                HasSubstr("its header claims 18446744073709551615 bytes, the file holds 2"));
    EXPECT_THAT(refusal(file_of("{" + entry("a", 0, 4) + "}", 3)),
                HasSubstr("it is cut short: array 'a' ends at byte 4 of 3"));
    EXPECT_THAT(refusal(file_of("{" + entry("a", 0, 4) + "}", 5)), HasSubstr("1 bytes follow the last array"));
    EXPECT_THAT(refusal(file_of("{" + entry("a", 0, 4) + ", " + entry("b", 2, 6) + "}", 6)),
                HasSubstr("array 'b' begins at byte 2, inside the"));
    EXPECT_THAT(refusal(file_of("{" + entry("a", 0, 4) + ", " + entry("b", 5, 9) + "}", 9)),
                HasSubstr("array 'b' begins at byte 5, beyond"));
    EXPECT_THAT(refusal(file_of("{" + entry("a", 0, 4) + ", " + entry("a", 4, 8) + "}", 8)),
                HasSubstr("the key 'a' stands there twice"));
    EXPECT_THAT(refusal(file_of("{" + entry("a", 0, 3) + "}", 3)),
                HasSubstr("array 'a', uint8 of shape (4,), does not fill bytes 0 to 3"));
    EXPECT_THAT(refusal(file_of("{" + entry("a", 0, 4, "F8_E4M3") + "}", 4)), HasSubstr("elements of type 'F8_E4M3'"));
    EXPECT_THAT(refusal(file_of("{" + entry("a", 0, 4, "U8", "-4") + "}", 4)), HasSubstr("no natural number"));
    EXPECT_THAT(refusal(file_of("{" + entry("a", 0, 0, "F64", "0, 9223372036854775807, 9223372036854775807") + "}", 0)),
                HasSubstr("does not fill"));
    EXPECT_THAT(refusal(file_of("{\"__metadata__\": {\"a\": 1}}", 0)), HasSubstr("its metadata 'a' are no string"));
    EXPECT_THAT(refusal(file_of("[]", 0)), HasSubstr("its header is no JSON object"));
    put_file(scratch / "f", file_of("{" + entry("a", 0, 4) + "}", 4));
    EXPECT_THAT(error_of([&] { (void)load_safetensors(scratch / "f", {.header_limit = 10}); }),
                HasSubstr("more than the 10 that are"));
}

TEST(Safetensors, arrays_that_lie_askew_are_still_aligned_in_memory) {
    Scratch scratch;
    std::string header =
        R"({"a":{"dtype":"U8","shape":[1],"data_offsets":[0,1]},"b":{"dtype":"F32","shape":[2],"data_offsets":[1,9]}})";
    put_file(scratch / "f", file_of(header, 9));
    for (bool map : {false, true}) {
        Array b = load_safetensors(scratch / "f", {.map = map}).arrays.at("b");
        EXPECT_EQ(reinterpret_cast<std::uintptr_t>(b.address()) % 4, 0u);
        EXPECT_EQ(static_cast<const unsigned char*>(b.address())[7], 1);
    }
}

TEST(Safetensors, survives_damage) {
    Scratch scratch;
    save_safetensors(scratch / "a", of_every_type());
    for (bool map : {false, true}) {
        survives_damage(bytes_of_file(scratch / "a"),
                        [&](const auto& path) { (void)load_safetensors(path, {.map = map}); });
    }
}

}  // namespace
}  // namespace weft::io
