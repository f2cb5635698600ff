#include "weft/backend/cpu/families.h"
#include "weft/backend/cpu/strided.h"
#include "weft/core/literal.h"
#include "weft/ops/creation.h"

namespace weft::cpu {
namespace {

class Iota final : public Kernel {
  public:
    explicit Iota(const Layout& output) : count_(output.dims[0]), stride_(output.strides[0]) {}
    std::string_view by() const override { return "iota"; }
    void run(void* const* operands, std::byte*) const override {
        auto* to = static_cast<std::int64_t*>(operands[0]);
        parallel_blocks(count_, block_elements, [&](std::int64_t first, std::int64_t last) {
            for (std::int64_t i = first; i < last; ++i) to[i * stride_] = i;
        });
    }

  private:
    std::int64_t count_, stride_;
};

class Number final : public Kernel {
  public:
    Number(const Literal& literal, const Layout& output) : bytes_(size_of(output.dtype)) {
        with_dtype(output.dtype, [&]<class T>(TypeTag<T>) {
            T value = literal.as<T>();
            std::memcpy(value_, &value, sizeof value);
        });
    }
    std::string_view by() const override { return "number"; }
    void run(void* const* operands, std::byte*) const override { std::memcpy(operands[0], value_, bytes_); }

  private:
    std::size_t bytes_;
    alignas(16) std::byte value_[16];
};

}  // namespace

std::unique_ptr<Kernel> constant_kernel(const Node& node, const Layout& output) {
    if (attributes_if<IotaAttributes>(node)) return std::make_unique<Iota>(output);
    if (auto* size = attributes_if<SizeAttributes>(node))
        return std::make_unique<Number>(Literal(size->size.value()), output);
    if (auto* constant = attributes_if<ConstantAttributes>(node))
        return std::make_unique<Number>(constant->value, output);
    throw InternalError(text(node.operation->name, ": the CPU has no kernel for this constant"));
}

}  // namespace weft::cpu
