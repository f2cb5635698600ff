#include <cstring>

#include "weft/backend/cpu/families.h"
#include "weft/base/error.h"
#include "weft/core/literal.h"
#include "weft/ops/creation.h"

namespace weft::cpu {
namespace {

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
    if (auto* size = attributes_if<SizeAttributes>(node))
        return std::make_unique<Number>(Literal(size->size.value()), output);
    if (auto* constant = attributes_if<ConstantAttributes>(node))
        return std::make_unique<Number>(constant->value, output);
    throw InternalError(text(node.operation->name, ": the CPU has no kernel for this constant"));
}

}  // namespace weft::cpu
