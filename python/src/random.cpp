// Random numbers: names and defaults are weft/random.py's.
#include "object.h"

namespace weft::python {

void bind_random(nb::module_& m) {
    auto key_of = [](nb::handle key) { return key.is_none() ? Tensor() : tensor(key, "random"); };
    m.def("random_key", [](std::uint64_t seed) { return object_of(random::key(seed)); });
    m.def("random_seed", [](std::uint64_t seed) { random::seed(seed); });
    m.def("random_split", [](Given key, std::int64_t n) { return object_of(random::split(tensor(key, "split"), n)); });
    m.def("random_bits",
          [key_of](Given sizes, Given key) { return object_of(random::bits(shape(sizes, "bits"), key_of(key))); });
    m.def("random_uniform", [key_of](Given sizes, double low, double high, Given key, Given type) {
        return object_of(
            random::uniform(shape(sizes, "uniform"), low, high, key_of(key), dtype(type).value_or(DType::float32)));
    });
    m.def("random_normal", [key_of](Given sizes, double mean, double deviation, Given key, Given type) {
        return object_of(
            random::normal(shape(sizes, "normal"), mean, deviation, key_of(key), dtype(type).value_or(DType::float32)));
    });
    m.def("random_truncated_normal", [key_of](Given sizes, double low, double high, Given key, Given type) {
        return object_of(random::truncated_normal(shape(sizes, "truncated_normal"), low, high, key_of(key),
                                                  dtype(type).value_or(DType::float32)));
    });
    m.def("random_bernoulli", [key_of](Given p, Given sizes, Given key) {
        return object_of(random::bernoulli(operand(p, "bernoulli"), shape(sizes, "bernoulli"), key_of(key)));
    });
    m.def("random_randint", [key_of](std::int64_t low, std::int64_t high, Given sizes, Given key, Given type) {
        return object_of(
            random::randint(low, high, shape(sizes, "randint"), key_of(key), dtype(type).value_or(DType::int64)));
    });
    auto placed_at = [&m, key_of](const char* name, auto draw) {
        m.def(name, [key_of, draw](Given sizes, double location, double scale, Given key, Given type) {
            return object_of(
                draw(shape(sizes, "random"), location, scale, key_of(key), dtype(type).value_or(DType::float32)));
        });
    };
    placed_at("random_laplace", &random::laplace);
    placed_at("random_logistic", &random::logistic);
    placed_at("random_cauchy", &random::cauchy);
    auto asked = [](Given sizes) { return sizes.is_none() ? std::optional<Shape>() : shape(sizes, "random"); };
    m.def("random_gamma", [key_of, asked](Given a, Given sizes, Given key, Given type) {
        return object_of(
            random::gamma(placed(a, "gamma"), asked(sizes), key_of(key), dtype(type).value_or(DType::float32)));
    });
    m.def("random_beta", [key_of, asked](Given a, Given b, Given sizes, Given key, Given type) {
        return object_of(random::beta(placed(a, "beta"), placed(b, "beta"), asked(sizes), key_of(key),
                                      dtype(type).value_or(DType::float32)));
    });
    m.def("random_geometric", [key_of, asked](Given p, Given sizes, Given key, Given type) {
        return object_of(
            random::geometric(placed(p, "geometric"), asked(sizes), key_of(key), dtype(type).value_or(DType::int64)));
    });
    m.def("random_choice", [key_of](Given a, Given sizes, bool replace, Given p, Given key, Given axis) {
        random::ChoiceOptions options{replace, p.is_none() ? Tensor() : tensor(p, "choice")};
        Shape whole = shape(sizes, "choice");
        if (literal_of(a.ptr()) && PyIndex_Check(a.ptr()))
            return object_of(random::choice(integer(a, "choice", "a"), whole, std::move(options), key_of(key)));
        return object_of(random::choice(tensor(a, "choice"), whole, std::move(options), key_of(key),
                                        integer(axis, "choice", "axis")));
    });
    m.def("random_exponential", [key_of](Given sizes, double rate, Given key, Given type) {
        return object_of(
            random::exponential(shape(sizes, "exponential"), rate, key_of(key), dtype(type).value_or(DType::float32)));
    });
    m.def("random_gumbel", [key_of](Given sizes, Given key, Given type) {
        return object_of(random::gumbel(shape(sizes, "gumbel"), key_of(key), dtype(type).value_or(DType::float32)));
    });
    m.def("random_permutation", [key_of](Given x, Given key, std::int64_t axis) {
        if (PyLong_Check(x.ptr()))
            return object_of(random::permutation(Size(integer(x, "permutation", "the count")), key_of(key)));
        return object_of(random::permutation(tensor(x, "permutation"), key_of(key), axis));
    });
    m.def("random_categorical", [key_of](Given logits, Given key, std::int64_t axis) {
        return object_of(random::categorical(Operand(tensor(logits, "categorical")), key_of(key), axis));
    });
}

}  // namespace weft::python
