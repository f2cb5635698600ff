#include "weft/graph/graph.h"

#include <mutex>

#include "weft/base/content_table.h"
#include "weft/graph/node_memory.h"
#include "weft/graph/node_numbers.h"

namespace weft {
namespace {

// Node -> entry.
class NodeTable {
  public:
    explicit NodeTable(std::size_t expected) : numbers_(expected) { entries_.reserve(expected * 2); }
    // -1: not met; -2: met, its inputs are being gathered
    std::int32_t& at(Node* node) { return (*this)[number(node)]; }
    /// By the node's number in this table, which costs a search the first time.
    std::int32_t& operator[](std::int32_t number) { return entries_[static_cast<std::size_t>(number)]; }
    std::int32_t number(Node* node) {
        auto [number, fresh] = numbers_.number(node);
        if (fresh) entries_.push_back(-1);
        return number;
    }

  private:
    NodeNumbers numbers_;
    std::vector<std::int32_t> entries_;
};

class Gatherer {
  public:
    Gatherer(Graph& graph, std::size_t expected, Aliases aliases)
        : graph_(graph), table_(expected), merged_(expected), aliases_(aliases) {
        graph.entries.reserve(expected), graph.edges.reserve(2 * expected), sizes_.reserve(expected);
    }

    void number_leaf(Node* node) {
        std::int32_t number = add(node);
        table_.at(node) = number;
    }

    void walk(Node* output) {
        stack_.push_back(output);
        while (!stack_.empty()) {
            Node* node = stack_.back();
            std::int32_t number = table_.number(node), state = table_[number];
            if (state >= 0) {
                stack_.pop_back();
            } else if (state == -2 || leaf(node) || node->inputs.empty()) {
                stack_.pop_back();
                table_[number] = alias(node) ? table_.at(node->inputs[0]) : add(node);
            } else if (alias(node)) {
                table_[number] = -2;
                stack_.push_back(node->inputs[0]);
            } else {
                table_[number] = -2;
                for (std::size_t i = node->inputs.size(); i-- > 0;) {
                    __builtin_prefetch(node->inputs[i]);  // what is far away comes while what is near is gathered
                    stack_.push_back(node->inputs[i]);
                }
            }
        }
        graph_.outputs.push_back(table_.at(output));
    }

    void finish() {
        Hasher hasher;
        hasher.add(structure_.result().high), hasher.add(structure_.result().low);
        std::vector<std::int64_t> distinct;
        for (std::int64_t size : sizes_)
            hasher.add(size == 0 || size == 1 ? static_cast<std::uint64_t>(size) : 2 + class_of(size, distinct));
        for (std::int32_t output : graph_.outputs) hasher.add(static_cast<std::uint64_t>(output));
        graph_.structure = hasher.result();
        graph_.sizes = std::move(sizes_);
        graph_.sizes.insert(graph_.sizes.end(), offsets_.begin(), offsets_.end());
    }

  private:
    static bool leaf(const Node* node) {
        return node->computed.load(std::memory_order_acquire) || node->operation->family == Family::leaf;
    }

    bool alias(const Node* node) const { return aliases_ == Aliases::hidden && node->operation->alias && !leaf(node); }

    static std::uint64_t class_of(std::int64_t size, std::vector<std::int64_t>& distinct) {
        auto at = std::find(distinct.begin(), distinct.end(), size);
        if (at == distinct.end()) at = distinct.insert(at, size);
        return static_cast<std::uint64_t>(at - distinct.begin());
    }

    std::int32_t add(Node* node) {
        parts_.clear(), inputs_.clear();
        if (leaf(node))
            describe_leaf(*node);
        else
            describe_operation(*node);
        Hasher hasher;  // of this entry whole: what makes two expressions equal
        for (std::uint64_t word : parts_.words) hasher.add(word);
        Hasher whole = hasher;
        for (Size size : parts_.sizes) whole.add(static_cast<std::uint64_t>(size.code()));
        for (Offset offset : parts_.offsets) whole.add(static_cast<std::uint64_t>(offset.value.code()));
        // Leaves are themselves; of custom derivatives it cannot be seen whether their rules are the same.
        if (leaf(node) || node->operation->alias) whole.add(reinterpret_cast<std::uintptr_t>(node));
        std::int32_t latest = inputs_.empty() ? -1 : *std::max_element(inputs_.begin(), inputs_.end());
        auto [at, fresh] =
            merged_.known(key_near(whole.result(), latest), static_cast<std::int32_t>(graph_.entries.size()));
        if (!fresh) return at;
        structure_.add(hasher.result().high), structure_.add(hasher.result().low);
        for (Size size : parts_.sizes) sizes_.push_back(size.code());
        for (Offset offset : parts_.offsets) offsets_.push_back(offset.value.code());
        return append(node);
    }

    void describe_leaf(const Node& node) {
        auto& words = parts_.words;
        words.push_back(node.computed.load(std::memory_order_relaxed) ? 1 : 2);
        words.push_back(static_cast<std::uint64_t>(node.dtype));
        words.push_back(node.shape.size());
        for (Size size : node.shape) parts_.sizes.push_back(size);
        bool plain = !node.computed.load(std::memory_order_relaxed) || node.value().contiguous();
        words.push_back(plain);
        if (plain) return;
        for (std::int64_t stride : node.value().strides)
            parts_.offsets.push_back({Size(stride < 0 ? -stride : stride)}), words.push_back(stride < 0);
    }

    void describe_operation(const Node& node) {
        auto& words = parts_.words;
        words.push_back(reinterpret_cast<std::uintptr_t>(node.operation));
        for (Node* input : node.inputs) inputs_.push_back(table_.at(input));
        for (std::int32_t input : inputs_) words.push_back(static_cast<std::uint64_t>(input));
        if (node.attributes) node.attributes->key(parts_);
        // Sizes that come out of arithmetic (a concatenation, a convolution) are compared too, like those that were written down.
        Family family = node.operation->family;
        bool follows = family == Family::elementwise || family == Family::reduce || family == Family::view ||
                       family == Family::contraction;
        if (!follows) parts_.sizes.insert(parts_.sizes.end(), node.shape.begin(), node.shape.end());
    }

    std::int32_t append(Node* node) {
        auto number = static_cast<std::int32_t>(graph_.entries.size());
        Graph::Entry entry{node, static_cast<std::int32_t>(graph_.edges.size()), 0, leaf(node)};
        if (entry.leaf) {
            graph_.leaves.push_back(number);
        } else {
            graph_.edges.insert(graph_.edges.end(), inputs_.begin(), inputs_.end());
            entry.count = static_cast<std::int32_t>(inputs_.size());
        }
        node->retain();
        graph_.entries.push_back(entry);
        return number;
    }

    Graph& graph_;
    NodeTable table_;
    std::vector<Node*> stack_;
    KeyParts parts_;                       // of the entry that is being added
    SmallVector<std::int32_t, 8> inputs_;  // and its inputs' numbers; none of a leaf
    ContentTable<std::int32_t> merged_;
    Hasher structure_;
    std::vector<std::int64_t> sizes_, offsets_;
    Aliases aliases_;
};

}  // namespace

Graph::~Graph() {
    for (Entry& entry : entries) entry.node->release();
}

namespace {

// How many nodes to make room for: at least as many as the graph is deep. A deep one is often that of a program and of its derivative, so twice
// as many, if there are so many nodes at all: tables that grow are copied, page by page.
std::size_t expected_below(std::span<Node* const> outputs) {
    constexpr std::size_t least = 32, deep = 1024;
    std::size_t expected = least;
    for (Node* output : outputs) {
        if (!output->computed.load(std::memory_order_acquire))
            expected = std::max<std::size_t>(expected, output->depth);
    }
    if (expected < deep) return expected;
    return std::clamp(node_memory_bytes() / node_place, expected, 2 * expected);
}

}  // namespace

Graph gather(std::span<Node* const> outputs, std::span<Node* const> leaves, Aliases aliases, std::size_t expected) {
    Graph graph;
    std::lock_guard guard(Node::lock());
    if (expected == 0) expected = expected_below(outputs);
    Gatherer gatherer(graph, expected, aliases);
    for (Node* leaf : leaves) gatherer.number_leaf(leaf);
    for (Node* output : outputs) gatherer.walk(output);
    gatherer.finish();
    return graph;
}

std::string str(const Graph& graph, std::size_t most_lines) {
    std::ostringstream out;
    std::size_t count = graph.entries.size();
    std::size_t head = count > most_lines ? most_lines / 2 : count;
    for (std::size_t i = 0; i < count; ++i) {
        if (i == head) {
            std::size_t resume = count - (most_lines - head);
            out << "... " << resume - i << " more ...\n";
            i = resume;
        }
        const Node& node = *graph.entries[i].node;
        out << '%' << i << " = " << (graph.entries[i].leaf && !node.symbolic ? "array" : node.operation->name) << '(';
        const char* comma = "";
        for (std::int32_t input : graph.inputs(static_cast<std::int32_t>(i)))
            out << comma << '%' << input, comma = ", ";
        if (node.attributes && !node.computed) {
            out << comma;
            node.attributes->print(out);
        }
        out << ") " << node.dtype << ' ' << node.shape << '\n';
    }
    out << "outputs:";
    for (std::int32_t output : graph.outputs) out << " %" << output;
    out << '\n';
    return out.str();
}

}  // namespace weft
