// A program outside weft's tree, as a user would begin one. install_test.py builds it in each of the ways in which weft can be had.
#if __has_include(<weft/weft.h>)
#include <weft/weft.h>
#endif
#include <weft/core/array.h>

#include <iostream>

int main() {
    auto array = weft::Array::from(std::vector<float>{1, 2, 3, 4, 5, 6}, {2, 3});
    try {
        array.data<double>();
        return 1;
    } catch (const weft::DTypeError& error) {  // thrown inside the library, caught here by its type
        std::cout << error.what() << '\n';
    }
    return array.size() == 6 && weft::contiguous(array).data<float>()[5] == 6.0f ? 0 : 1;
}
