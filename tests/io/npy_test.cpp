#include "weft/io/npy.h"

#include <gmock/gmock.h>

#include <cstring>

#include "io/scratch.h"

namespace weft::io {
namespace {

using testing::HasSubstr;

template <class T>
std::vector<T> values(const Array& array) {
    EXPECT_TRUE(array.contiguous());
    return {array.data<T>(), array.data<T>() + array.size()};
}

TEST(Npy, reads_what_numpy_wrote) {
    EXPECT_EQ(values<float>(load_npy(kept("float32.npy"))), (std::vector<float>{0, 0.25, 0.5, 0.75, 1, 1.25}));
    Array fortran = load_npy(kept("fortran_big.npy"));
    EXPECT_EQ(fortran.dims, (Dims{2, 3}));
    EXPECT_EQ(values<std::int32_t>(fortran), (std::vector<std::int32_t>{-3, -2, -1, 0, 1, 2}));
    using C = std::complex<double>;
    EXPECT_EQ(values<C>(load_npy(kept("complex128.npy"))),
              (std::vector<C>{{0, 3}, {1, 4}, {2, 5}, {3, 0}, {4, 1}, {5, 2}}));
    EXPECT_EQ(values<std::complex<float>>(load_npy(kept("complex64_big.npy")))[1], std::complex<float>(1, 4));
    Array truth = load_npy(kept("bool.npy"));
    EXPECT_TRUE(truth.data<bool>()[0] && !truth.data<bool>()[1]);
    EXPECT_EQ(load_npy(kept("float16.npy")).data<Float16>()[1].bits, 0x3555);
    EXPECT_EQ(values<std::uint64_t>(load_npy(kept("uint64.npy"))), (std::vector<std::uint64_t>{UINT64_MAX, 7}));
    EXPECT_EQ(load_npy(kept("scalar.npy")).dims, Dims{});
    EXPECT_EQ(*load_npy(kept("scalar.npy")).data<double>(), 2.5);
    EXPECT_EQ(load_npy(kept("empty.npy")).dims, (Dims{3, 0, 2}));
    EXPECT_EQ(values<std::int16_t>(load_npy(kept("version2.npy")))[5], 5);
}

TEST(Npy, writes_numpys_own_bytes) {
    Scratch scratch;
    for (const char* name :
         {"float32.npy", "complex128.npy", "bool.npy", "float16.npy", "uint64.npy", "scalar.npy", "empty.npy"}) {
        save_npy(scratch / name, load_npy(kept(name)));
        EXPECT_EQ(bytes_of_file(scratch / name), bytes_of_file(kept(name))) << name;
    }
}

TEST(Npy, writes_arrays_of_any_strides) {
    Scratch scratch;
    Array array = load_npy(kept("float32.npy"));
    std::swap(array.dims[0], array.dims[1]);
    std::swap(array.strides[0], array.strides[1]);
    save_npy(scratch / "t.npy", array);
    EXPECT_EQ(values<float>(load_npy(scratch / "t.npy")), (std::vector<float>{0, 0.75, 0.25, 1, 0.5, 1.25}));
    EXPECT_THROW(save_npy(scratch / "t.npy", Array::zeros(bfloat16, {1})), DTypeError);
}

TEST(Npy, refuses_objects_records_and_strings) {
    EXPECT_THAT(error_of([] { (void)load_npy(kept("objects.npy")); }),
                HasSubstr("it holds Python objects, a pickle, and loading one runs code"));
    EXPECT_THAT(error_of([] { (void)load_npy(kept("records.npy")); }), HasSubstr("it holds records"));
    EXPECT_THAT(error_of([] { (void)load_npy(kept("strings.npy")); }), HasSubstr("its elements are of type '<U2'"));
}

std::string with_header(const std::string& dictionary) {
    std::string bytes("\x93NUMPY\1\0", 8);
    bytes.push_back(static_cast<char>(dictionary.size()));
    bytes.push_back('\0');
    return bytes + dictionary;
}

TEST(Npy, refuses_headers_that_claim_what_is_not_there) {
    auto refusal = [](const std::string& header) {
        return error_of([&] { (void)parse_npy(with_header(header), "f"); });
    };
    EXPECT_THAT(refusal("{'descr': '<f4', 'fortran_order': False, 'shape': (1000000000000,), }"),
                HasSubstr("'f' is cut short"));
    EXPECT_THAT(
        refusal("{'descr': '<f8', 'fortran_order': True, 'shape': (4611686018427387904, 4611686018427387904), }"),
        HasSubstr("is cut short"));
    EXPECT_THAT(
        refusal("{'descr': '<f8', 'fortran_order': True, 'shape': (0, 4611686018427387904, 4611686018427387904)}"),
        HasSubstr("is cut short"));
    EXPECT_THAT(refusal("{'descr': '<f4', 'shape': (1,), }"), HasSubstr("the key 'fortran_order' is missing"));
    EXPECT_THAT(refusal("{'descr': '<f4', 'fortran_order': False, 'shape': (-1,), }"),
                HasSubstr("something else than sizes"));
    EXPECT_THAT(refusal("{'descr': '<f4', 'descr': '<f4'}"), HasSubstr("stands there twice"));
}

TEST(Npy, truth_values_are_made_whole) {
    Array array = parse_npy(
        with_header("{'descr': '|b1', 'fortran_order': False, 'shape': (2,), }") + std::string("\x07\0", 2), "f");
    EXPECT_EQ(static_cast<const unsigned char*>(array.address())[0], 1);
}

TEST(Npy, survives_damage) {
    for (const char* name :
         {"float32.npy", "fortran_big.npy", "bool.npy", "version2.npy", "objects.npy", "empty.npy"}) {
        survives_damage(
            bytes_of_file(kept(name)), [](const auto& path) { (void)load_npy(path); }, 500);
    }
}

}  // namespace
}  // namespace weft::io
