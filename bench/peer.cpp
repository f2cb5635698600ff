// Runs workloads for bench/peers.py, which talks to it line by line so that systems can take turns in one run:
//     setup NAME FOLDER      loads FOLDER/*.npy, prepares the workload, runs it 3 times; answers "ready FIRST VALUE...": seconds of
//                            the first run, and 16 evenly spaced values of the last result
//     time NAME SECONDS      repeats it for so long; answers "times MEDIAN MINIMUM REPEATS ALLOCATIONS" (seconds a repetition)
//     threads N              how many threads weft may use; answers "ok"
//     limits                 answers "limits OPERATIONS COPIED READ": float32 arithmetic, and bytes of memory beyond the caches, in a second
// Any failure answers "error MESSAGE" and the program goes on.
#include <algorithm>
#include <chrono>
#include <filesystem>
#include <iostream>
#include <memory>
#include <sstream>

#include "weft/base/thread_pool.h"
#include "weft/compile/device.h"
#include "weft/io/npy.h"
#include "weft/ops/elementwise.h"
#include "workloads.h"

namespace {

using Clock = std::chrono::steady_clock;
std::map<std::string, std::unique_ptr<weft::bench::Workload>> workloads;

std::string setup(const std::string& name, const std::string& folder) {
    weft::bench::Arrays arrays;
    for (const auto& file : std::filesystem::directory_iterator(folder)) {
        if (file.path().extension() == ".npy")
            arrays[file.path().stem().string()] = weft::io::load_npy(file.path().string());
    }
    auto workload = std::make_unique<weft::bench::Workload>(weft::bench::make_workload(name, arrays));
    auto start = Clock::now();
    weft::Tensor result = workload->run();
    result.eval();
    double first = std::chrono::duration<double>(Clock::now() - start).count();
    for (int i = 0; i < 2; ++i) result = workload->run();
    std::ostringstream out;
    out.precision(9);
    out << "ready " << first;
    std::vector<float> values = weft::astype(result, weft::float32).to_vector<float>();
    std::size_t step = std::max<std::size_t>(values.size() / 16, 1);
    for (std::size_t i = 0; i < std::min<std::size_t>(values.size(), 16); ++i) out << ' ' << values[i * step];
    workloads[name] = std::move(workload);
    return out.str();
}

std::string time(const std::string& name, double seconds) {
    weft::bench::Workload& workload = *workloads.at(name);
    // Short work is timed in batches, so that reading the clock costs nothing.
    auto start = Clock::now();
    workload.run();
    double once = std::chrono::duration<double>(Clock::now() - start).count();
    auto batch = std::max<std::int64_t>(1, static_cast<std::int64_t>(200e-6 / std::max(once, 1e-8)));
    std::vector<double> times;
    std::size_t allocations = weft::Buffer::count().allocations, repeats = 0;
    for (auto begin = Clock::now(); std::chrono::duration<double>(Clock::now() - begin).count() < seconds;) {
        auto from = Clock::now();
        for (std::int64_t i = 0; i < batch; ++i) workload.run();
        times.push_back(std::chrono::duration<double>(Clock::now() - from).count() / static_cast<double>(batch));
        repeats += static_cast<std::size_t>(batch);
    }
    allocations = weft::Buffer::count().allocations - allocations;
    std::sort(times.begin(), times.end());
    std::ostringstream out;
    out.precision(9);
    out << "times " << times[times.size() / 2] << ' ' << times.front() << ' ' << repeats << ' ' << allocations;
    return out.str();
}

std::string answer(std::istringstream& line) {
    std::string word, name;
    line >> word >> name;
    if (word == "setup") {
        std::string folder;
        line >> folder;
        return setup(name, folder);
    }
    if (word == "time") {
        double seconds = 0;
        line >> seconds;
        return time(name, seconds);
    }
    if (word == "threads") {
        weft::ThreadPool::instance().set_threads(std::stoi(name));
        return "ok";
    }
    if (word == "limits") {
        weft::Limits limits = weft::cpu_compiler().limits();
        std::ostringstream out;
        out << "limits " << limits.operations << ' ' << limits.bytes << ' ' << limits.read_bytes;
        return out.str();
    }
    return "error there is no command '" + word + "'";
}

}  // namespace

int main() {
    for (std::string text; std::getline(std::cin, text);) {
        std::istringstream line(text);
        try {
            std::cout << answer(line) << std::endl;
        } catch (const std::exception& error) {
            std::string message = error.what();
            std::replace(message.begin(), message.end(), '\n', ' ');
            std::cout << "error " << message << std::endl;
        }
    }
}
