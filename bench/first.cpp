// What it takes to a first result: the first call of a training step never seen before (graph, gradient, rewriting, plan, machine code,
// library primitives and the step itself), the second call, and the first call with another batch size, which compiles nothing. Each
// measured in a process of its own, so that nothing is warm; the fastest and the median of `rounds`, and what of the processors' time
// the first call takes beyond the second (median).
//     weft_first [ROUNDS [NAME]]
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <ctime>
#include <iostream>
#include <string_view>

#include "networks.h"
#include "weft/backend/cpu/emit/kernel_cache.h"

namespace {

using namespace weft;
using bench::ConvNet;
using Clock = std::chrono::steady_clock;

double since(Clock::time_point start) {
    return std::chrono::duration<double, std::milli>(Clock::now() - start).count();
}

double processor_time() { return 1e3 * static_cast<double>(std::clock()) / CLOCKS_PER_SEC; }

struct First {
    double first, second, other, compiled, compiled_by_other;
    double extra;  // time of processors that the first call takes beyond the second's: what neighbours disturb least
};

template <class Model>
First measure(Model model, std::function<Tensor(const Model&, Tensor, Tensor)> loss, Tensor x, Tensor y, Tensor x_other,
              Tensor y_other) {
    optim::Adam adam{{.lr = 1e-3}};
    for (const Tensor& tensor : {x, y, x_other, y_other}) tensor.eval();
    for (const Parameter& parameter : nn::parameters(model)) parameter.value().eval();
    First result{};
    std::size_t before = cpu::emit::compiled_count();
    double processors = processor_time();
    auto start = Clock::now();
    auto step =
        train_step(model, adam, [&](const Model& net, const Tensor& a, const Tensor& b) { return loss(net, a, b); });
    step(x, y).eval();
    result.first = since(start), result.extra = processor_time() - processors;
    processors = processor_time(), start = Clock::now();
    result.compiled = static_cast<double>(cpu::emit::compiled_count() - before);
    step(x, y).eval();
    result.second = since(start), result.extra -= processor_time() - processors;
    start = Clock::now();
    before = cpu::emit::compiled_count();
    step(x_other, y_other).eval();
    result.other = since(start);
    result.compiled_by_other = static_cast<double>(cpu::emit::compiled_count() - before);
    return result;
}

Tensor classes(std::int64_t count, std::int64_t below) {
    return random::randint(0, below, {count}, random::key(3), DType::int64);
}

struct Mlp {
    nn::Linear first{784, 1024}, second{1024, 1024}, third{1024, 10};
    Tensor operator()(const Tensor& x) const { return third(relu(second(relu(first(x))))); }
    template <class V>
    void members(V& visit) {
        visit("first", first), visit("second", second), visit("third", third);
    }
};

// A block of a transformer (Vaswani et al., 2017), normalised before (Xiong et al., 2020), causal.
struct Block {
    static constexpr std::int64_t width = 64, heads = 4;
    nn::LayerNorm before_attention{width}, before_dense{width};
    nn::Linear mix{width, 3 * width}, out{width, width}, up{width, 4 * width}, down{4 * width, width};
    Tensor operator()(const Tensor& x) const {
        Size batch = x.shape()[0], length = x.shape()[1];
        Tensor parts = reshape(mix(before_attention(x)), {batch, length, 3, heads, width / heads});
        parts = permute_dims(parts, {2, 0, 3, 1, 4});  // (3, batch, heads, length, width of a head)
        Tensor scores = matmul(parts[0], matrix_transpose(parts[1])) / 4.0;
        Tensor seen = expand_dims(iota(length), 1) >= expand_dims(iota(length), 0);
        Tensor weights = softmax(where(seen, scores, -1e9));
        Tensor heard = reshape(permute_dims(matmul(weights, parts[2]), {0, 2, 1, 3}), {batch, length, width});
        Tensor h = x + out(heard);
        return h + down(gelu(up(before_dense(h))));
    }
    template <class V>
    void members(V& visit) {
        visit("before_attention", before_attention), visit("before_dense", before_dense), visit("mix", mix);
        visit("out", out), visit("up", up), visit("down", down);
    }
};

struct Transformer {
    nn::Embedding words{65, Block::width}, places{32, Block::width};
    std::vector<Block> blocks = std::vector<Block>(2);
    nn::LayerNorm last{Block::width};
    nn::Linear out{Block::width, 65};
    Tensor operator()(const Tensor& text) const {
        Tensor h = words(text) + places(iota(text.shape()[1]));
        for (const Block& block : blocks) h = block(h);
        return reshape(out(last(h)), {-1, 65});
    }
    template <class V>
    void members(V& visit) {
        visit("words", words), visit("places", places), visit("blocks", blocks), visit("last", last), visit("out", out);
    }
};

template <class Model>
Tensor loss_of(const Model& net, Tensor x, Tensor y) {
    return nn::cross_entropy(net(x), y);
}

First mlp() {
    return measure<Mlp>({}, loss_of<Mlp>, random::normal({128, 784}), classes(128, 10), random::normal({100, 784}),
                        classes(100, 10));
}
First convnet() {
    return measure<ConvNet>({}, loss_of<ConvNet>, random::normal({64, 1, 28, 28}), classes(64, 10),
                            random::normal({50, 1, 28, 28}), classes(50, 10));
}
First transformer() {
    Tensor text = random::randint(0, 65, {16, 32}, random::key(1)),
           other = random::randint(0, 65, {12, 32}, random::key(2));
    return measure<Transformer>({}, loss_of<Transformer>, text, classes(16 * 32, 65), other, classes(12 * 32, 65));
}

First in_own_process(First (*work)()) {
    int ends[2];
    First result{};
    if (pipe(ends)) std::abort();
    if (fork() == 0) {
        result = work();
        _exit(write(ends[1], &result, sizeof result) != sizeof result);
    }
    bool whole = read(ends[0], &result, sizeof result) == sizeof result;
    wait(nullptr), close(ends[0]), close(ends[1]);
    if (!whole) std::cerr << "weft_first: a process ended before its result\n", std::exit(1);
    return result;
}

}  // namespace

int main(int argc, char** argv) {
    int rounds = argc > 1 ? std::max(1, std::atoi(argv[1])) : 9;
    std::printf("%-12s %10s %10s %10s %10s %10s %10s\n", "ms", "first", "median", "second", "extra cpu", "kernels",
                "batch");
    using Work = std::pair<const char*, First (*)()>;
    for (auto [name, work] : {Work{"mlp", mlp}, Work{"convnet", convnet}, Work{"transformer", transformer}}) {
        if (argc > 2 && std::string_view(argv[2]) != name) continue;
        std::vector<First> all;
        for (int i = 0; i < rounds; ++i) all.push_back(in_own_process(work));
        std::sort(all.begin(), all.end(), [](const First& a, const First& b) { return a.first < b.first; });
        const First &best = all[0], &middle = all[all.size() / 2];
        std::vector<double> extra;
        for (const First& one : all) extra.push_back(one.extra);
        std::nth_element(extra.begin(), extra.begin() + static_cast<std::ptrdiff_t>(extra.size() / 2), extra.end());
        std::printf("%-12s %10.2f %10.2f %10.2f %10.2f %10.0f %10.2f", name, best.first, middle.first, middle.second,
                    extra[extra.size() / 2], middle.compiled, middle.other);
        std::printf(middle.compiled_by_other > 0 ? "  (%.0f kernels compiled for another batch)\n" : "\n",
                    middle.compiled_by_other);
        std::fflush(stdout);
    }
}
