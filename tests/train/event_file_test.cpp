// Event files: read back here by the formats' public descriptions.
#include "weft/train/event_file.h"

#include <gtest/gtest.h>

#include <bit>
#include <cstring>
#include <map>

#include "weft/base/crc.h"

namespace weft::train {
namespace {

std::uint64_t little(std::string_view bytes) {
    std::uint64_t value = 0;
    for (std::size_t i = bytes.size(); i-- > 0;) value = value << 8 | static_cast<std::uint8_t>(bytes[i]);
    return value;
}

/// A protocol buffer's fields: numbers (of any way of writing) and bytes.
struct Message {
    std::map<unsigned, std::uint64_t> numbers;
    std::vector<std::pair<unsigned, std::string_view>> parts;
    explicit Message(std::string_view bytes) {
        while (!bytes.empty()) {
            std::uint64_t key = varint(bytes);
            auto field = static_cast<unsigned>(key >> 3);
            std::size_t size = (key & 7) == 1 ? 8 : (key & 7) == 5 ? 4 : 0;
            if ((key & 7) == 0) numbers[field] = varint(bytes);
            if ((key & 7) == 2) parts.emplace_back(field, take(bytes, varint(bytes)));
            if (size) numbers[field] = little(take(bytes, size));
        }
    }
    static std::string_view take(std::string_view& bytes, std::size_t count) {
        std::string_view first = bytes.substr(0, count);
        bytes.remove_prefix(std::min(count, bytes.size()));
        return first;
    }
    static std::uint64_t varint(std::string_view& bytes) {
        std::uint64_t value = 0;
        for (int shift = 0; !bytes.empty(); shift += 7) {
            auto byte = static_cast<std::uint8_t>(take(bytes, 1)[0]);
            value |= static_cast<std::uint64_t>(byte & 127) << shift;
            if (byte < 128) break;
        }
        return value;
    }
};

std::uint64_t masked(std::string_view bytes) {
    std::uint32_t sum = crc<crc32c_polynomial>(bytes);
    return static_cast<std::uint32_t>((sum >> 15 | sum << 17) + 0xa282ead8u);
}

TEST(EventFile, holds_a_version_and_then_an_event_a_line_under_tags_of_sets_and_phases) {
    std::vector<Json> lines{
        parse_json(
            R"({"phase": "first", "epoch": 1, "step": 300, "examples": 9, "seconds": 2.0, "train.loss": 0.5, "lr": 0.1})"),
        parse_json(
            R"({"phase": "first", "final": true, "epoch": 1, "step": 300, "seconds": 4.0, "test.f1.3": "NaN"})")};
    std::string bytes = event_records(lines, 1000);
    std::string_view rest = bytes;
    std::vector<Message> events;
    while (!rest.empty()) {
        std::string_view length = Message::take(rest, 8);
        EXPECT_EQ(little(Message::take(rest, 4)), masked(length));
        std::string_view event = Message::take(rest, little(length));
        EXPECT_EQ(little(Message::take(rest, 4)), masked(event));
        events.emplace_back(event);
    }
    ASSERT_EQ(events.size(), 3u);
    EXPECT_EQ(events[0].parts.at(0).second, "brain.Event:2");
    EXPECT_EQ(std::bit_cast<double>(events[1].numbers.at(1)), 998.0);
    EXPECT_EQ(std::bit_cast<double>(events[2].numbers.at(1)), 1000.0);
    EXPECT_EQ(events[1].numbers.at(2), 300u);
    Message summary(events[1].parts.at(0).second);
    ASSERT_EQ(summary.parts.size(), 2u);
    Message loss(summary.parts[0].second), rate(summary.parts[1].second);
    EXPECT_EQ(loss.parts.at(0).second, "first/train/loss");
    EXPECT_EQ(std::bit_cast<float>(static_cast<std::uint32_t>(loss.numbers.at(2))), 0.5f);
    EXPECT_EQ(rate.parts.at(0).second, "first/lr");
    Message kept(Message(events[2].parts.at(0).second).parts.at(0).second);
    EXPECT_EQ(kept.parts.at(0).second, "first/kept/test/f1.3");
}

}  // namespace
}  // namespace weft::train
