// Schedules against their formulas, as PyTorch's documentation states them, and what is refused.
#include "weft/optim/schedule.h"

#include <gtest/gtest.h>

#include <cmath>
#include <numbers>

#include "message.h"
#include "weft/base/error.h"

namespace weft::optim {
namespace {

using schedule::Per;

double at_step(const Schedule& s, std::int64_t step) { return s({step, 1}); }
double at_epoch(const Schedule& s, std::int64_t epoch) { return s({0, epoch}); }

TEST(Schedule, gives_the_value_of_each_moment) {
    EXPECT_EQ(Schedule(0.5)({7, 3}), 0.5);
    auto at = [](const Schedule& s, std::int64_t epoch, std::int64_t step = 0) { return s({step, epoch}); };
    Schedule linear = schedule::linear(0.5, 0.99, 1, 10);
    EXPECT_EQ(at(linear, 1), 0.5);
    EXPECT_DOUBLE_EQ(at(linear, 4), 0.5 + 0.49 * 3 / 9);
    EXPECT_EQ(at(linear, 10), 0.99);
    EXPECT_EQ(at(linear, 99), 0.99);
    Schedule of_steps = schedule::linear(1, 0, 0, 8, schedule::Per::step);
    EXPECT_EQ(of_steps({6, 1}), 0.25);
    EXPECT_EQ(of_steps({0, 5}), 1);
    Schedule step = schedule::step(1, 0.1, 30);
    EXPECT_EQ(at(step, 30), 1);
    EXPECT_DOUBLE_EQ(at(step, 31), 0.1);
    EXPECT_DOUBLE_EQ(at(step, 61), 0.01);
    EXPECT_DOUBLE_EQ(at(schedule::milestones(1, 0.5, {3, 5}), 4), 0.5);
    EXPECT_DOUBLE_EQ(at(schedule::exponential(1, 0.9), 3), 0.81);
    EXPECT_DOUBLE_EQ(at(schedule::exponential(1, 0.9, 0.85), 3), 0.85);
    EXPECT_EQ(at(schedule::cosine(1, 0, 10), 1), 1);
    EXPECT_NEAR(at(schedule::cosine(1, 0, 10), 6), 0.5, 1e-15);
    EXPECT_NEAR(at(schedule::cosine(1, 0, 10), 11), 0, 1e-15);
    Schedule warm = schedule::warm_up(Schedule(2.0), 4);
    EXPECT_EQ(at(warm, 1, 0), 0.5);
    EXPECT_EQ(at(warm, 1, 3), 2);
    EXPECT_EQ(at(warm, 9, 99), 2);
    EXPECT_EQ(message<ValueError>([] { schedule::linear(0, 1, 5, 2); }),
              "linear: the last epoch, 2, is before the first, 5");
    EXPECT_EQ(message<ValueError>([] { schedule::step(1, 0.1, 0); }),
              "step: the number of epochs between changes is 0; it must be at least 1");
}

TEST(Schedule, counts_epochs_or_steps) {
    EXPECT_DOUBLE_EQ(at_step(schedule::step(1, 0.1, 30, Per::step), 60), 0.01);
    EXPECT_DOUBLE_EQ(at_step(schedule::exponential(1, 0.9, 0, Per::step), 2), 0.81);
    EXPECT_NEAR(at_step(schedule::cosine(1, 0.2, 10, Per::step), 5), 0.6, 1e-15);
    EXPECT_EQ(at_epoch(schedule::cosine(1, 0.2, 10, Per::step), 7), 1);
}

TEST(Schedule, cosine_restarts_each_time_longer) {
    Schedule even = schedule::cosine_restarts(1, 0, 4), growing = schedule::cosine_restarts(1, 0.1, 2, 3, Per::step);
    EXPECT_NEAR(at_epoch(even, 3), 0.5, 1e-15);
    EXPECT_EQ(at_epoch(even, 5), 1);
    EXPECT_NEAR(at_epoch(even, 403), 0.5, 1e-15);
    for (std::int64_t start : {0, 2, 8, 26}) EXPECT_EQ(at_step(growing, start), 1) << start;
    EXPECT_NEAR(at_step(growing, 2 + 2), 0.1 + 0.9 * 0.5 * (1 + std::cos(std::numbers::pi * 2 / 6)), 1e-15);
}

TEST(Schedule, polynomial_and_inverse_time_follow_their_formulas) {
    Schedule square = schedule::polynomial(1, 0.1, 10, 2);
    EXPECT_NEAR(at_epoch(square, 4), 0.1 + 0.9 * 0.7 * 0.7, 1e-15);
    EXPECT_EQ(at_epoch(square, 11), 0.1);
    EXPECT_EQ(at_epoch(square, 99), 0.1);
    EXPECT_DOUBLE_EQ(at_step(schedule::inverse_time(2, 0.5, 0.5, Per::step), 6), 1);
}

TEST(Schedule, one_cycle_rises_and_falls) {
    Schedule cycle = schedule::one_cycle({.most = 1, .total = 100});
    EXPECT_NEAR(at_step(cycle, 0), 1.0 / 25, 1e-15);
    EXPECT_NEAR(at_step(cycle, 29), 1, 1e-15);
    double part = (50.0 - 29) / (99 - 29), low = 1.0 / 25 / 1e4;
    EXPECT_NEAR(at_step(cycle, 50), low + (1 - low) * 0.5 * (1 + std::cos(std::numbers::pi * part)), 1e-15);
    EXPECT_NEAR(at_step(cycle, 99), low, 1e-15);
    EXPECT_NEAR(at_step(cycle, 500), low, 1e-15);
    Schedule lines = schedule::one_cycle(
        {.most = 1, .total = 10, .rising = 0.5, .start_divisor = 5, .lines = true, .per = Per::epoch});
    EXPECT_NEAR(at_epoch(lines, 3), 0.2 + 0.8 * 2 / 4, 1e-15);
}

TEST(Schedule, plateau_lowers_the_rate_when_a_figure_stops_improving) {
    std::vector<double> figures;
    std::function<std::vector<double>(const std::string&)> history = [&](const std::string& channel) {
        EXPECT_EQ(channel, "valid.loss");
        return figures;
    };
    auto rates = [&](const Schedule& s, const std::vector<double>& all) {
        std::vector<double> found;
        figures.clear();
        for (double figure : all) {
            figures.push_back(figure);
            found.push_back(s({0, static_cast<std::int64_t>(figures.size()) + 1, &history}));
        }
        return found;
    };
    Schedule plain = schedule::plateau({.from = 1, .channel = "valid.loss", .factor = 0.5, .patience = 1});
    EXPECT_EQ(plain({0, 1}), 1);
    EXPECT_EQ(rates(plain, {5, 4, 4, 4, 4, 4, 3, 3}), (std::vector<double>{1, 1, 1, 0.5, 0.5, 0.25, 0.25, 0.25}));
    EXPECT_EQ(rates(plain, {NAN, NAN, NAN}), (std::vector<double>{1, 0.5, 0.5}));
    Schedule resting = schedule::plateau(
        {.from = 1, .channel = "valid.loss", .more = true, .factor = 0.5, .patience = 0, .cooldown = 2, .least = 0.3});
    EXPECT_EQ(rates(resting, {5, 5, 5, 5, 5, 5}), (std::vector<double>{1, 0.5, 0.5, 0.5, 0.3, 0.3}));
    // Where it is not said which is better, its channel says.
    for (bool up : {false, true}) {
        std::function<bool(const std::string&)> more = [&](const std::string&) { return up; };
        Schedule asks = schedule::plateau({.from = 1, .channel = "valid.loss", .factor = 0.5, .patience = 0});
        figures = {1, 2, 3};
        EXPECT_EQ(asks({0, 4, &history, &more}), up ? 1 : 0.25);
    }
}

TEST(Schedule, adjust_shrinks_when_a_figure_rises_and_grows_when_it_falls_slowly) {
    std::vector<double> figures;
    std::function<std::vector<double>(const std::string&)> history = [&](const std::string&) { return figures; };
    Schedule s =
        schedule::adjust({.from = 0.1, .channel = "train.loss", .shrink = 0.5, .grow = 2, .least = 0.06, .most = 0.15});
    EXPECT_EQ(s({0, 1}), 0.1);
    auto rate = [&](std::vector<double> all) {
        figures = std::move(all);
        return s({0, 9, &history});
    };
    EXPECT_EQ(rate({4}), 0.1);
    EXPECT_EQ(rate({4, 3}), 0.1);           // fast enough
    EXPECT_EQ(rate({4, 5}), 0.06);          // not below the least
    EXPECT_EQ(rate({4, 3.999}), 0.15);      // not above the most
    EXPECT_EQ(rate({4, 3.999, 5}), 0.075);  // from where it stood
    EXPECT_EQ(rate({4, 3.999, 5, 3}), 0.075);
    EXPECT_THROW(schedule::adjust({.from = 1, .channel = "x", .least = 2, .most = 1}), ValueError);
}

TEST(Schedule, refuses_what_makes_no_sense) {
    EXPECT_EQ(message<ValueError>([] { schedule::cosine_restarts(1, 0, 0); }),
              "cosine_restarts: the first period is 0; it must be at least 1");
    EXPECT_EQ(message<ValueError>([] { schedule::plateau({.from = 1, .channel = "valid.loss", .factor = 1}); }),
              "plateau: the factor is 1; it must be above 0 and below 1");
    EXPECT_EQ(message<ValueError>([] { schedule::one_cycle({.most = 1, .total = 10, .rising = 2}); }),
              "one_cycle: the part in which it rises is 2; it must be from 0 to 1");
    EXPECT_EQ(message<ValueError>([] { schedule::inverse_time(1, -1); }),
              "inverse_time: the rate is -1; it must be at least 0");
}

}  // namespace
}  // namespace weft::optim
