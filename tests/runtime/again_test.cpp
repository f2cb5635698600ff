// Small expressions run again as they ran before: what tells such runs apart, and what they leave as it was.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <atomic>
#include <thread>

#include "weft/graph/node.h"
#include "weft/weft.h"

namespace weft {
namespace {

using testing::ElementsAre;

std::vector<float> values(const Tensor& x) { return x.to_vector<float>(); }

TEST(Again, an_operation_that_was_seen_reads_the_inputs_that_it_is_given) {
    for (int round = 0; round < 3; ++round) {
        Tensor x = Tensor::of<float>({1, 2, 3, 4}), y = Tensor::of<float>({5, 6, 7, 8});
        EXPECT_THAT(values(x + y), ElementsAre(6, 8, 10, 12));
        EXPECT_THAT(values(y - x), ElementsAre(4, 4, 4, 4));
        EXPECT_THAT(values(x - y), ElementsAre(-4, -4, -4, -4));
        EXPECT_THAT(values(x + x), ElementsAre(2, 4, 6, 8)) << "one input twice is not two inputs";
    }
}

TEST(Again, numbers_attributes_and_places_tell_operations_apart) {
    Tensor x = Tensor::of<float>({1, 2, 3, 4}, {2, 2});
    for (int round = 0; round < 3; ++round) {
        EXPECT_THAT(values(x * 2), ElementsAre(2, 4, 6, 8));
        EXPECT_THAT(values(x * 3), ElementsAre(3, 6, 9, 12));
        EXPECT_THAT(values(sum(x, 0)), ElementsAre(4, 6));
        EXPECT_THAT(values(sum(x, 1)), ElementsAre(3, 7));
        EXPECT_THAT(values(slice(x, {0, 0}, {1, 2})), ElementsAre(1, 2));
        EXPECT_THAT(values(slice(x, {1, 0}, {1, 2})), ElementsAre(3, 4));
        EXPECT_THAT(values(cumulative_sum(x, 1)), ElementsAre(1, 3, 3, 7));
        EXPECT_THAT(values(cumulative_sum(x, 1, {.reverse = true})), ElementsAre(3, 2, 7, 4));
    }
}

TEST(Again, layouts_types_and_shapes_tell_operations_apart) {
    Tensor x = Tensor::of<float>({1, 2, 3, 4}, {2, 2}), turned = x.T(), row = Tensor::of<float>({10, 20});
    turned.eval();
    for (int round = 0; round < 3; ++round) {
        EXPECT_THAT(values(x * x), ElementsAre(1, 4, 9, 16));
        EXPECT_THAT(values(x * turned), ElementsAre(1, 6, 6, 16));
        EXPECT_THAT(values(x + row), ElementsAre(11, 22, 13, 24));
        EXPECT_THAT((astype(x, DType::int32) * astype(x, DType::int32)).to_vector<std::int32_t>(),
                    ElementsAre(1, 4, 9, 16));
        EXPECT_THAT((x.astype(DType::float64) * 0.5).to_vector<double>(), ElementsAre(0.5, 1, 1.5, 2));
    }
}

TEST(Again, threads_may_compute_the_same_tensor) {
    Tensor x = Tensor::of<float>({1, 2, 3, 4});
    (x * 3).eval();
    for (int round = 0; round < 200; ++round) {
        Tensor shared = (x + 1).eval() * 3;  // one handle for all
        std::vector<std::thread> threads;
        std::atomic<int> wrong{0};
        for (int t = 0; t < 3; ++t)
            threads.emplace_back([&] { wrong += values(shared) != std::vector<float>{6, 9, 12, 15}; });
        for (std::thread& thread : threads) thread.join();
        EXPECT_EQ(wrong, 0);
    }
}

TEST(Again, an_index_outside_is_refused_again_and_changes_nothing) {
    Tensor x = Tensor::of<float>({1, 2, 3});
    for (std::int64_t i : {0, 5, 1, 7, 2}) {
        Tensor places = Tensor::of<std::int64_t>({i});
        Tensor picked = take(x, places);
        if (i < 3)
            EXPECT_THAT(values(picked), ElementsAre(static_cast<float>(i + 1)));
        else
            EXPECT_THROW(picked.eval(), IndexError);
    }
}

TEST(Again, an_error_names_the_line_of_what_failed_not_of_the_first_like_it) {
    Tensor x = Tensor::of<float>({1, 2, 3}), nine = Tensor::of<std::int64_t>({9});
    std::vector<Tensor> failing;
    std::vector<unsigned> lines;
    failing.push_back(take(x, nine)), lines.push_back(__LINE__);
    failing.push_back(take(x, nine)), lines.push_back(__LINE__);
    failing.push_back(exp(take(x, nine))), lines.push_back(__LINE__);
    failing.push_back(exp(take(x, nine))), lines.push_back(__LINE__);
    for (std::size_t i = 0; i < failing.size(); ++i) {
        try {
            failing[i].eval();
            ADD_FAILURE() << "the index is outside";
        } catch (const IndexError& error) {
            EXPECT_THAT(error.what(), testing::HasSubstr(text("again_test.cpp:", lines[i])));
        }
    }
}

TEST(Again, what_was_computed_remembers_the_leaves_that_it_came_from) {
    for (int round = 0; round < 2; ++round) {
        Tensor x = Tensor::of<float>({1, 2, 3}), y = x * x;
        y.eval();
        EXPECT_THROW((void)gradient(sum(y), x), ValueError) << "its derivative is gone: 0 would be wrong";
        EXPECT_THAT(values(gradient(sum(y * 2), y)), ElementsAre(2, 2, 2));
    }
}

TEST(Again, expressions_that_differ_in_what_is_the_same_are_told_apart) {
    for (float first : {1.0f, 2.0f, 3.0f}) {
        Tensor x = Tensor::of<float>({first, 10}), y = Tensor::of<float>({5, first});
        EXPECT_THAT(values((x + y) * x), ElementsAre((first + 5) * first, (10 + first) * 10));
        EXPECT_THAT(values((x + y) * y), ElementsAre((first + 5) * 5, (10 + first) * first));
        EXPECT_THAT(values((x + x) * (x + x)), ElementsAre(4 * first * first, 400));
        Tensor twice = x + y;
        EXPECT_THAT(values(twice * twice), ElementsAre((first + 5) * (first + 5), (10 + first) * (10 + first)));
        EXPECT_THAT(values((x + y) * (x - y)), ElementsAre(first * first - 25, 100 - first * first));
        EXPECT_THAT(values((x + y) * 2 - x), ElementsAre(first + 10, 10 + 2 * first));
        EXPECT_THAT(values((x + y) * 3 - x), ElementsAre(2 * first + 15, 20 + 3 * first));
        EXPECT_THAT(values(concatenate({x + 1, y})), ElementsAre(first + 1, 11, 5, first));
        EXPECT_THAT(values(concatenate({x + 1, y, y})), ElementsAre(first + 1, 11, 5, first, 5, first));
    }
}

TEST(Again, what_waits_inside_is_left_as_it_was) {
    for (int round = 0; round < 3; ++round) {
        Tensor x = Tensor::of<float>({1, 2, 3}), inside = x * x, outside = inside + x;
        EXPECT_THAT(values(outside), ElementsAre(2, 6, 12));
        EXPECT_FALSE(inside.computed());
        EXPECT_THAT(values(gradient(sum(inside), x)), ElementsAre(2, 4, 6));
        EXPECT_THROW((void)gradient(sum(outside), x), ValueError);
        EXPECT_THROW((void)gradient(sum(outside), inside), ValueError);
        EXPECT_THAT(values(inside), ElementsAre(1, 4, 9));
        EXPECT_TRUE(inside.node()->inputs.empty()) << "a computed value lets go of its inputs";
    }
}

TEST(Again, a_chain_of_any_length_gives_what_its_steps_give) {
    for (int length : {1, 10, 29, 30, 31, 32, 33, 100}) {
        for (int round = 0; round < 2; ++round) {
            Tensor x = Tensor::of<float>({1, 2}), y = Tensor::of<float>({0.5f, -1}), whole = x, step = x;
            for (int i = 0; i < length; ++i) {
                whole = whole * y + x;
                step = ((step * y).eval() + x).eval();
            }
            EXPECT_EQ(values(whole), values(step)) << length << " steps";
        }
    }
}

TEST(Again, threads_may_compute_expressions_with_a_part_in_common) {
    Tensor x = Tensor::of<float>({1, 2, 3, 4});
    for (int round = 0; round < 200; ++round) {
        Tensor common = x * static_cast<float>(round % 7), next = common + x;
        std::vector<std::thread> threads;
        std::atomic<int> wrong{0};
        for (int t = 0; t < 4; ++t)
            threads.emplace_back([&, t] {
                float by = static_cast<float>(round % 7);
                Tensor mine = t == 0 ? common : t == 1 ? next : next * common;
                std::vector<float> got = values(mine);
                for (std::size_t i = 0; i < got.size(); ++i) {
                    float v = static_cast<float>(i + 1);
                    wrong += got[i] != (t == 0 ? v * by : t == 1 ? v * by + v : (v * by + v) * (v * by));
                }
            });
        for (std::thread& thread : threads) thread.join();
        EXPECT_EQ(wrong, 0);
    }
}

TEST(Again, threads_may_build_upon_what_is_being_computed) {  // (a race that the thread sanitizer sees)
    for (int round = 0; round < 200; ++round) {
        Tensor x = Tensor::of<float>({1, 2, 3, 4}), common = x + 1;
        std::atomic<bool> start{false};
        std::thread computes([&] {
            while (!start) std::this_thread::yield();
            common.eval();
        });
        start = true;
        std::vector<Tensor> built;
        for (int i = 0; i < 100; ++i) built.push_back(common * 2.0f);
        computes.join();
        for (int i : {0, 99}) EXPECT_EQ(values(built[static_cast<std::size_t>(i)]), (std::vector<float>{4, 6, 8, 10}));
    }
}

/// Computes when its thread ends, after what was made later than itself has gone.
struct AtThreadsEnd {
    Tensor x;
    std::vector<float>* got;
    ~AtThreadsEnd() {
        for (int i = 0; i < 3; ++i) *got = values(sum(x * x, {}, true) + x[0]);
    }
};

TEST(Again, what_a_threads_last_objects_ask_for_is_computed) {
    std::vector<float> got;
    std::thread([&got] {
        thread_local AtThreadsEnd end{Tensor::of<float>({1, 2, 3}), &got};
        for (int i = 0; i < 3; ++i) EXPECT_THAT(values(sum(end.x * end.x, {}, true) + end.x[0]), ElementsAre(15));
    }).join();
    EXPECT_THAT(got, ElementsAre(15));
}

}  // namespace
}  // namespace weft
