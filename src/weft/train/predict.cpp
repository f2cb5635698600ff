#include "weft/train/predict.h"

#include <algorithm>
#include <map>

#include "weft/base/error.h"
#include "weft/io/csv.h"
#include "weft/io/file.h"
#include "weft/io/hdf5.h"
#include "weft/io/idx.h"
#include "weft/io/mat.h"
#include "weft/io/npy.h"
#include "weft/io/npz.h"
#include "weft/ops/elementwise.h"
#include "weft/ops/reduce.h"
#include "weft/ops/view.h"
#include "weft/runtime/function.h"
#include "weft/train/measure.h"

namespace weft::train {
namespace {

namespace fs = std::filesystem;
constexpr std::int64_t prediction_batch = 500;

/// What model.yaml says of the training data as they were before they were prepared.
struct RawData {
    struct Input {
        std::string name;
        Dims example;
        DType dtype = DType::float32;  // in a batch
    };
    std::vector<Input> inputs;  // the first is x
    std::vector<std::string> classes;
    std::map<std::string, std::vector<std::string>> targets;  // further ones, and their classes
    bool lengths = false;
};

std::vector<std::string> words_of(const Json& list) {
    std::vector<std::string> words;
    for (const Json& word : list.items()) words.push_back(word.as_string());
    return words;
}

RawData::Input raw_input(const Json& described, std::string name) {
    RawData::Input input{std::move(name), {}, dtype_named(described.at("dtype").as_string())};
    for (const Json& size : described.at("example").items()) input.example.push_back(size.as_integer());
    return input;
}

RawData raw_data(const Run& run) {
    fs::path path = run.folder() / "model.yaml";
    Json model = parse_json(io::read_file(path), path.string());
    const Json* data = model.find("data");
    if (!data)
        throw ConfigError(text("'", path.string(), "' does not say what the run's data were; `weft resume ",
                               run.folder().string(), "` writes it anew"));
    RawData raw;
    if (const Json* inputs = data->find("inputs"))
        for (const Json& input : inputs->items()) raw.inputs.push_back(raw_input(input, input.at("name").as_string()));
    else
        raw.inputs.push_back(raw_input(*data, "x"));
    raw.classes = words_of(data->at("classes"));
    if (const Json* targets = data->find("targets"))
        for (const Json::Member& target : targets->members()) raw.targets[target.key] = words_of(target.value);
    raw.lengths = data->find("lengths") != nullptr;
    return raw;
}

Arrays arrays_in(const fs::path& file, DType dtype) {
    std::string ending = file.extension().string();
    Arrays all;
    try {
        if (ending == ".npz") return io::load_npz(file);
        if (ending == ".npy") return {{"x", io::load_npy(file)}};
        if (ending == ".csv")
            return {{"x", io::load_csv(file, {.dtype = dtype == DType::float64 ? dtype : float32}).values}};
        if (ending == ".mat")
            for (const std::string& name : io::mat_names(file)) all.emplace(name, io::load_mat(file, name));
        if (ending == ".h5" || ending == ".hdf5")
            for (const std::string& name : io::hdf5_names(file))
                all.emplace(name.substr(name.rfind('/') + 1), io::load_hdf5(file, name));
        if (!all.empty()) return all;
        return {{"x", io::load_idx(file)}};
    } catch (const FileError& error) {
        throw ConfigError(text(error.what(), "; examples are read from .npy, .npz, .h5, .mat, .csv and IDX files"));
    }
}

const Array& array_named(const Arrays& arrays, const std::string& name, bool alone, const fs::path& file) {
    if (auto found = arrays.find(name); found != arrays.end()) return found->second;
    if (auto found = arrays.find("x"); alone && found != arrays.end()) return found->second;
    if (alone && arrays.size() == 1) return arrays.begin()->second;
    std::string names;
    for (const auto& [known, array] : arrays) names += (names.empty() ? "" : ", ") + known;
    throw ConfigError(
        alone ? text("'", file.string(), "' has several arrays (", names, ") and none is called ", name)
              : text("'", file.string(), "' has no array '", name, "', which is an input of the run, but: ", names));
}

Dims with_rows(std::int64_t rows, const Dims& example) {
    Dims dims{rows};
    for (std::int64_t size : example) dims.push_back(size);
    return dims;
}

/// Rows of as many numbers stand for examples; a single example without an axis of rows does not.
Array in_shape(const Array& values, const Dims& example, const fs::path& file) {
    std::int64_t rows = values.dims.empty() ? 0 : values.dims[0];
    Dims wanted = with_rows(rows, example);
    bool flat = values.ndim() == 2 && values.dims[1] == element_count(example);
    if (rows > 0 && values.dims == wanted) return contiguous(values);
    if (rows > 0 && flat) return data::reshaped(values, wanted);
    std::string names = "(n";
    for (std::int64_t size : example) names += text(", ", size);
    throw ConfigError(text("'", file.string(), "' has shape ", values.dims,
                           rows == 0 && values.ndim() > 0 ? ", so no example is in it" : "",
                           "; the run takes examples of shape ", example, ", as an array of shape ", names, ")",
                           example.size() > 1 ? text(" or (n, ", element_count(example), ")") : ""));
}

/// Numbers of the type that the network met in training.
void set_type(data::Dataset& set, DType dtype, const fs::path& file) {
    if (set.x.dtype == uint8 && dtype == float32) {
        set.affine = data::Affine{};
        set.range = {0, 255};
    } else if (set.x.dtype != dtype) {
        if (is_complex(set.x.dtype) || (is_integer(dtype) && !is_integer(set.x.dtype)))
            throw ConfigError(text("'", file.string(), "' holds ", set.x.dtype, ", the run takes ", dtype));
        set.x = contiguous(Tensor(set.x).astype(dtype).array());
    }
}

Tensor classes_of(const Tensor& outputs) {
    if (outputs.ndim() == 2 && outputs.shape()[1].value() > 1) return argmax(outputs, 1);
    return astype(reshape(outputs, {outputs.shape()[0]}) > 0.0, DType::int64);
}

/// What is said of an example: what the network gives, first, and what layers give that costs are of.
struct Output {
    std::string name;
    std::optional<CostTerm> term;  // the first cost of class numbers of it, or else the first one of it
};

std::vector<Output> outputs_of(const Phase& phase) {
    std::vector<Output> all{{"", {}}};
    for (CostTerm& term : cost_terms(phase)) {
        if (!term.of_output || (term.of.is_null() && !term.counts_errors)) continue;
        std::string name = term.of.is_null() ? "" : term.of.as_string();
        auto known = std::find_if(all.begin(), all.end(), [&](const Output& one) { return one.name == name; });
        if (known == all.end())
            all.push_back({name, std::move(term)});
        else if (!known->term || (term.counts_errors && !known->term->counts_errors))
            known->term = std::move(term);
    }
    return all;
}

/// A score or a row of scores an example: where labels lie along further axes, outputs are given as they are.
bool says_classes(const Tensor& outputs) { return outputs.ndim() == 1 || outputs.ndim() == 2; }

Answers answers_of(const Output& output, const Tensor& values) {
    Answers answers{output.name, contiguous(values.array()), {}, {}};
    if (!output.term || !output.term->counts_errors || !says_classes(values)) return answers;
    answers.classes = contiguous(classes_of(values).array());
    if (output.term->probabilities) answers.probabilities = contiguous(output.term->probabilities(values).array());
    return answers;
}

/// As the run's training set was.
data::Dataset prepared(const Run& run, data::Dataset set) {
    if (raw_data(run).lengths && !set.has_lengths())
        set.lengths =
            Array::from(std::vector<std::int64_t>(static_cast<std::size_t>(set.size()), set.x.dims[1]), {set.size()});
    set.y = Array::zeros(DType::int64, {set.size()});  // steps of preparation may look at labels
    data::Preparation preparation(run.kept_phase().prepare);
    load_preparation(run.kept(), preparation);
    set = preparation.apply(set);
    set.y = Array();
    return set;
}

}  // namespace

data::Dataset load_examples(const Run& run, const fs::path& file) {
    return prepared_examples(run, arrays_in(file, raw_data(run).inputs[0].dtype), file);
}

data::Dataset prepared_examples(const Run& run, const Arrays& arrays, const fs::path& file) {
    RawData raw = raw_data(run);
    data::Dataset set;
    for (RawData::Input& input : raw.inputs) {
        const Array& values = array_named(arrays, input.name, raw.inputs.size() == 1, file);
        bool sequence = raw.lengths && values.ndim() == input.example.size() + 1 && !input.example.empty();
        if (sequence) input.example[0] = values.dims[1];
        data::Dataset one;
        one.x = in_shape(values, input.example, file);
        set_type(one, input.dtype, file);
        if (&input == &raw.inputs[0])
            set = one, set.x_name = input.name;
        else
            set.fields.push_back({input.name, false, one});
    }
    if (auto lengths = arrays.find("lengths"); raw.lengths && lengths != arrays.end())
        set.lengths = contiguous(Tensor(lengths->second).astype(DType::int64).array());
    return prepared(run, std::move(set));
}

data::Dataset blank_example(const Run& run) {
    RawData raw = raw_data(run);
    data::Dataset set;
    for (const RawData::Input& input : raw.inputs) {
        data::Dataset one;
        one.x = Array::zeros(input.dtype, with_rows(1, input.example));
        if (&input == &raw.inputs[0])
            set = one, set.x_name = input.name;
        else
            set.fields.push_back({input.name, false, one});
    }
    return prepared(run, std::move(set));
}

void predict(const Run& run, const data::Dataset& examples,
             const std::function<void(const std::vector<Answers>& batch)>& f) {
    Network network = run.network(examples);
    std::vector<Output> outputs = outputs_of(run.kept_phase());
    CompiledFunction said(
        [&](std::span<const Tensor> batch) {
            nn::Given given = network.feed.given(batch);
            nn::Notes notes;
            Tensor output = network.model(batch[0]);
            std::vector<Tensor> all;
            for (const Output& one : outputs) all.push_back(one.term ? said_to(*one.term, output, notes) : output);
            return all;
        },
        run.kept_phase().compile);
    data::Dataset walked = examples;
    walked.y = Array::zeros(DType::int64, {examples.size()});
    for (const data::Batch& batch : walked.batches(prediction_batch)) {
        std::vector<Tensor> values = said(Feed::arguments(batch));
        std::vector<Answers> answers;
        for (std::size_t i = 0; i < outputs.size(); ++i) answers.push_back(answers_of(outputs[i], values[i]));
        f(answers);
    }
}

std::vector<std::string> class_names(const Run& run, const std::string& output) {
    RawData raw = raw_data(run);
    for (const Output& one : outputs_of(run.kept_phase())) {
        if (one.name != output || !one.term || one.term->target.is_null()) continue;
        auto target = raw.targets.find(one.term->target.as_string());
        return target == raw.targets.end() ? std::vector<std::string>{} : target->second;
    }
    return raw.classes;
}

}  // namespace weft::train
