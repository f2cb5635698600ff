// A program outside weft's tree, as a user would begin one: it trains a network, and catches an error of the library by its type.
// install_test.py builds it in each of the ways in which weft can be had.
#include <weft/weft.h>

#include <iostream>

struct Xor {
    weft::nn::Linear hidden{2, 16}, output{16, 2};
    weft::Tensor operator()(const weft::Tensor& x) const { return output(weft::tanh(hidden(x))); }
    template <class Visitor>
    void members(Visitor& visit) {
        visit("hidden", hidden), visit("output", output);
    }
};

int main() {
    auto x = weft::Tensor::of<float>({0, 0, 0, 1, 1, 0, 1, 1}, {4, 2});
    auto labels = weft::Tensor::of<std::int64_t>({0, 1, 1, 0});
    Xor model;
    weft::optim::Adam adam{{.lr = 0.05f}};
    auto step = weft::train_step(model, adam, [](const Xor& net, const weft::Tensor& in, const weft::Tensor& out) {
        return weft::nn::cross_entropy(net(in), out);
    });
    float first = step(x, labels).item<float>(), last = first;
    for (int i = 0; i < 200; ++i) last = step(x, labels).item<float>();
    std::cout << "loss " << first << " -> " << last << '\n';
    try {
        weft::matmul(x, x).item<float>();
        return 1;
    } catch (const weft::ShapeError& error) {
        std::cout << error.what() << '\n';
    }
    return last < 0.05f ? 0 : 1;
}
