#include <utility>

#include "weft/search/trial.h"
#include "weft/search/workers.h"

namespace weft::search {
namespace {

class Here : public Workers {
  public:
    Here(Environment environment, std::function<bool()> stop)
        : environment_(std::move(environment)), stop_(std::move(stop)) {}

    void start(const Order& order) override { ended_ = train_trial(order, environment_, stop_); }
    std::optional<Ended> ended() override { return std::exchange(ended_, std::nullopt); }
    void stop() override {}  // start() asks stop_ itself
    std::size_t size() const override { return ended_ ? 1 : 0; }

  private:
    Environment environment_;
    std::function<bool()> stop_;
    std::optional<Ended> ended_;
};

}  // namespace

std::unique_ptr<Workers> here(Environment environment, std::function<bool()> stop) {
    return std::make_unique<Here>(std::move(environment), std::move(stop));
}

}  // namespace weft::search
