#include "weft/train/event_file.h"

#include <bit>
#include <chrono>
#include <fstream>

#include "weft/base/crc.h"
#include "weft/base/error.h"
#include "weft/io/file.h"
#include "weft/train/log.h"

namespace weft::train {
namespace {

template <class T>
void append_little(std::string& out, T value) {
    for (std::size_t i = 0; i < sizeof value; ++i) out.push_back(static_cast<char>(value >> (8 * i) & 255));
}

/// Seven bits a byte, the last without the eighth.
void append_varint(std::string& out, std::uint64_t value) {
    for (; value >= 128; value >>= 7) out.push_back(static_cast<char>(value | 128));
    out.push_back(static_cast<char>(value));
}

// A protocol buffer's field: its number and the way it is written (0 a varint, 1 eight bytes, 2 a length and bytes, 5 four bytes).
void append_key(std::string& out, unsigned field, unsigned way) { append_varint(out, field << 3 | way); }
void append_bytes(std::string& out, unsigned field, std::string_view bytes) {
    append_key(out, field, 2);
    append_varint(out, bytes.size());
    out += bytes;
}

void append_record(std::string& out, const std::string& event) {
    auto masked = [](std::uint32_t crc) { return std::rotr(crc, 15) + 0xa282ead8u; };
    std::string length;
    append_little<std::uint64_t>(length, event.size());
    out += length;
    append_little(out, masked(crc<crc32c_polynomial>(length)));
    out += event;
    append_little(out, masked(crc<crc32c_polynomial>(event)));
}

std::string event_at(double wall_time, std::int64_t step) {
    std::string event;
    append_key(event, 1, 1);
    append_little(event, std::bit_cast<std::uint64_t>(wall_time));
    append_key(event, 2, 0);
    append_varint(event, static_cast<std::uint64_t>(step));
    return event;
}

/// train.loss as train/loss, below the phase's name and, for the model that is kept, below "kept".
std::string tag_of(const Json& line, const std::string& name) {
    std::string tag = name;
    if (std::size_t dot = tag.find('.'); dot != tag.npos) tag[dot] = '/';
    if (line.find("final")) tag = "kept/" + tag;
    return phase_of(line).empty() ? tag : phase_of(line) + "/" + tag;
}

void append_line(std::string& out, const Json& line, double wall_time) {
    std::string summary;
    for (const Json::Member& member : line.members()) {
        if (!is_figure(member)) continue;
        std::string value;
        append_bytes(value, 1, tag_of(line, member.key));
        append_key(value, 2, 5);
        append_little(value, std::bit_cast<std::uint32_t>(static_cast<float>(member.value.as_number())));
        append_bytes(summary, 1, value);
    }
    const Json* step = line.find("step");
    std::string event = event_at(wall_time, step ? step->as_integer() : 0);
    append_bytes(event, 5, summary);
    append_record(out, event);
}

double seconds_since_1970() {
    return std::chrono::duration<double>(std::chrono::system_clock::now().time_since_epoch()).count();
}

}  // namespace

std::string event_records(const std::vector<Json>& lines, double now) {
    double last = 0, here = 0;
    for (const Json& line : lines) {
        if (const Json* seconds = line.find("seconds")) last = seconds->as_number();
    }
    std::string all, version = event_at(now - last, 0);
    append_bytes(version, 3, "brain.Event:2");
    append_record(all, version);
    for (const Json& line : lines) {
        if (const Json* seconds = line.find("seconds")) here = seconds->as_number();
        append_line(all, line, now - last + here);
    }
    return all;
}

EventFile::EventFile(const std::filesystem::path& folder, const std::vector<Json>& lines)
    : path_(folder / "events.out.tfevents.weft") {
    std::error_code error;
    std::filesystem::create_directories(folder, error);
    if (error) throw FileError(text("'", folder.string(), "' cannot be made: ", error.message()));
    io::write_atomically(path_, event_records(lines, seconds_since_1970()));
}

void EventFile::append(const Json& line) {
    std::string record;
    append_line(record, line, seconds_since_1970());
    std::ofstream file(path_, std::ios::binary | std::ios::app);
    file << record << std::flush;
    if (!file) throw FileError(text("'", path_.string(), "' cannot be written"));
}

}  // namespace weft::train
