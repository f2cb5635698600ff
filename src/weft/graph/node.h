// Node: one operation applied to inputs, immutable but for one change in its life: when it has been computed, it takes its value
// and lets go of its inputs. A node's identity is its address; counts are intrusive. No function over nodes recurses, so a chain of
// a million is built, walked and released on a small stack.
// Callers: graph/ and what walks it (autodiff/, compile/, runtime/); users see Tensors.
#pragma once

#include <atomic>
#include <memory>
#include <new>
#include <source_location>

#include "weft/base/small_vector.h"
#include "weft/graph/attributes.h"
#include "weft/graph/operation.h"
#include "weft/graph/origin.h"
#include "weft/graph/tensor.h"

namespace weft {

struct Cell;

/// What a node has from then on that it is computed.
struct Numbers {
    Numbers(Array&& value, Leaves&& leaves) : value(std::move(value)), leaves(std::move(leaves)) {}
    Array value;
    std::weak_ptr<Cell> cell;  // of a leaf that is a Parameter's value: whose
    Leaves leaves;             // below, as they were then; never changed afterwards
};

/// Whether a node has place for its Numbers behind it, in one allocation. Nodes of a program that is traced or rewritten are never computed
/// and come by the ten thousand: without Numbers they take 160 bytes, not 344, side by side (graph/node_memory.h). One that is computed all
/// the same gets them elsewhere.
enum class Room : bool { none, numbers };

/// The one mutex of all nodes, for std::lock_guard.
struct NodeLock {
    void lock();
    void unlock();
};

struct Node {
    // What passes over a graph read stands in front, in about a cache line; a node takes two and a half.
    std::atomic<std::uint32_t> references{1};
    // Where the last pass over a graph wrote this node down (graph/node_numbers.h): a hint, to be checked by who reads it.
    mutable std::atomic<std::uint32_t> mark{0};
    const Operation* operation = nullptr;
    DType dtype = DType::float32;
    const Room room : 1;
    bool symbolic : 1 = false;          // below it stands a declared input: it cannot be computed alone
    std::atomic<bool> computed{false};  // `value()` may be read
    std::atomic<bool> claimed{false};   // somebody reads `inputs` without lock(), or let go of them
    std::uint32_t depth = 0;            // longest way to a leaf or what was computed by then: bounds what is pending
    SmallVector<Node*, 3> inputs;       // counted; guarded by lock() once the node is shared, or by a claim
    AttributesHandle attributes;
    std::uint64_t pending_bytes = 0;  // memory that waiting keeps alive, roughly: bounds it too
    Shape shape;
    Origin origin;
    std::source_location where;

    static std::unique_ptr<Node> make(Room room);
    Node(const Node&) = delete;
    Node& operator=(const Node&) = delete;
    ~Node();
    static void operator delete(Node* node, std::destroying_delete_t);

    void retain() { references.fetch_add(1, std::memory_order_relaxed); }
    void release() {
        if (last(*this)) die();
    }

    template <class T>
    const T& attributes_as() const {
        return static_cast<const AttributesOf<T>&>(*attributes).value;
    }

    /// What a computed node has; InternalError of one that is not.
    const Array& value() const { return numbers().value; }
    const Leaves& leaves() const { return numbers().leaves; }
    /// The same array, to be written by who knows that nobody else reads it.
    Array& memory() { return const_cast<Numbers&>(numbers()).value; }
    /// The Parameter's cell whose value this leaf is; nothing where it is none.
    std::shared_ptr<Cell> cell() const;
    /// Says whose value this computed leaf is, unless that is known; lock() is held.
    void belongs_to(const std::shared_ptr<Cell>& cell);

    /// Makes the node a leaf with these numbers.
    void fill(Array&& array, Leaves&& leaves = {});
    /// Gives the node its numbers and releases its inputs; it remembers the leaves that it came from. The first call wins; later
    /// ones do nothing.
    void materialize(Array array, Leaves leaves);
    /// The right to read `inputs` without lock(), until unclaim() or materialize_claimed(): nobody lets go of them meanwhile. False where
    /// somebody else has it, or they are gone.
    bool claim() { return !claimed.exchange(true, std::memory_order_acq_rel); }
    void unclaim() { claimed.store(false, std::memory_order_release); }
    /// As materialize(), by who has the claim.
    void materialize_claimed(Array&& array, Leaves&& leaves);
    /// Held while inputs of shared nodes are walked or dropped.
    static NodeLock& lock();

    explicit Node(Room room) : room(room) {}  // of a node on the stack: Room::none

  private:
    static void* operator new(std::size_t size, Room room);
    static void operator delete(void* memory, Room room);
    const Numbers& numbers() const {
        if (!computed.load(std::memory_order_acquire)) refuse_pending();
        return *numbers_;
    }
    [[noreturn]] void refuse_pending() const;

    using Inputs = SmallVector<Node*, 3>;
    /// Gives one count up; whether it was the last. Where it is the only one, nobody can be about to take another.
    static bool last(Node& node) {
        return node.references.load(std::memory_order_acquire) == 1 ||
               node.references.fetch_sub(1, std::memory_order_acq_rel) == 1;
    }
    void die();
    void set_value(Array&& array, Leaves&& leaves, bool has_claim);

    Numbers* numbers_ = nullptr;  // once computed: behind the node where there is room, else in memory of their own
};

/// A handle that counts.
inline Tensor handle(Node* node) {
    node->retain();
    return Tensor(node);
}

/// The one way nodes come into being: infers shape and dtype (errors name the user's line), merges nothing, computes nothing
/// unless too much is pending.
Tensor make_node(const Operation& operation, std::span<const Tensor> inputs, AttributesHandle attributes,
                 std::source_location where);
Tensor make_node(const Operation& operation, std::initializer_list<Tensor> inputs, AttributesHandle attributes,
                 std::source_location where);
/// The same; takes the inputs over, which are empty afterwards (not if it throws): their counts become the node's.
Tensor take_node(const Operation& operation, std::span<Tensor> inputs, AttributesHandle attributes,
                 std::source_location where);

/// A leaf without numbers: stands for what is handed over when a function is called.
Tensor input(std::string_view name, const Shape& shape, DType dtype = DType::float32,
             std::source_location where = std::source_location::current());
/// A 0-d constant.
Tensor constant(const Literal& literal, DType dtype);

/// While one lives on this thread, nothing is computed because much is pending: traced functions need their whole graph.
class KeepPending {
  public:
    KeepPending();
    ~KeepPending();
    KeepPending(const KeepPending&) = delete;
    KeepPending& operator=(const KeepPending&) = delete;
};

/// "\n  in Mlp / fc2\n  at train.cpp:12": what is added to an error on its way out.
std::string place(const std::source_location& where);
/// Names a module while its call runs, for errors: "Mlp / fc2".
class ModuleScope {
  public:
    explicit ModuleScope(std::string_view name);
    ~ModuleScope();
};

/// While one lives on this thread, nodes are said to come from its line: so what a layer, a loss, a derivative or a rewrite is made of
/// names the user's line, not weft's own. The outermost counts.
class LineScope {
  public:
    explicit LineScope(const std::source_location& where);
    ~LineScope();
    LineScope(const LineScope&) = delete;
    LineScope& operator=(const LineScope&) = delete;

  private:
    bool outermost_;
};

// The records of the leaves (graph/leaf.cpp).
extern const Operation array_operation, input_operation, constant_operation;
struct InputAttributes {
    std::string name;
    std::int64_t id = 0;  // inputs of the same name are still different inputs
    Shape shape;
    DType dtype = DType::float32;
    template <class V>
    void members(V& visit) {
        visit("name", name), visit("id", id), visit("shape", shape), visit("dtype", dtype);
    }
};
struct ConstantAttributes {
    Literal value;
    DType dtype = DType::float32;
    template <class V>
    void members(V& visit) {
        visit("value", value), visit("dtype", dtype);
    }
};

}  // namespace weft
