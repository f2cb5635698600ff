#include "weft/graph/node.h"

#include <algorithm>
#include <mutex>
#include <vector>

#include "weft/graph/evaluator.h"
#include "weft/graph/made_nodes.h"
#include "weft/graph/node_memory.h"
#include "weft/graph/parameter.h"

namespace weft {
namespace {

// What may wait before it is computed: deep chains cost memory for nodes, held inputs cost memory for numbers.
constexpr std::uint32_t most_depth = 4096;
constexpr std::uint64_t most_bytes = std::uint64_t{1} << 30;

// Of all MadeNodes of this thread, the outermost's first.
struct Written {
    int depth = 0;
    std::vector<Tensor> nodes;
};

/// What scopes say on this thread, in one piece: a node that is made asks for it once.
struct Scopes {
    int keep_pending = 0;
    const std::source_location* line = nullptr;  // of the outermost LineScope
    std::vector<std::string_view>* modules = nullptr;
    Written* written = nullptr;
};
thread_local constinit Scopes scopes;

// Computes the inputs if what waits above the leaves has grown past the bounds, so that forgetting to ask leaks nothing.
void bound_pending(Node& node) {
    if ((node.depth <= most_depth && node.pending_bytes <= most_bytes) || node.symbolic) return;
    std::vector<Tensor> inputs;
    for (Node* input : node.inputs) {
        bool result = input->operation->family == Family::region && node.operation->family == Family::region;
        if (!result) inputs.push_back(handle(input));  // a loop has no numbers; its results do
    }
    if (inputs.empty()) return;
    eval(inputs);
    node.depth = 1;
    node.pending_bytes = 0;
}

void note_input(Node& node, const Node& input) {
    bool computed = input.computed.load(std::memory_order_acquire);
    node.depth = std::max(node.depth, computed ? 1 : input.depth + 1);
    node.symbolic |= input.symbolic;
    // Leaves add up along a chain; of two chains that meet only the heavier counts, or shared inputs would count doubly.
    if (computed)
        node.pending_bytes += input.value().buffer->bytes();
    else
        node.pending_bytes = std::max(node.pending_bytes, input.pending_bytes);
}

std::mutex& node_mutex() {
    static std::mutex* mutex = new std::mutex;  // outlives whatever runs at the end of the process
    return *mutex;
}

}  // namespace

NodeLock& Node::lock() {
    static NodeLock lock;
    return lock;
}

void NodeLock::lock() { node_mutex().lock(); }
void NodeLock::unlock() { node_mutex().unlock(); }

std::unique_ptr<Node> Node::make(Room room) { return std::unique_ptr<Node>(new (room) Node(room)); }

void* Node::operator new(std::size_t size, Room room) {
    static_assert(sizeof(Node) % alignof(Numbers) == 0 && sizeof(Node) <= node_place);
    return room == Room::numbers ? take_computed_place(size + sizeof(Numbers)) : take_node_place();
}

void Node::operator delete(void* memory, Room room) {
    room == Room::numbers ? give_computed_place(memory) : give_node_place(memory);
}

void Node::operator delete(Node* node, std::destroying_delete_t) {
    Room room = node->room;
    node->~Node();
    operator delete(static_cast<void*>(node), room);
}

Node::~Node() {
    if (!numbers_) return;
    if (room == Room::numbers)
        numbers_->~Numbers();
    else
        delete numbers_;
}

void Node::refuse_pending() const {
    throw InternalError(
        text("the numbers of a node of ", operation->name, " are read before it is computed", place(where)));
}

void Node::fill(Array&& array, Leaves&& leaves) {
    numbers_ = room == Room::numbers ? new (this + 1) Numbers(std::move(array), std::move(leaves))
                                     : new Numbers(std::move(array), std::move(leaves));
    computed.store(true, std::memory_order_release);
}

std::shared_ptr<Cell> Node::cell() const {
    return computed.load(std::memory_order_acquire) ? numbers_->cell.lock() : nullptr;
}

void Node::belongs_to(const std::shared_ptr<Cell>& cell) {
    if (computed.load(std::memory_order_acquire) && numbers_->cell.expired()) numbers_->cell = cell;
}

void Node::die() {
    SmallVector<Node*, 16> dead{this};  // a list of its own in place of recursion: chains are long
    while (!dead.empty()) {
        Node* node = dead.back();
        dead.pop_back();
        for (Node* input : node->inputs) {
            if (last(*input)) dead.push_back(input);
        }
        delete node;
    }
}

void Node::set_value(Array&& array, Leaves&& leaves, bool has_claim) {
    Inputs dropped;
    {
        std::lock_guard guard(lock());  // whoever walks inputs sees all of this or nothing
        if (computed.load(std::memory_order_relaxed)) return;
        // A function that is being differentiated keeps what its derivative will ask for. Where another thread reads the inputs at
        // this moment they stay until the node goes.
        if (scopes.keep_pending == 0 && (has_claim || claim())) dropped = std::move(inputs);
        if (!is_inexact(dtype)) leaves.clear();
        fill(std::move(array), std::move(leaves));
    }
    for (Node* input : dropped) input->release();
}

void Node::materialize(Array array, Leaves leaves) { set_value(std::move(array), std::move(leaves), false); }
void Node::materialize_claimed(Array&& array, Leaves&& leaves) { set_value(std::move(array), std::move(leaves), true); }

MadeNodes::MadeNodes() {
    if (!scopes.written) scopes.written = new Written;
    ++scopes.written->depth;
    first_ = scopes.written->nodes.size();
}
MadeNodes::~MadeNodes() {
    if (--scopes.written->depth > 0) return;  // what it made is made by the one around it too
    delete scopes.written;
    scopes.written = nullptr;
}
std::span<const Tensor> MadeNodes::nodes() const {
    return std::span<const Tensor>(scopes.written->nodes).subspan(first_);
}

KeepPending::KeepPending() { ++scopes.keep_pending; }
KeepPending::~KeepPending() { --scopes.keep_pending; }

LineScope::LineScope(const std::source_location& where) : outermost_(!scopes.line && where.line() != 0) {
    if (outermost_) scopes.line = &where;
}
LineScope::~LineScope() {
    if (outermost_) scopes.line = nullptr;
}

ModuleScope::ModuleScope(std::string_view name) {
    if (!scopes.modules) scopes.modules = new std::vector<std::string_view>;
    scopes.modules->push_back(name);
}
ModuleScope::~ModuleScope() {
    scopes.modules->pop_back();
    if (scopes.modules->empty()) {
        delete scopes.modules;
        scopes.modules = nullptr;
    }
}

std::string place(const std::source_location& where) {
    std::string path;
    if (scopes.modules) {
        for (std::string_view name : *scopes.modules) path += text(path.empty() ? "\n  in " : " / ", name);
    }
    const std::source_location& users =
        scopes.line ? *scopes.line : where;  // inside a layer or a loss: the line that called it
    if (users.line() == 0) return path;
    return text(path, "\n  at ", users.file_name(), ":", users.line());
}

namespace {

// A node without inputs yet, and all else.
std::unique_ptr<Node> begin_node(const Operation& operation, std::span<const Tensor> inputs,
                                 AttributesHandle&& attributes, const std::source_location& where) {
    const Scopes& here = scopes;
    bool symbolic = false;
    for (const Tensor& input : inputs) {
        if (!input)
            throw ValueError(
                text(operation.name, ": an operand is an empty Tensor, which holds nothing", place(where)));
        symbolic |= input.node()->symbolic;
    }
    std::unique_ptr<Node> node = Node::make(symbolic || here.keep_pending > 0 ? Room::none : Room::numbers);
    try {
        Meta meta = operation.infer(operation, inputs, attributes.get());
        (void)element_count(meta.shape);  // refuses more elements than 64 bits count
        node->shape = std::move(meta.shape);
        node->dtype = meta.dtype;
    } catch (Error& error) {
        error.add(place(where));
        throw;
    }
    node->operation = &operation;
    node->attributes = std::move(attributes);
    node->where = here.line ? *here.line : where;
    node->depth = 1;
    for (const Tensor& input : inputs) note_input(*node, *input.node());
    return node;
}

void finish_node(const Tensor& made) {
    if (scopes.keep_pending == 0)
        bound_pending(*made.node());
    else if (scopes.written)
        scopes.written->nodes.push_back(made);
}

}  // namespace

Tensor make_node(const Operation& operation, std::span<const Tensor> inputs, AttributesHandle attributes,
                 std::source_location where) {
    std::unique_ptr<Node> node = begin_node(operation, inputs, std::move(attributes), where);
    for (const Tensor& input : inputs) {
        input.node()->retain();
        node->inputs.push_back(input.node());
    }
    Tensor result(node.release());
    finish_node(result);
    return result;
}

Tensor take_node(const Operation& operation, std::span<Tensor> inputs, AttributesHandle attributes,
                 std::source_location where) {
    std::unique_ptr<Node> node = begin_node(operation, inputs, std::move(attributes), where);
    for (Tensor& input : inputs) node->inputs.push_back(input.release());
    Tensor result(node.release());
    finish_node(result);
    return result;
}

Tensor make_node(const Operation& operation, std::initializer_list<Tensor> inputs, AttributesHandle attributes,
                 std::source_location where) {
    return make_node(operation, std::span<const Tensor>(inputs.begin(), inputs.size()), std::move(attributes), where);
}

}  // namespace weft
