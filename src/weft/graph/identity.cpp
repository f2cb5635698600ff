#include "weft/graph/identity.h"

#include <array>
#include <atomic>
#include <bit>
#include <cstddef>
#include <limits>
#include <mutex>
#include <vector>

namespace weft {
namespace {

using Turn = std::atomic<std::uint32_t>;

// The turns of all places, in pieces that double and never move: a reader needs no lock.
constexpr std::uint32_t first_piece = 1024;
std::array<std::atomic<Turn*>, 23> pieces{};

Turn& turn_at(std::uint32_t place) {
    std::uint64_t from_first = std::uint64_t{place} + first_piece;
    auto piece = static_cast<std::size_t>(std::bit_width(from_first / first_piece)) - 1;
    return pieces[piece].load(std::memory_order_acquire)[from_first - (std::uint64_t{first_piece} << piece)];
}

/// Places that no node has, of all threads.
struct Free {
    std::mutex mutex;
    std::vector<std::uint32_t> places;
    std::uint32_t beyond = 0;  // the first that was never taken
    static Free& get() {
        static Free* all = new Free;  // never destroyed: nodes outlive everything
        return *all;
    }
    /// The mutex is held.
    std::uint32_t take() {
        if (!places.empty()) {
            std::uint32_t place = places.back();
            places.pop_back();
            return place;
        }
        std::uint64_t from_first = std::uint64_t{beyond} + first_piece;
        if (std::has_single_bit(from_first)) {  // starts a piece
            auto piece = static_cast<std::size_t>(std::bit_width(from_first / first_piece)) - 1;
            auto* turns = new Turn[from_first];
            for (std::uint64_t i = 0; i < from_first; ++i) turns[i].store(1, std::memory_order_relaxed);
            pieces[piece].store(turns, std::memory_order_release);
        }
        return beyond++;
    }
};

/// Some of them, at this thread's hand.
class AtHand {
  public:
    ~AtHand() {
        give_back(count_);
        ended_ = true;  // what still comes goes to all threads
    }
    static AtHand& mine() {
        thread_local AtHand at_hand;
        return at_hand;
    }
    std::uint32_t take() {
        if (count_ == 0) {
            Free& all = Free::get();
            std::lock_guard guard(all.mutex);
            if (ended_) return all.take();
            while (count_ < places_.size() / 2) places_[count_++] = all.take();
        }
        return places_[--count_];
    }
    void give(std::uint32_t place) {
        if (count_ == places_.size()) give_back(count_ / 2);
        places_[count_++] = place;
        if (ended_) give_back(1);
    }

  private:
    void give_back(std::size_t count) {
        Free& all = Free::get();
        std::lock_guard guard(all.mutex);
        for (; count > 0; --count) all.places.push_back(places_[--count_]);
    }
    std::array<std::uint32_t, 64> places_;
    std::size_t count_ = 0;
    bool ended_ = false;
};

}  // namespace

Identity Identity::fresh() {
    std::uint32_t place = AtHand::mine().take();
    return {place, turn_at(place).load(std::memory_order_relaxed)};
}

void Identity::end() const {
    turn_at(place_).store(turn_ + 1, std::memory_order_relaxed);
    if (turn_ < std::numeric_limits<std::uint32_t>::max())
        AtHand::mine().give(place_);  // a place whose turns are over is left
}

bool Identity::lives() const { return turn_at(place_).load(std::memory_order_relaxed) == turn_; }

}  // namespace weft
