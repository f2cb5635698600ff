#include "weft/runtime/again.h"

#include <array>
#include <bit>

#include "weft/graph/node.h"
#include "weft/graph/origin.h"
#include "weft/rewrite/rewrite.h"
#include "weft/runtime/executor.h"

namespace weft {
namespace {

constexpr std::size_t most_nodes = 32, most_words = 128, remembered = 256;

/// A small pending expression, as words that tell its runs apart from all others'. It is walked breadth first; inputs are named by their
/// number in that order, so the words say which are the same. While it lives nobody lets go of the inputs below.
class SmallExpression {
  public:
    /// Walks down from the node; fits() says whether it could.
    SmallExpression(Node& root, KeyParts& parts) : parts_(parts) {
        put(rewriting_version());
        nodes_[node_count_++] = &root;
        for (std::size_t i = 0; fits_ && i < node_count_; ++i) {
            Node& node = *nodes_[i];
            if (node.computed.load(std::memory_order_acquire))
                add_leaf(node);
            else
                add_operation(node);
        }
    }
    ~SmallExpression() { unclaim(0); }
    SmallExpression(const SmallExpression&) = delete;
    SmallExpression& operator=(const SmallExpression&) = delete;

    bool fits() const { return fits_; }
    std::span<const std::uint64_t> words() const { return {words_, word_count_}; }
    std::span<Node* const> leaves() const { return {leaves_, leaf_count_}; }
    std::span<Node* const> below() const { return {nodes_ + 1, node_count_ - 1}; }
    std::size_t hash() const {
        // Each word times an odd number of its place, summed: no product waits for another.
        std::uint64_t sum = 0, odd = 0x9E3779B97F4A7C15u;
        for (std::size_t i = 0; i < word_count_; ++i, odd += 0xD1B54A32D192ED04u) sum += words_[i] * odd;
        return (sum ^ sum >> 32) * 0x9E3779B97F4A7C15u >> 48;
    }
    /// Lets go of all but the expression's node, which is to be materialized now: with its inputs they may go.
    void give_back_below() {
        unclaim(1);
        claimed_count_ = 0;
    }

  private:
    /// The last first: what stands above a node keeps it alive.
    void unclaim(std::size_t first) {
        for (std::size_t i = claimed_count_; i-- > first;) claimed_[i]->unclaim();
    }
    /// Whether so many more words fit; put() does not ask.
    bool words_fit(std::size_t more) { return fits_ = fits_ && word_count_ + more <= most_words; }
    void put(std::uint64_t word) { words_[word_count_++] = word; }
    void add(std::uint64_t word) {
        if (words_fit(1)) put(word);
    }
    std::size_t number_of(Node& node) {
        std::size_t number = 0;
        while (number < node_count_ && nodes_[number] != &node) ++number;
        if (number < node_count_) return number;
        if (number < most_nodes)
            nodes_[node_count_++] = &node;
        else
            fits_ = false;
        return number;
    }
    // A leaf's first word is odd, that of an operation the address of its record.
    void add_leaf(Node& node) {
        const Array& value = node.value();
        std::size_t rank = value.dims.size();
        if (!words_fit(1 + 2 * rank)) return;
        leaves_[leaf_count_++] = &node;
        put(std::uint64_t{rank} << 8 | static_cast<std::uint64_t>(value.dtype) << 1 | 1);
        for (std::int64_t size : value.dims) put(static_cast<std::uint64_t>(size));
        for (std::int64_t stride : value.strides) put(static_cast<std::uint64_t>(stride));
    }
    void add_operation(Node& node) {
        // An alias stands for its first input; a node that another thread computes is read when that is done.
        fits_ = fits_ && node.operation->family != Family::leaf && !node.operation->alias && node.claim();
        if (!fits_) return;
        claimed_[claimed_count_++] = &node;
        std::size_t inputs = node.inputs.size();
        if (!words_fit(2 + inputs)) return;
        put(std::bit_cast<std::uintptr_t>(node.operation));
        put(inputs);
        for (Node* input : node.inputs) put(number_of(*input));
        if (node.attributes) add_attributes(*node.attributes);
    }
    void add_attributes(const Attributes& attributes) {
        parts_.clear();
        attributes.key(parts_);
        for (std::uint64_t word : parts_.words) add(word);
        for (Size size : parts_.sizes) add(static_cast<std::uint64_t>(size.code()));
        for (Offset offset : parts_.offsets) add(static_cast<std::uint64_t>(offset.value.code()));
    }

    KeyParts& parts_;
    std::size_t word_count_ = 0, node_count_ = 0, claimed_count_ = 0, leaf_count_ = 0;
    bool fits_ = true;
    std::uint64_t words_[most_words];
    Node *nodes_[most_nodes], *claimed_[most_nodes], *leaves_[most_nodes];
};
static_assert(alignof(Operation) > 1);

struct Remembered {
    std::vector<std::uint64_t> words;
    std::unique_ptr<Runner> runner;
    std::vector<std::uint8_t> leaves;  // which of the expression's each leaf of its graph is
};

/// This thread's, by their expressions' hashes; another with the same place takes it over. None before the first and after the thread's end,
/// when what is left may still be evaluated.
struct Table {
    Remembered* places[remembered] = {};
    KeyParts parts;  // kept, as is their memory
    ~Table() {
        for (Remembered* place : places) delete place;
        mine = nullptr, ended = true;
    }
    static thread_local constinit Table* mine;
    static thread_local constinit bool ended;

    static Table* get() {
        if (!mine && !ended) {
            thread_local Table table;
            mine = &table;
        }
        return mine;
    }
};
thread_local constinit Table* Table::mine = nullptr;
thread_local constinit bool Table::ended = false;

Remembered*& place_of(Table& table, const SmallExpression& expression) {
    return table.places[expression.hash() % remembered];
}

Array run(const Remembered& how, std::span<Node* const> inputs) {
    const Binding& binding = how.runner->binding();
    std::array<void*, most_nodes> leaves;
    for (std::size_t i = 0; i < how.leaves.size(); ++i)
        leaves[i] = const_cast<void*>(inputs[how.leaves[i]]->value().address());
    const View& result = binding.results[0];
    if (result.base.kind == Base::leaf) {
        const Array& leaf = inputs[how.leaves[static_cast<std::size_t>(result.base.index)]]->value();
        return result_array(result, leaf.buffer, leaf.offset * static_cast<std::int64_t>(size_of(leaf.dtype)));
    }
    BufferHandle buffer = Buffer::allocate(binding.outputs[0].bytes);
    void* output = buffer->data();
    how.runner->run({leaves.data(), how.leaves.size()}, {&output, 1});
    return result_array(result, std::move(buffer), 0);
}

}  // namespace

bool run_again(Node& node) {
    Table* table = Table::mine;
    if (node.symbolic || !table) return false;
    SmallExpression expression(node, table->parts);
    if (!expression.fits()) return false;
    const Remembered* how = place_of(*table, expression);
    if (!how || !std::ranges::equal(how->words, expression.words())) return false;
    Leaves leaves = leaves_below(node, expression.below());
    Array value = run(*how, expression.leaves());
    expression.give_back_below();
    node.materialize_claimed(std::move(value), std::move(leaves));
    return true;
}

void remember(Node& node, const Graph& graph, const std::shared_ptr<const Binding>& binding) {
    if (node.symbolic || binding->outputs.size() > 1) return;
    if (binding->outputs.empty() != (binding->results[0].base.kind == Base::leaf)) return;
    Table* table = Table::get();
    if (!table) return;
    SmallExpression expression(node, table->parts);
    if (!expression.fits()) return;
    auto made = std::make_unique<Remembered>();
    for (std::int32_t leaf : graph.leaves) {
        auto found = std::ranges::find(expression.leaves(), graph.entries[static_cast<std::size_t>(leaf)].node);
        if (found == expression.leaves().end()) return;
        made->leaves.push_back(static_cast<std::uint8_t>(found - expression.leaves().begin()));
    }
    made->words.assign(expression.words().begin(), expression.words().end());
    made->runner = std::make_unique<Runner>(binding);
    Remembered*& place = place_of(*table, expression);
    delete place;
    place = made.release();
}

}  // namespace weft
