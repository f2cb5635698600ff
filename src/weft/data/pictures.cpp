#include "weft/data/pictures.h"

#include <algorithm>
#include <cstring>

#include "weft/base/error.h"
#include "weft/data/fetch.h"
#include "weft/data/resize.h"
#include "weft/io/file_tree.h"
#include "weft/io/picture.h"

namespace weft::data {
namespace {

namespace fs = std::filesystem;

constexpr std::int64_t cifar_side = 32, cifar_pixels = 3 * cifar_side * cifar_side;
const std::vector<std::string>& cifar_classes() {
    static const std::vector<std::string> all{"airplane", "automobile", "bird",  "cat",  "deer",
                                              "dog",      "frog",       "horse", "ship", "truck"};
    return all;
}

/// The pictures of a folder, in the order of their names, decoded when they are asked for.
class PictureFiles : public RowSource {
  public:
    PictureFiles(const fs::path& path, const PictureOptions& options) : tree_(path), options_(options) {
        std::string below =
            options.within.empty() || options.within.back() == '/' ? options.within : options.within + "/";
        for (const io::FileTree::Entry& entry : tree_.entries()) {
            if (entry.name.compare(0, below.size(), below) != 0 || !io::is_picture(entry.name)) continue;
            std::string rest = entry.name.substr(below.size());
            std::size_t slash = rest.find('/');
            if (slash == rest.npos) continue;  // in no class' folder
            files_.push_back(&entry);
            folders_.push_back(rest.substr(0, slash));
        }
        if (files_.empty())
            throw FileError(text("'", path.string(), below.empty() ? "" : text("': in its folder '", below),
                                 "' holds no pictures ", "(.jpg, .jpeg, .png) in folders, one folder a class"));
        dims_ = decoded(0, nullptr).dims;
    }

    std::int64_t count() const { return static_cast<std::int64_t>(files_.size()); }
    const Dims& dims() const { return dims_; }

    void label(Dataset& set) const {
        set.classes = folders_;
        std::sort(set.classes.begin(), set.classes.end());
        set.classes.erase(std::unique(set.classes.begin(), set.classes.end()), set.classes.end());
        set.y = Array::empty(int64, {count()});
        for (std::size_t i = 0; i < files_.size(); ++i) {
            auto found = std::lower_bound(set.classes.begin(), set.classes.end(), folders_[i]);
            set.y.data<std::int64_t>()[i] = found - set.classes.begin();
        }
    }

    void read(std::int64_t row, void* to) const override {
        Array picture = decoded(static_cast<std::size_t>(row), &dims_);
        std::memcpy(to, picture.address(), picture.bytes());
    }

  private:
    /// As wanted; FileError if that is not of these dims.
    Array decoded(std::size_t row, const Dims* wanted) const {
        const io::FileTree::Entry& file = *files_[row];
        Array picture = io::parse_picture(tree_.read(file), tree_.place(file));
        if (options_.grey) picture = grey_bytes(picture);
        if (options_.size) picture = resized(picture, options_.size->first, options_.size->second);
        if (wanted && (*wanted)[0] == 3 && picture.dims[0] == 1) picture = coloured(picture);
        if (wanted && picture.dims != *wanted)
            throw FileError(text("'", tree_.place(file), "' has shape ", picture.dims, ", '", tree_.place(*files_[0]),
                                 "' ", *wanted, "; `size` carries all to one, `grey` to one channel"));
        return picture;
    }
    /// Grey pictures among coloured ones.
    static Array coloured(const Array& grey) {
        Array three = grey;
        three.dims[0] = 3, three.strides[0] = 0;
        return contiguous(three);
    }

    io::FileTree tree_;
    PictureOptions options_;
    std::vector<const io::FileTree::Entry*> files_;
    std::vector<std::string> folders_;
    Dims dims_;
};

Dataset of_bytes(Dataset set) {
    set.affine = Affine{};
    set.range = {0, 255};
    return set;
}

/// Records of a label and 3,072 bytes: red, green, blue, each row by row.
void read_cifar_file(const io::FileTree& tree, const io::FileTree::Entry& file, Dataset& set, std::int64_t first) {
    constexpr std::int64_t rows = 10000;
    std::string bytes = tree.read(file), place = tree.place(file);
    if (bytes.size() != rows * (1 + cifar_pixels))
        throw FileError(text("'", place, "' holds ", bytes.size(),
                             " bytes; a file of CIFAR-10 holds 10,000 records of ", 1 + cifar_pixels, ", ",
                             rows * (1 + cifar_pixels), " bytes"));
    for (std::int64_t row = 0; row < rows; ++row) {
        const char* record = bytes.data() + row * (1 + cifar_pixels);
        auto label = static_cast<unsigned char>(record[0]);
        if (label > 9) throw FileError(text("'", place, "' is damaged: picture ", row, " has the label ", int{label}));
        set.y.data<std::int64_t>()[first + row] = label;
        std::memcpy(set.x.data<std::uint8_t>() + (first + row) * cifar_pixels, record + 1, cifar_pixels);
    }
}

/// Nothing if the published binary files are not in the tree.
std::optional<Dataset> cifar_binary(const io::FileTree& tree, bool train) {
    std::vector<std::string> names{"test_batch.bin"};
    if (train)
        names = {"data_batch_1.bin", "data_batch_2.bin", "data_batch_3.bin", "data_batch_4.bin", "data_batch_5.bin"};
    std::vector<const io::FileTree::Entry*> files;
    for (const std::string& name : names) {
        for (const io::FileTree::Entry& entry : tree.entries()) {
            if (fs::path(entry.name).filename() == name) files.push_back(&entry);
        }
    }
    if (files.empty()) return std::nullopt;
    if (files.size() != names.size())
        throw FileError(text("'", tree.path().string(), "' holds ", files.size(), " of the ", names.size(), " files ",
                             names.front(), " ... ", names.back()));
    auto count = static_cast<std::int64_t>(files.size()) * 10000;
    Dataset set;
    set.x = Array::empty(DType::uint8, {count, 3, cifar_side, cifar_side});
    set.y = Array::empty(int64, {count});
    for (std::size_t i = 0; i < files.size(); ++i)
        read_cifar_file(tree, *files[i], set, static_cast<std::int64_t>(i) * 10000);
    set.classes = cifar_classes();
    return of_bytes(set);
}

fs::path cifar_place() {
    for (const char* name : {"cifar-10-batches-bin", "cifar-10-binary.tar.gz", "cifar10-jpeg", "cifar10-jpeg.tar.gz"}) {
        if (fs::path found = find_data(name); found != name) return found;
    }
    throw FileError(
        "cifar10: neither $WEFT_DATA nor weft's cache holds cifar-10-batches-bin, cifar-10-binary.tar.gz, cifar10-jpeg "
        "or "
        "cifar10-jpeg.tar.gz; `weft data get cifar10` fetches the published file, or WEFT_DATA names the folder that "
        "has one (the data "
        "set 'digits' needs no files)");
}

}  // namespace

Dataset image_folder(const fs::path& path, const PictureOptions& options) {
    auto files = std::make_shared<PictureFiles>(find_data(path), options);
    Dims dims{files->count()};
    for (std::int64_t extent : files->dims()) dims.push_back(extent);
    Dataset set;
    set.x = unread(DType::uint8, dims);
    set.source = files;
    files->label(set);
    if (!options.stream) set = in_memory(set);
    set.check("images");
    return of_bytes(set);
}

Dataset cifar10(bool train, const fs::path& path) {
    fs::path place = path.empty() ? cifar_place() : find_data(path);
    if (std::optional<Dataset> binary = cifar_binary(io::FileTree(place), train)) return *binary;
    PictureOptions options;
    options.within = train ? "train" : "test";
    Dataset set = image_folder(place, options);
    if (set.classes != cifar_classes() || set.example() != Dims{3, cifar_side, cifar_side})
        throw FileError(text("'", place.string(), "' is not CIFAR-10: ", set.classes.size(), " classes of pictures ",
                             set.example(), ", not the ten of (3, 32, 32)"));
    return set;
}

}  // namespace weft::data
