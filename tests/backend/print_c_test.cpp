// The printed C, compiled by this machine's compiler into one shared object: judged by the interpreter, to the bit.
#include "weft/kernel/print_c.h"

#include <dlfcn.h>
#include <gmock/gmock.h>

#include <filesystem>
#include <fstream>

#include "backend/kernel_cases.h"
#include "message.h"

namespace weft {
namespace {

namespace fs = std::filesystem;

bool has_compiler() { return std::system("cc --version >/dev/null 2>&1") == 0; }

/// A shared object of the kernels, each called through a function "call_<name>" of one form.
class CompiledC {
  public:
    using Call = void (*)(const void* const* loads, void* const* stores, const std::int64_t* numbers);

    CompiledC(const std::vector<NamedLoop>& loops, const char* options) {
        char pattern[] = "/tmp/weft-print-c-XXXXXX";
        folder_ = mkdtemp(pattern);
        std::string source = (folder_ / "kernels.c").string(), object = (folder_ / "kernels.so").string();
        std::ofstream file(source);
        file << print_c(loops, Dialect::c);
        for (const NamedLoop& named : loops) file << caller(named);
        file.close();
        std::string command =
            text("cc ", options, " -w -ffp-contract=off -fPIC -shared -o ", object, " ", source, " -lm");
        if (std::system(command.c_str()) == 0) handle_ = dlopen(object.c_str(), RTLD_NOW);
    }
    ~CompiledC() {
        if (handle_) dlclose(handle_);
        fs::remove_all(folder_);
    }
    bool made() const { return handle_ != nullptr; }
    Call call(const std::string& name) const {
        return reinterpret_cast<Call>(dlsym(handle_, ("call_" + name).c_str()));
    }

  private:
    static std::string caller(const NamedLoop& named) {
        std::string arguments;
        auto add = [&](const char* array, std::size_t count) {
            for (std::size_t i = 0; i < count; ++i)
                arguments += text(arguments.empty() ? "" : ", ", array, "[", i, "]");
        };
        add("loads", named.loop.loads.size());
        add("stores", named.loop.stores.size());
        add("numbers", numbers_for(named.loop).size());
        return text("\nvoid call_", named.name,
                    "(const void* const* loads, void* const* stores, const int64_t* numbers)\n{\n    ", named.name, "(",
                    arguments, ");\n}\n");
    }

    fs::path folder_;
    void* handle_ = nullptr;
};

Stored run(const CompiledC& compiled, const KernelCase& at) {
    KernelCase copy = at;
    std::vector<const void*> loads;
    std::vector<void*> stores;
    for (Memory& memory : copy.loads) loads.push_back(memory.data());
    for (Memory& memory : copy.stores) stores.push_back(memory.data());
    compiled.call(at.kernel)(loads.data(), stores.data(), numbers_for(at.loop).data());
    Stored stored;
    for (Memory& memory : copy.stores) stored.push_back(memory.bytes);
    return stored;
}

void expect_right(const std::vector<KernelCase>& cases, const char* options) {
    if (!has_compiler()) GTEST_SKIP() << "no C compiler (cc) on this machine";
    CompiledC compiled(kernels_of(cases), options);
    ASSERT_TRUE(compiled.made());
    for (const KernelCase& at : cases) {
        expect_stored(at, expected_of(at), run(compiled, at));
        if (testing::Test::HasFatalFailure()) return;
    }
}

TEST(PrintedC, opcodes_have_the_interpreters_bits) { expect_right(opcode_cases(), "-std=c99 -O1"); }
TEST(PrintedC, functions_have_the_interpreters_bits) { expect_right(function_cases(), "-std=c99 -O1"); }
TEST(PrintedC, random_maps_have_the_interpreters_bits) { expect_right(random_map_cases(300), "-std=c99 -O1"); }
TEST(PrintedC, reductions_join_in_lanes) { expect_right(reduction_cases(), "-std=c99 -O1"); }

}  // namespace
}  // namespace weft
