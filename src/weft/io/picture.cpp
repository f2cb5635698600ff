#include "weft/io/picture.h"

#include <csetjmp>
#include <cstdio>
#include <cstring>

#include "weft/base/error.h"
#include "weft/base/shared_library.h"
#include "weft/found.h"
#include "weft/io/file.h"

#if WEFT_HAVE_JPEG
#include <jerror.h>
#include <jpeglib.h>
#endif
#if WEFT_HAVE_PNG
#include <png.h>
#endif

namespace weft::io {
namespace {

constexpr std::uint64_t most_pixels = std::uint64_t{1} << 28;

[[noreturn]] void refuse_picture(std::string_view name, const std::string& what) {
    throw FileError(text("'", name, "' ", what));
}

#if WEFT_HAVE_JPEG || WEFT_HAVE_PNG
void check_pixels(std::uint64_t width, std::uint64_t height, std::string_view name) {
    if (width == 0 || height == 0 || width * height > most_pixels)
        refuse_picture(name,
                       text("is refused: its header claims ", width, " x ", height, " pixels; at most 2^28 are read"));
}

/// (height, width, channels) as decoders give it, as (channels, height, width).
Array planes(const Array& interleaved) {
    std::int64_t height = interleaved.dims[0], width = interleaved.dims[1], channels = interleaved.dims[2];
    Array moved = interleaved;
    moved.dims = {channels, height, width};
    moved.strides = {1, width * channels, channels};
    return contiguous(moved);
}
#endif

#if WEFT_HAVE_JPEG
/// libjpeg's functions, found in the library when the first file of its kind is read.
struct Jpeg : LibraryFunctions {
#define WEFT_JPEG_FUNCTIONS(X) \
    X(std_error)               \
    X(CreateDecompress)        \
    X(mem_src) X(read_header) X(start_decompress) X(read_scanlines) X(finish_decompress) X(destroy_decompress)
#define WEFT_JPEG_MEMBER(name) decltype(&jpeg_##name) name = nullptr;
    WEFT_JPEG_FUNCTIONS(WEFT_JPEG_MEMBER)
    Jpeg() : LibraryFunctions(WEFT_JPEG_FILE) {
#define WEFT_JPEG_FIND(name) lacks = lacks || !shared.find("jpeg_" #name, name);
        WEFT_JPEG_FUNCTIONS(WEFT_JPEG_FIND)
    }
};
const Jpeg& jpeg() { return once_opened<Jpeg>(); }

/// Everything that libjpeg's jump out of an error passes over: plain values alone, so that nothing needs to be destroyed.
struct JpegReader {
    jpeg_decompress_struct info;
    jpeg_error_mgr errors;
    std::jmp_buf back;
    char message[JMSG_LENGTH_MAX];
};

void leave_jpeg(j_common_ptr info) {
    auto* reader = static_cast<JpegReader*>(info->client_data);
    info->err->format_message(info, reader->message);
    std::longjmp(reader->back, 1);
}

/// libjpeg fills what is missing with grey and merely warns.
void warn_jpeg(j_common_ptr info, int level) {
    if (level < 0 && (info->err->msg_code == JWRN_JPEG_EOF || info->err->msg_code == JWRN_HIT_MARKER)) leave_jpeg(info);
}

void begin_jpeg(JpegReader& reader, std::string_view bytes) {
    jpeg().CreateDecompress(&reader.info, JPEG_LIB_VERSION, sizeof reader.info);
    jpeg().mem_src(&reader.info, reinterpret_cast<const unsigned char*>(bytes.data()), bytes.size());
    jpeg().read_header(&reader.info, TRUE);
    reader.info.out_color_space = reader.info.jpeg_color_space == JCS_GRAYSCALE ? JCS_GRAYSCALE : JCS_RGB;
}

Array parse_jpeg(std::string_view bytes, std::string_view name) {
    if (jpeg().lacks)
        refuse_picture(name, "is a JPEG file, and the library that reads these, " WEFT_JPEG_FILE
                             ", is not on this machine (Debian has it in libjpeg62-turbo); install it");
    JpegReader reader{};
    reader.info.err = jpeg().std_error(&reader.errors);
    reader.info.client_data = &reader;
    reader.errors.error_exit = leave_jpeg;
    reader.errors.emit_message = warn_jpeg;
    Array pixels;  // made before the jump's target is set a second time, so its state there is known
    if (setjmp(reader.back) == 0) {
        begin_jpeg(reader, bytes);
    } else {
        jpeg().destroy_decompress(&reader.info);
        refuse_picture(name, text("is no JPEG file that weft reads: ", reader.message));
    }
    try {
        check_pixels(reader.info.image_width, reader.info.image_height, name);
        pixels = Array::empty(DType::uint8, {reader.info.image_height, reader.info.image_width,
                                             reader.info.out_color_space == JCS_GRAYSCALE ? 1 : 3});
    } catch (...) {
        jpeg().destroy_decompress(&reader.info);
        throw;
    }
    auto* first = pixels.data<std::uint8_t>();
    auto row_bytes = static_cast<std::size_t>(pixels.strides[0]);
    if (setjmp(reader.back) == 0) {
        jpeg().start_decompress(&reader.info);
        while (reader.info.output_scanline < reader.info.output_height) {
            JSAMPROW row = first + reader.info.output_scanline * row_bytes;
            jpeg().read_scanlines(&reader.info, &row, 1);
        }
        jpeg().finish_decompress(&reader.info);
    } else {
        jpeg().destroy_decompress(&reader.info);
        refuse_picture(name, text("is cut short or damaged: ", reader.message));
    }
    jpeg().destroy_decompress(&reader.info);
    return planes(pixels);
}
#else
Array parse_jpeg(std::string_view, std::string_view name) {
    refuse_picture(
        name,
        "is a JPEG file, and this build of weft was made without libjpeg; install it (libjpeg-dev) and build again");
}
#endif

#if WEFT_HAVE_PNG
/// libpng's functions, as libjpeg's.
struct Png : LibraryFunctions {
#define WEFT_PNG_FUNCTIONS(X) X(begin_read_from_memory) X(finish_read) X(free)
#define WEFT_PNG_MEMBER(name) decltype(&png_image_##name) name = nullptr;
    WEFT_PNG_FUNCTIONS(WEFT_PNG_MEMBER)
    Png() : LibraryFunctions(WEFT_PNG_FILE) {
#define WEFT_PNG_FIND(name) lacks = lacks || !shared.find("png_image_" #name, name);
        WEFT_PNG_FUNCTIONS(WEFT_PNG_FIND)
    }
};
const Png& png() { return once_opened<Png>(); }

class PngImage {
  public:
    PngImage() { image_.version = PNG_IMAGE_VERSION; }
    ~PngImage() { png().free(&image_); }
    PngImage(const PngImage&) = delete;
    PngImage& operator=(const PngImage&) = delete;
    png_image image_{};
};

Array parse_png(std::string_view bytes, std::string_view name) {
    if (png().lacks)
        refuse_picture(name, "is a PNG file, and the library that reads these, " WEFT_PNG_FILE
                             ", is not on this machine (Debian has it in libpng16-16); install it");
    PngImage reader;
    png_image& image = reader.image_;
    if (!png().begin_read_from_memory(&image, bytes.data(), bytes.size()))
        refuse_picture(name, text("is no PNG file that weft reads: ", image.message));
    check_pixels(image.width, image.height, name);
    bool grey = (image.format & PNG_FORMAT_FLAG_COLOR) == 0;
    image.format = grey ? PNG_FORMAT_GRAY : PNG_FORMAT_RGB;
    Array pixels = Array::empty(DType::uint8, {image.height, image.width, grey ? 1 : 3});
    png_color black{0, 0, 0};
    if (!png().finish_read(&image, &black, pixels.data<std::uint8_t>(), 0, nullptr))
        refuse_picture(name, text("is cut short or damaged: ", image.message));
    return planes(pixels);
}
#else
Array parse_png(std::string_view, std::string_view name) {
    refuse_picture(
        name, "is a PNG file, and this build of weft was made without libpng; install it (libpng-dev) and build again");
}
#endif

}  // namespace

bool is_picture(std::string_view name) {
    std::string ending = std::filesystem::path(name).extension().string();
    for (char& c : ending) c = static_cast<char>(c >= 'A' && c <= 'Z' ? c + ('a' - 'A') : c);
    return ending == ".jpg" || ending == ".jpeg" || ending == ".png";
}

Array parse_picture(std::string_view bytes, std::string_view name) {
    if (bytes.substr(0, 2) == "\xff\xd8") return parse_jpeg(bytes, name);
    if (bytes.substr(0, 8) == std::string_view("\x89PNG\r\n\x1a\n", 8)) return parse_png(bytes, name);
    refuse_picture(name, bytes.empty() ? "is no picture: it is empty"
                                       : "is no picture that weft reads: it begins as neither JPEG nor PNG do");
}

Array load_picture(const std::filesystem::path& path) {
    return parse_picture(read_file(path, std::uint64_t{1} << 32), path.string());
}

}  // namespace weft::io
