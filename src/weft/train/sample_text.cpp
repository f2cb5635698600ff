#include "weft/train/sample_text.h"

#include <algorithm>
#include <cmath>

#include "weft/base/error.h"
#include "weft/base/utf8.h"
#include "weft/data/batches.h"
#include "weft/ops/random.h"
#include "weft/runtime/function.h"
#include "weft/train/predict.h"

namespace weft::train {
namespace {

constexpr const char* without_number = "<unknown>";

const data::ChosenSource& text_of(const Run& run) { return *run.kept_phase().set("train"); }
bool of_words(const Run& run) { return text_of(run).options().at("unit").as_string() == "word"; }

std::vector<std::string> symbols_in(const std::string& prompt, bool words) {
    std::vector<std::string> all;
    for (std::size_t at = 0; at < prompt.size();) {
        std::size_t length = utf8_length(std::string_view(prompt).substr(at));
        if (length == 0) throw ConfigError("the prompt is no UTF-8");
        if (words) {
            at = std::min(prompt.find_first_not_of(" \t\r\n", at), prompt.size());
            length = std::min(prompt.find_first_of(" \t\r\n", at), prompt.size()) - at;
            if (length == 0) break;
        }
        all.push_back(prompt.substr(at, length));
        at += length;
    }
    return all;
}

/// What a model goes on with: the numbers of the last symbols, and what they say of the next.
class Writer {
  public:
    explicit Writer(const Run& run)
        : names_(class_names(run)),
          example_(blank_example(run)),
          network_(run.network(example_)),
          rows_(text_of(run).options().at("lanes").as_integer()),
          length_(text_of(run).options().at("length").as_integer()),
          lines_(text_of(run).options().at("lines").as_bool()),
          said_([this](std::span<const Tensor> batch) { return said(batch); }),
          preparation_(run.kept_phase().prepare) {
        load_preparation(run.kept(), preparation_);
    }

    void begin(const std::string& prompt, bool words) {
        for (const std::string& symbol : symbols_in(prompt, words)) add(number_of(symbol));
        if (!last_.empty()) return;
        auto line = std::find(names_.begin(), names_.end(), "\n");
        add(line == names_.end() ? 0 : line - names_.begin());
    }
    void add(std::int64_t symbol) {
        last_.push_back(symbol);
        if (static_cast<std::int64_t>(last_.size()) > length_) last_.erase(last_.begin());
    }
    const std::string& name(std::int64_t symbol) const { return names_[static_cast<std::size_t>(symbol)]; }

    /// A symbol, by a number of [0, 1).
    std::int64_t draw(double at, double temperature) {
        std::vector<double> weights = scores();
        double most = *std::max_element(weights.begin(), weights.end()), sum = 0;
        for (double& weight : weights) sum += weight = std::exp((weight - most) / temperature);
        if (!std::isfinite(sum)) throw ValueError("the model says no next symbol: its scores are not finite");
        std::size_t symbol = 0;
        for (at *= sum; symbol + 1 < weights.size() && at >= weights[symbol]; ++symbol) at -= weights[symbol];
        return static_cast<std::int64_t>(symbol);
    }

  private:
    std::int64_t number_of(const std::string& symbol) const {
        for (const std::string& wanted : {symbol, std::string(without_number)}) {
            auto found = std::find(names_.begin(), names_.end(), wanted);
            if (found != names_.end()) return found - names_.begin();
        }
        throw ConfigError(text("the prompt has '", symbol, "', which the run's text had not; it has ", names_.size(),
                               " symbols, such as '", names_[0], "' and '", names_.back(), "'"));
    }

    std::vector<Tensor> said(std::span<const Tensor> batch) {
        nn::Given given = network_.feed.given(batch);
        nn::Notes notes;
        return {network_.model(batch[0])};
    }

    /// Of every symbol that has a name. Behind the last one the window is filled up: nothing looks there.
    std::vector<double> scores() {
        auto place = static_cast<std::int64_t>(last_.size()) - 1, count = static_cast<std::int64_t>(names_.size());
        data::Dataset set;
        set.x = Array::zeros(DType::int64, {rows_, length_});
        for (std::int64_t row = 0; row < rows_; ++row)
            std::copy(last_.begin(), last_.end(), set.x.data<std::int64_t>() + row * length_);
        if (lines_)
            set.lengths = Array::from(std::vector<std::int64_t>(static_cast<std::size_t>(rows_), place + 1), {rows_});
        set.y = Array::zeros(DType::int64, {rows_});
        set = preparation_.apply(set);
        data::Batches batches(set, rows_, {.prefetch = 0});
        Array all = contiguous(said_(Feed::arguments(*batches.begin()))[0].astype(DType::float64).array());
        if (all.ndim() != 3 || all.dims[1] != count || all.dims[2] <= place)
            throw ConfigError(text("the model gives ", all.dims, ", no scores of ", count,
                                   " symbols at each place (n, symbols, places), so it says no next symbol"));
        std::vector<double> found;
        for (std::int64_t symbol = 0; symbol < count; ++symbol)
            found.push_back(names_[static_cast<std::size_t>(symbol)] == without_number
                                ? -INFINITY
                                : all.data<double>()[symbol * all.dims[2] + place]);
        return found;
    }

    std::vector<std::string> names_;
    data::Dataset example_;
    Network network_;
    std::int64_t rows_, length_;
    bool lines_;
    CompiledFunction said_;
    data::Preparation preparation_;
    std::vector<std::int64_t> last_;
};

}  // namespace

bool is_text_model(const Run& run) {
    return text_of(run).source().name == "text" && run.kept_phase().counts_errors() && !class_names(run).empty();
}

std::string sample_text(const Run& run, const TextSampleOptions& options) {
    if (options.count < 1) throw ConfigError(text("a text of ", options.count, " symbols: there must be at least 1"));
    if (!(options.temperature > 0 && std::isfinite(options.temperature)))
        throw ConfigError(
            text("a temperature of ", options.temperature, ": scores are divided by it, a number above 0"));
    if (!is_text_model(run))
        throw ConfigError("the run's data are no `text`, or its cost is not of the next symbol, so it writes none");
    random::seed(options.seed);
    Array drawn = contiguous(random::uniform({options.count}).astype(DType::float64).array());
    bool words = of_words(run);
    Writer writer(run);
    writer.begin(options.prompt, words);
    std::string written;
    for (std::int64_t i = 0; i < options.count; ++i) {
        std::int64_t symbol = writer.draw(drawn.data<double>()[i], options.temperature);
        writer.add(symbol);
        if (words && i > 0) written += " ";
        written += writer.name(symbol);
    }
    return written;
}

}  // namespace weft::train
