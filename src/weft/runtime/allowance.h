// Allowance: how much the programs of one function may take. There is one for each combination of shapes that it met, and from Python one for
// each value that is written into it: sequences of every length, or a batch that grows, must not fill the memory. What was not run for
// the longest time is let go of, and made anew when it is asked for again. Callers: runtime/function.cpp, Python's compile.
#pragma once

#include <atomic>
#include <cstdint>
#include <memory>
#include <mutex>
#include <vector>

namespace weft {

class Allowance {
  public:
    /// Of programs themselves, as text, tables and what they hand out: what they compute with is one arena a thread.
    static constexpr std::size_t usual_programs = 256, usual_bytes = std::size_t{512} << 20;
    /// Of programs that keep copies of weights as their kernels read them, which take as much as the weights.
    static constexpr int most_keeping = 4;

    explicit Allowance(std::size_t most_programs = usual_programs, std::size_t most_bytes = usual_bytes)
        : most_programs_(most_programs), most_bytes_(most_bytes) {}
    Allowance(const Allowance&) = delete;
    Allowance& operator=(const Allowance&) = delete;

    /// Who has programs: a CompiledFunction.
    class Holder {
      public:
        /// Held while programs run, are made, or go.
        std::mutex mutex;
        struct Has {
            std::size_t programs = 0, bytes = 0;
            std::uint64_t oldest = ~std::uint64_t{0};  ///< when the one that may go was run; none: the largest number
        };
        /// `mutex` is held. `makes`: it has just made its newest program, which stays.
        virtual Has has(bool makes) const = 0;
        /// The program that goes; null where none may. It is destroyed by who asks, once no mutex but the maker's is held: programs of Python's
        /// functions want its lock for that, which others may hold who wait for ours.
        virtual std::shared_ptr<void> oldest_taken(bool makes) = 0;

      protected:
        ~Holder() = default;
    };
    void enter(Holder& holder);
    void leave(Holder& holder);
    /// Lets go of programs until the rest is within bounds; the maker's mutex is held. Those of functions that run at this moment stay.
    void make_room(Holder& maker);

    std::uint64_t now() { return clock_.fetch_add(1, std::memory_order_relaxed); }
    /// Programs that keep copies of weights.
    std::atomic<int> keeping{0};

  private:
    struct Oldest {
        Holder* of = nullptr;
        std::uint64_t used = ~std::uint64_t{0};
        std::size_t programs = 0, bytes = 0;  // of all
    };
    Oldest oldest(Holder& maker) const;

    std::size_t most_programs_, most_bytes_;
    std::atomic<std::uint64_t> clock_{0};
    std::mutex mutex_;
    std::vector<Holder*> holders_;
};

}  // namespace weft
