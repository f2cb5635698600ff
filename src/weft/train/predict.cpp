#include "weft/train/predict.h"

#include "weft/base/error.h"
#include "weft/io/csv.h"
#include "weft/io/file.h"
#include "weft/io/idx.h"
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
    Dims example;
    DType dtype = DType::float32;  // in a batch
    std::vector<std::string> classes;
};

RawData raw_data(const Run& run) {
    fs::path path = run.folder() / "model.yaml";
    Json model = parse_json(io::read_file(path), path.string());
    const Json* data = model.find("data");
    if (!data)
        throw ConfigError(text("'", path.string(), "' does not say what the run's data were; `weft resume ",
                               run.folder().string(), "` writes it anew"));
    RawData raw;
    for (const Json& size : data->at("example").items()) raw.example.push_back(size.as_integer());
    for (const Json& name : data->at("classes").items()) raw.classes.push_back(name.as_string());
    raw.dtype = dtype_named(data->at("dtype").as_string());
    return raw;
}

Array array_of_npz(const fs::path& file) {
    auto arrays = io::load_npz(file);
    if (arrays.size() == 1) return arrays.begin()->second;
    if (auto found = arrays.find("x"); found != arrays.end()) return found->second;
    std::string names;
    for (const auto& [name, array] : arrays) names += (names.empty() ? "" : ", ") + name;
    throw ConfigError(text("'", file.string(), "' has several arrays (", names, ") and none is called x"));
}

Array array_in(const fs::path& file, DType dtype) {
    std::string ending = file.extension().string();
    try {
        if (ending == ".npy") return io::load_npy(file);
        if (ending == ".npz") return array_of_npz(file);
        if (ending == ".csv") return io::load_csv(file, {.dtype = dtype == DType::float64 ? dtype : float32}).values;
        return io::load_idx(file);
    } catch (const FileError& error) {
        throw ConfigError(text(error.what(), "; examples are read from .npy, .npz, .csv and IDX files"));
    }
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

/// The cost by which outputs say a class: the first of them, for it is also the one whose errors are counted.
std::optional<CostTerm> cost_of_classes(const Phase& phase) {
    for (CostTerm& term : cost_terms(phase))
        if (term.counts_errors) return std::move(term);
    return std::nullopt;
}

/// A score or a row of scores an example: where labels lie along further axes, outputs are given as they are.
bool says_classes(const Tensor& outputs) { return outputs.ndim() == 1 || outputs.ndim() == 2; }

/// As the run's training set was.
data::Dataset prepared(const Run& run, data::Dataset set) {
    set.y = Array::zeros(DType::int64, {set.size()});  // steps of preparation may look at labels
    data::Preparation preparation(run.kept_phase().prepare);
    load_preparation(run.kept(), preparation);
    set = preparation.apply(set);
    set.y = Array();
    return set;
}

}  // namespace

data::Dataset load_examples(const Run& run, const fs::path& file) {
    RawData raw = raw_data(run);
    data::Dataset set;
    set.x = in_shape(array_in(file, raw.dtype), raw.example, file);
    set_type(set, raw.dtype, file);
    return prepared(run, std::move(set));
}

data::Dataset blank_example(const Run& run) {
    RawData raw = raw_data(run);
    data::Dataset set;
    set.x = Array::zeros(raw.dtype, with_rows(1, raw.example));
    return prepared(run, std::move(set));
}

void predict(const Run& run, const data::Dataset& examples, const std::function<void(const Answers& batch)>& f) {
    Network network = run.network(examples);
    CompiledFunction outputs_of(
        [&](std::span<const Tensor> inputs) { return std::vector<Tensor>{network.model(inputs[0])}; }, "prediction");
    std::optional<CostTerm> cost = cost_of_classes(run.kept_phase());
    data::Dataset walked = examples;
    walked.y = Array::zeros(DType::int64, {examples.size()});
    for (const data::Batch& batch : walked.batches(prediction_batch)) {
        const Tensor inputs[] = {Tensor(batch.x)};
        Tensor outputs = outputs_of(inputs)[0];
        Answers answers{contiguous(outputs.array()), {}, {}};
        if (cost && says_classes(outputs)) {
            answers.classes = contiguous(classes_of(outputs).array());
            if (cost->probabilities) answers.probabilities = contiguous(cost->probabilities(outputs).array());
        }
        f(answers);
    }
}

std::vector<std::string> class_names(const Run& run) { return raw_data(run).classes; }

}  // namespace weft::train
