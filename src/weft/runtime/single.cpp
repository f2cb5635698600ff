#include "weft/runtime/single.h"

#include <array>
#include <bit>

#include "weft/graph/node.h"
#include "weft/graph/origin.h"
#include "weft/rewrite/rewrite.h"
#include "weft/runtime/executor.h"

namespace weft {
namespace {

constexpr std::size_t most_inputs = 4, most_words = 64, remembered = 256;

using Inputs = SmallVector<Node*, most_inputs>;

/// What tells one operation's runs apart, as words.
class Key {
  public:
    /// Whether the node is one that is remembered.
    bool of(const Node& node, const Inputs& inputs) {
        count_ = 0, fits_ = inputs.size() <= most_inputs;
        add(std::bit_cast<std::uintptr_t>(node.operation));
        add(rewriting_version());
        if (node.attributes) {
            thread_local KeyParts parts;
            parts.clear();
            node.attributes->key(parts);
            for (std::uint64_t word : parts.words) add(word);
            for (Size size : parts.sizes) add(static_cast<std::uint64_t>(size.code()));
            for (Offset offset : parts.offsets) add(static_cast<std::uint64_t>(offset.value.code()));
        }
        for (std::size_t i = 0; fits_ && i < inputs.size(); ++i) {
            for (std::size_t j = 0; j < i; ++j) add(inputs[i] == inputs[j]);
            add_input(*inputs[i]);
        }
        return fits_;
    }
    std::size_t hash() const {
        std::uint64_t mixed = count_;
        for (std::size_t i = 0; i < count_; ++i)
            mixed = (mixed ^ words_[i]) * 0x9E3779B97F4A7C15u, mixed ^= mixed >> 29;
        return mixed;
    }
    friend bool operator==(const Key& a, const Key& b) {
        return a.count_ == b.count_ &&
               std::equal(a.words_.begin(), a.words_.begin() + static_cast<std::ptrdiff_t>(a.count_), b.words_.begin());
    }

  private:
    void add(std::uint64_t word) {
        if (count_ < most_words)
            words_[count_++] = word;
        else
            fits_ = false;
    }
    void add_input(const Node& input) {
        add(static_cast<std::uint64_t>(input.dtype));
        if (input.computed.load(std::memory_order_acquire)) {
            const Array& value = input.value;
            add(value.dims.size());
            for (std::int64_t size : value.dims) add(static_cast<std::uint64_t>(size));
            for (std::int64_t stride : value.strides) add(static_cast<std::uint64_t>(stride));
        } else if (input.operation == &constant_operation) {
            const Literal& literal = input.attributes_as<ConstantAttributes>().value;
            add(most_words + static_cast<std::uint64_t>(literal.kind));
            add(static_cast<std::uint64_t>(literal.integer)), add(std::bit_cast<std::uint64_t>(literal.real));
            add(std::bit_cast<std::uint64_t>(literal.imaginary));
        } else {
            fits_ = false;
        }
    }

    std::array<std::uint64_t, most_words> words_;
    std::size_t count_ = 0;
    bool fits_ = true;
};

struct Remembered {
    Key key;
    std::unique_ptr<Runner> runner;
    SmallVector<std::uint8_t, most_inputs> leaves;  // the input that each leaf of its graph is
};

/// This thread's; another key with the same place takes it over.
Remembered*& place_of(const Key& key) {
    struct Table {
        std::array<Remembered*, remembered> places{};
        ~Table() {
            for (Remembered* place : places) delete place;
        }
    };
    thread_local Table table;
    return table.places[key.hash() % remembered];
}

/// The node's inputs, each with a count of its own: others may compute the node meanwhile, and let go of them. None, if it has been
/// computed, or has too many. With them, under the same lock, what it will remember of its leaves.
class Held {
  public:
    explicit Held(Node& node) {
        std::lock_guard guard(Node::lock());
        if (node.inputs.size() > most_inputs) return;
        for (Node* input : node.inputs) {
            input->retain();
            inputs.push_back(input);
        }
        leaves = leaves_below(node, {inputs.begin(), inputs.size()});
    }
    ~Held() {
        for (Node* input : inputs) input->release();
    }
    Held(const Held&) = delete;
    Held& operator=(const Held&) = delete;
    Inputs inputs;
    std::vector<std::weak_ptr<const char>> leaves;
};

Array run(const Remembered& how, const Inputs& inputs) {
    const Binding& binding = how.runner->binding();
    std::array<void*, most_inputs> leaves{};
    for (std::size_t i = 0; i < how.leaves.size(); ++i)
        leaves[i] = const_cast<void*>(inputs[how.leaves[i]]->value.address());
    const View& result = binding.results[0];
    if (result.base.kind == Base::leaf) {
        const Array& leaf = inputs[how.leaves[static_cast<std::size_t>(result.base.index)]]->value;
        return result_array(result, leaf.buffer, leaf.offset * static_cast<std::int64_t>(size_of(leaf.dtype)));
    }
    BufferHandle buffer = Buffer::allocate(binding.outputs[0].bytes);
    void* output = buffer->data();
    how.runner->run({leaves.data(), how.leaves.size()}, {&output, 1});
    return result_array(result, buffer, 0);
}

}  // namespace

bool run_single(Node& node) {
    if (node.symbolic) return false;
    Held held(node);
    if (held.inputs.empty()) return false;
    Key key;
    if (!key.of(node, held.inputs)) return false;
    const Remembered* how = place_of(key);
    if (!how || !(how->key == key)) return false;
    Array value = run(*how, held.inputs);
    node.materialize(std::move(value), std::move(held.leaves));
    return true;
}

void remember_single(const Graph& graph, const std::shared_ptr<const Binding>& binding) {
    const Node& node = graph.node(graph.outputs[0]);
    const Graph::Entry& entry = graph.entries[static_cast<std::size_t>(graph.outputs[0])];
    if (graph.outputs.size() != 1 || entry.leaf || entry.count == 0 || binding->outputs.size() > 1) return;
    if (binding->outputs.empty() != (binding->results[0].base.kind == Base::leaf)) return;
    Inputs inputs;
    for (std::int32_t input : graph.inputs(graph.outputs[0]))
        inputs.push_back(graph.entries[static_cast<std::size_t>(input)].node);
    auto made = std::make_unique<Remembered>();
    if (!made->key.of(node, inputs)) return;
    for (std::int32_t leaf : graph.leaves) {
        auto found = std::find(inputs.begin(), inputs.end(), graph.entries[static_cast<std::size_t>(leaf)].node);
        if (found == inputs.end()) return;
        made->leaves.push_back(static_cast<std::uint8_t>(found - inputs.begin()));
    }
    made->runner = std::make_unique<Runner>(binding);
    Remembered*& place = place_of(made->key);
    delete place;
    place = made.release();
}

}  // namespace weft
