// Pictures as a file names them: cifar10, images.
#include "weft/data/digits.h"
#include "weft/data/pictures.h"
#include "weft/data/sources.h"

namespace weft::data {
namespace {

PictureOptions picture_options(const Json& options) {
    PictureOptions made;
    made.within = options.at("within").as_string();
    made.grey = options.at("grey").as_bool();
    made.stream = options.at("stream").as_bool();
    const Json& size = options.at("size");
    if (!size.is_null()) made.size = {size.item(0).as_integer(), size.item(1).as_integer()};
    return made;
}

void check_images(const Json& options) {
    check_range(options);
    check_place(options.at("path"));
    const Json& size = options.at("size");
    if (size.is_null()) return;
    if (size.size() != 2) size.refuse("a size is [height, width]");
    for (const Json& extent : size.items()) {
        if (extent.as_integer() < 1 || extent.as_integer() > 16384)
            extent.refuse("a height and a width are 1 to 16384");
    }
}

/// One made-up picture of these sizes.
Dataset made_up(std::int64_t channels, std::int64_t height, std::int64_t width) {
    Dataset set;
    set.x = Array::zeros(DType::uint8, {1, channels, height, width});
    set.y = Array::zeros(int64, {1});
    set.affine = Affine{};
    set.range = {0, 255};
    return set;
}

}  // namespace

std::vector<Source> picture_sources() {
    return {
        {"cifar10",
         "50,000 + 10,000 pictures (3, 32, 32) of ten classes, values 0 .. 255: the binary files or JPEG, in "
         "$WEFT_DATA",
         {word_option("split", "train", "which of its two parts", {"train", "test"}),
          range_option(),
          {"path", Json(), "where it lies, if not in $WEFT_DATA: a folder or an archive", false, Json::Kind::string}},
         [](const Json& options) {
             const Json& path = options.at("path");
             return in_range(
                 cifar10(options.at("split").as_string() == "train", path.is_null() ? "" : path.as_string()), options);
         },
         [](const Json& options) {
             check_range(options);
             if (!options.at("path").is_null()) check_place(options.at("path"));
         },
         [](const Json&) {
             Dataset one = made_up(3, 32, 32);
             one.classes.resize(10);  // of which only the number matters here
             return one;
         }},
        {"images",
         "pictures (JPEG, PNG), a folder a class, values 0 .. 255 (channels, height, width)",
         {{"path", Json(), "the folder of the classes' folders, or an archive of it (.tar, .tar.gz)", true,
           Json::Kind::string},
          word_option("within", "", "only what lies below this folder of it, as in train"),
          {"size", Json(), "[height, width] that all pictures are carried to", false, Json::Kind::array},
          {"grey", false, "one channel"},
          {"stream", false, "decoded when a batch wants them, and not kept in memory"},
          range_option()},
         [](const Json& options) {
             return in_range(image_folder(options.at("path").as_string(), picture_options(options)), options);
         },
         check_images},
    };
}

}  // namespace weft::data
