#include "weft/cli/terminal.h"

#include <sys/ioctl.h>
#include <unistd.h>

#include <algorithm>
#include <cstdio>
#include <iostream>

#include "weft/base/environment.h"
#include "weft/base/error.h"
#include "weft/look/figures.h"

namespace weft::cli {
namespace {

constexpr std::size_t least_cells = 6, most_cells = 28, most_columns = 6;

std::string printed(const char* format, double value) {
    char digits[64];
    std::snprintf(digits, sizeof digits, format, value);
    return digits;
}

/// How wide the terminal is.
std::size_t columns() {
    winsize size{};
    bool known = ::ioctl(STDOUT_FILENO, TIOCGWINSZ, &size) == 0 && size.ws_col > 0;
    return known ? size.ws_col : 80;
}

}  // namespace

Terminal::Terminal(bool quiet)
    : quiet_(quiet), bar_(!quiet && ::isatty(STDOUT_FILENO)), colour_(bar_ && !environment("NO_COLOR")) {}

void Terminal::begun(const train::Phase& phase, const train::Network& network,
                     const std::vector<std::pair<std::string, data::Dataset>>& sets) {
    channels_ = phase.channels();
    if (channels_.size() > most_columns) channels_.resize(most_columns);  // the log has them all
    head_shown_ = false, last_examples_ = 0;
    left_.begin(phase.stop.most_epochs);
    if (quiet_) return;
    if (!phase.name.empty()) std::cout << "\nphase " << phase.name << "\n";
    for (const auto& [name, set] : sets) {
        std::cout << name << std::string(6 - name.size(), ' ') << train::grouped(set.size()) << " examples of "
                  << phase.set(name)->source().name << "\n";
    }
    std::cout << network.table() << std::endl;
}

void Terminal::resumed(const train::Progress& progress) {
    last_examples_ = progress.examples;
    if (quiet_) return;
    std::cout << "goes on after epoch " << progress.epoch;
    if (progress.batch) std::cout << ", batch " << progress.batch << " of the next";
    std::cout << std::endl;
}

void Terminal::table_head() {
    head_shown_ = true;
    std::string head = " epoch";
    for (const std::string& channel : channels_)
        head += std::string(13 - std::min<std::size_t>(12, channel.size()), ' ') + channel;
    head += "  examples/s     time";
    std::cout << (colour_ ? "\x1b[1m" : "") << head << (colour_ ? "\x1b[0m" : "") << std::endl;
}

void Terminal::clear_bar() {
    if (bar_shown_) std::cout << "\r\x1b[K";
    bar_shown_ = false;
}

void Terminal::batch(const train::Progress& progress, std::int64_t batches) {
    if (progress.batch == 1) epoch_begun_ = Clock::now();
    if (!bar_) return;
    auto now = Clock::now();
    left_.at(static_cast<double>(progress.epoch) + static_cast<double>(progress.batch) / static_cast<double>(batches),
             std::chrono::duration<double>(now.time_since_epoch()).count());
    if (now - std::max(drawn_, epoch_begun_) < std::chrono::milliseconds(100)) return;
    drawn_ = now;
    if (!head_shown_) table_head();
    double share = static_cast<double>(progress.batch) / static_cast<double>(batches);
    double seconds = std::chrono::duration<double>(now - epoch_begun_).count();
    double rate = seconds > 0 ? static_cast<double>(progress.sums.examples) / seconds : 0;
    std::string epoch = printed("%6.0f", static_cast<double>(progress.epoch + 1)) + "  ", left = left_.words();
    std::string figures =
        printed(" %3.0f%%", 100 * share) + "  loss " +
        printed("%.4f", progress.sums.loss / static_cast<double>(std::max<std::int64_t>(1, progress.sums.examples))) +
        "  " + train::grouped(static_cast<std::int64_t>(rate)) + " examples/s" + (left.empty() ? "" : "  " + left);
    // In one line, or a return of the carriage would not come back to its beginning.
    std::size_t width = columns() - 1, taken = epoch.size() + figures.size();
    std::size_t cells = std::clamp<std::size_t>(width > taken ? width - taken : 0, least_cells, most_cells);
    figures.resize(std::min(figures.size(), width - std::min(width, epoch.size() + cells)));
    auto full = static_cast<std::size_t>(share * static_cast<double>(cells));
    std::cout << "\r" << epoch << (colour_ ? "\x1b[34m" : "") << std::string(full, '#') << (colour_ ? "\x1b[0m" : "")
              << std::string(cells - full, '.') << figures << "\x1b[K" << std::flush;
    bar_shown_ = true;
}

void Terminal::evaluating(const std::string& set) {
    if (!bar_ || !head_shown_) return;
    std::cout << "\r        evaluating " << set << "\x1b[K" << std::flush;
    bar_shown_ = true;
}

void Terminal::print_cell(const std::string& cell, std::size_t width) {
    std::cout << std::string(width > cell.size() ? width - cell.size() : 1, ' ') << cell;
}

void Terminal::remark(const std::string& text) {
    if (quiet_) return;
    clear_bar();
    std::cout << "        " << text << std::endl;
}

void Terminal::epoch(const Json& line, bool kept) {
    double seconds = line.at("seconds").as_number();
    std::int64_t examples = line.at("examples").as_integer();
    double rate = static_cast<double>(examples - last_examples_) / std::max(1e-9, seconds - last_seconds_);
    last_seconds_ = seconds, last_examples_ = examples;
    if (quiet_) return;
    clear_bar();
    if (!head_shown_) table_head();
    print_cell(std::to_string(line.at("epoch").as_integer()), 6);
    for (const std::string& channel : channels_) {
        print_cell(look::figure(channel, line.at(channel).as_number()), 1 + std::max<std::size_t>(12, channel.size()));
    }
    print_cell(train::grouped(static_cast<std::int64_t>(rate)), 12);
    print_cell(printed("%.1f s", seconds), 9);
    std::cout << (kept ? "  best" : "") << std::endl;
}

void Terminal::ended(const Json& line) {
    clear_bar();
    if (quiet_) return;
    std::cout << "\n";
    for (const Json::Member& member : line.members()) {
        bool is_figure = member.key.ends_with(".loss") || member.key.ends_with(".error");
        if (is_figure) std::cout << member.key << " " << look::figure(member.key, member.value.as_number()) << "   ";
    }
    std::cout << "(the model of epoch " << line.at("epoch").as_integer() << ")" << std::endl;
}

void print_rows(const Rows& rows) {
    bool terminal = ::isatty(STDOUT_FILENO);
    std::vector<std::size_t> widths;
    for (const auto& row : rows) {
        widths.resize(std::max(widths.size(), row.size()));
        for (std::size_t i = 0; i < row.size(); ++i) widths[i] = std::max(widths[i], row[i].size());
    }
    for (const auto& row : rows) {
        std::string line;
        for (std::size_t i = 0; i < row.size(); ++i) {
            if (i) line += terminal ? "  " : "\t";
            if (terminal && i) line += std::string(widths[i] - row[i].size(), ' ');
            line += row[i];
            if (terminal && !i) line += std::string(widths[i] - row[i].size(), ' ');
        }
        std::cout << line << "\n";
    }
}

}  // namespace weft::cli
