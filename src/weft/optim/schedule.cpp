#include "weft/optim/schedule.h"

#include <algorithm>
#include <cmath>
#include <numbers>

#include "weft/base/error.h"

namespace weft::optim {

Schedule::Schedule(double value) : value_([value](Moment) { return value; }) {}

namespace schedule {
namespace {

void at_least_one(const char* name, const char* what, std::int64_t value) {
    if (value < 1) throw ValueError(text(name, ": ", what, " is ", value, "; it must be at least 1"));
}

void not_negative(const char* name, const char* what, double value) {
    if (!(value >= 0)) throw ValueError(text(name, ": ", what, " is ", value, "; it must be at least 0"));
}

double done(Moment m, Per per) { return static_cast<double>(per == Per::step ? m.step : m.epoch - 1); }

/// From one value at part 0 to another at part 1, level at both ends.
double half_cosine(double from, double to, double part) {
    return to + (from - to) * 0.5 * (1 + std::cos(std::numbers::pi * part));
}

}  // namespace

Schedule step(double from, double factor, std::int64_t every, Per per) {
    at_least_one("step", "the number of epochs between changes", every);
    return Schedule(
        [=](Moment m) { return from * std::pow(factor, std::floor(done(m, per) / static_cast<double>(every))); });
}

Schedule milestones(double from, double factor, std::vector<std::int64_t> epochs) {
    return Schedule([=, epochs = std::move(epochs)](Moment m) {
        auto passed = std::count_if(epochs.begin(), epochs.end(), [&](std::int64_t epoch) { return epoch <= m.epoch; });
        return from * std::pow(factor, static_cast<double>(passed));
    });
}

Schedule exponential(double from, double factor, double least, Per per) {
    return Schedule([=](Moment m) { return std::max(least, from * std::pow(factor, done(m, per))); });
}

Schedule linear(double from, double to, std::int64_t first, std::int64_t last, Per per) {
    if (last < first)
        throw ValueError(
            text("linear: the last ", per == Per::step ? "step, " : "epoch, ", last, ", is before the first, ", first));
    return Schedule([=](Moment m) {
        std::int64_t now = per == Per::step ? m.step : m.epoch;
        if (now >= last) return to;
        if (now <= first) return from;
        return from + (to - from) * static_cast<double>(now - first) / static_cast<double>(last - first);
    });
}

Schedule cosine(double from, double to, std::int64_t total, Per per) {
    at_least_one("cosine", "the number of epochs", total);
    return Schedule(
        [=](Moment m) { return half_cosine(from, to, std::min(done(m, per) / static_cast<double>(total), 1.0)); });
}

Schedule cosine_restarts(double from, double to, std::int64_t period, std::int64_t factor, Per per) {
    at_least_one("cosine_restarts", "the first period", period);
    at_least_one("cosine_restarts", "the factor", factor);
    return Schedule([=](Moment m) {
        double into = done(m, per), length = static_cast<double>(period);
        if (factor == 1) return half_cosine(from, to, std::fmod(into, length) / length);
        while (into >= length) into -= length, length *= static_cast<double>(factor);
        return half_cosine(from, to, into / length);
    });
}

Schedule polynomial(double from, double to, std::int64_t total, double power, Per per) {
    at_least_one("polynomial", "the number of epochs", total);
    not_negative("polynomial", "the power", power);
    return Schedule([=](Moment m) {
        double part = done(m, per) / static_cast<double>(total);
        return part >= 1 ? to : to + (from - to) * std::pow(1 - part, power);
    });
}

Schedule inverse_time(double from, double rate, double power, Per per) {
    not_negative("inverse_time", "the rate", rate);
    return Schedule([=](Moment m) { return from / std::pow(1 + rate * done(m, per), power); });
}

Schedule one_cycle(const OneCycle& o) {
    at_least_one("one_cycle", "the number of steps", o.total);
    if (!(o.rising >= 0 && o.rising <= 1))
        throw ValueError(text("one_cycle: the part in which it rises is ", o.rising, "; it must be from 0 to 1"));
    if (!(o.start_divisor > 0 && o.end_divisor > 0)) throw ValueError("one_cycle: both divisors must be above 0");
    return Schedule([o](Moment m) {
        double start = o.most / o.start_divisor, end = start / o.end_divisor, total = static_cast<double>(o.total);
        double top = o.rising * total - 1, last = total - 1, t = std::min(done(m, o.per), last);
        auto between = [&](double from, double to, double part) {
            return o.lines ? from + (to - from) * part : half_cosine(from, to, part);
        };
        if (t <= top) return between(start, o.most, top > 0 ? t / top : 1.0);
        return last > top ? between(o.most, end, (t - top) / (last - top)) : end;
    });
}

Schedule plateau(const Plateau& o) {
    if (!(o.factor > 0 && o.factor < 1))
        throw ValueError(text("plateau: the factor is ", o.factor, "; it must be above 0 and below 1"));
    not_negative("plateau", "the patience", static_cast<double>(o.patience));
    not_negative("plateau", "the cooldown", static_cast<double>(o.cooldown));
    auto at = [o](const std::vector<double>& figures, bool more) {
        double sign = more ? -1 : 1, best = INFINITY, rate = o.from;
        std::int64_t bad = 0, rest = 0;
        for (double figure : figures) {
            double value = sign * figure;
            bool better = value < best - (std::isinf(best) ? 0 : o.threshold * std::abs(best));
            if (better) best = value;
            bad = better ? 0 : bad + 1;
            if (rest > 0) --rest, bad = 0;
            if (bad > o.patience) rate = std::max(rate * o.factor, o.least), rest = o.cooldown, bad = 0;
        }
        return rate;
    };
    return Schedule([o, at](Moment m) {
        if (!m.history) return o.from;
        return at((*m.history)(o.channel), o.more.value_or(m.more && (*m.more)(o.channel)));
    });
}

Schedule adjust(const Adjust& o) {
    not_negative("adjust", "what the rate shrinks by", o.shrink);
    not_negative("adjust", "what the rate grows by", o.grow);
    if (!(o.least <= o.most))
        throw ValueError(text("adjust: the least rate, ", o.least, ", is above the most, ", o.most));
    return Schedule([o](Moment m) {
        if (!m.history) return o.from;
        std::vector<double> figures = (*m.history)(o.channel);
        double rate = o.from;
        for (std::size_t i = 1; i < figures.size(); ++i) {
            if (figures[i] > o.high * figures[i - 1])
                rate *= o.shrink;
            else if (figures[i] > o.low * figures[i - 1])
                rate *= o.grow;
            rate = std::clamp(rate, o.least, o.most);
        }
        return rate;
    });
}

Schedule warm_up(Schedule after, std::int64_t steps) {
    at_least_one("warm_up", "the number of steps", steps);
    return Schedule([=, after = std::move(after)](Moment m) {
        return after(m) * std::min(1.0, static_cast<double>(m.step + 1) / static_cast<double>(steps));
    });
}

}  // namespace schedule
}  // namespace weft::optim
