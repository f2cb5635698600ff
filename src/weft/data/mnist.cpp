#include "weft/data/mnist.h"

#include <filesystem>

#include "weft/base/environment.h"
#include "weft/base/error.h"
#include "weft/base/md5.h"
#include "weft/data/fetch.h"
#include "weft/io/idx.h"

namespace weft::data {
namespace {

struct Part {
    const char *images, *images_md5, *labels, *labels_md5;
};
constexpr Part train_part{"train-images-idx3-ubyte", "6bbc9ace898e44ae57da46a324031adb",  //
                          "train-labels-idx1-ubyte", "a25bea736e30d166cdddb491f175f624"};
constexpr Part test_part{"t10k-images-idx3-ubyte", "2646ac647ad5339dbf082846283269ea",  //
                         "t10k-labels-idx1-ubyte", "27ae3e4e09519cfbb04c329615203637"};

std::filesystem::path folder_of(const std::filesystem::path& given) {
    if (!given.empty()) return given;
    if (std::filesystem::path found = find_data("mnist"); found != "mnist") return found;
    if (auto data = environment("WEFT_DATA")) return std::filesystem::path(*data) / "mnist";
    throw FileError(
        "mnist: the environment variable WEFT_DATA is not set; set it to the folder that holds "
        "mnist/train-images-idx3-ubyte.gz and "
        "its three sisters, or fetch them with `weft data get mnist` (or use the data set 'digits', which needs no "
        "files)");
}

/// The array in `name`.gz or `name`.
Array load(const std::filesystem::path& folder, const char* name, const char* checksum) {
    std::filesystem::path packed = folder / (std::string(name) + ".gz"), plain = folder / name;
    std::error_code ignored;
    bool has_packed = std::filesystem::exists(packed, ignored), has_plain = std::filesystem::exists(plain, ignored);
    if (!has_packed && !has_plain)
        throw FileError(
            text("mnist: '", packed.string(),
                 "' is missing; set WEFT_DATA to the folder that holds mnist/, or fetch it with `weft data get "
                 "mnist`"));
    std::filesystem::path path = has_plain ? plain : packed;
    std::string bytes = io::read_idx_bytes(path);
    if (std::string sum = md5(bytes); sum != checksum) {
        throw FileError(text("mnist: '", path.string(), "' is not the published file: the MD5 of its content is ", sum,
                             ", not ", checksum));
    }
    return io::parse_idx(bytes, path.string());
}

}  // namespace

Dataset mnist_part(bool train, const std::string& folder) {
    const Part& part = train ? train_part : test_part;
    std::filesystem::path where = folder_of(folder);
    Dataset set;
    Array labels = load(where, part.labels, part.labels_md5);
    set.x = load(where, part.images, part.images_md5);
    set.y = Array::empty(int64, labels.dims);
    for (std::int64_t i = 0; i < labels.size(); ++i) set.y.data<std::int64_t>()[i] = labels.data<std::uint8_t>()[i];
    set.affine = Affine{};
    set.range = {0, 255};
    for (int digit = 0; digit < 10; ++digit) set.classes.push_back(std::to_string(digit));
    set.check("mnist");
    return set;
}

DataSplits mnist(const MnistOptions& options) {
    Dataset train = pictures(mnist_part(true, options.folder), options.flat, options.scaled);
    if (options.valid < 0 || options.valid > train.size()) {
        throw ValueError(
            text("mnist: ", options.valid, " of ", train.size(), " pictures cannot be set aside for validation"));
    }
    std::int64_t border = train.size() - options.valid;
    return {train.rows(0, border), train.rows(border, train.size()),
            pictures(mnist_part(false, options.folder), options.flat, options.scaled)};
}

}  // namespace weft::data
