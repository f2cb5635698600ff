// Writes cases for numpy_judge_test.py: inputs, results, and the same calls in NumPy's words. The folder is named by
// WEFT_NUMPY_CASES; without it the cases are written where they are thrown away, so that writing them is tested anyway.
#include <gtest/gtest.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>

#include "weft/check/cases.h"
#include "weft/check/compare.h"
#include "weft/graph/node.h"
#include "weft/io/npy.h"

namespace weft {
namespace {

class CaseWriter {
  public:
    explicit CaseWriter(const std::filesystem::path& folder)
        : list_(folder / "cases.tsv"), arrays_(folder / "arrays.npys", std::ios::binary) {}

    /// A line of the list, and the inputs and the result after each other in one file of arrays.
    void write(const Operation& operation, std::string_view expression, const std::vector<Array>& inputs,
               const Tensor& result) {
        Array value = contiguous(result.array());
        bool foreign = value.dtype == DType::bfloat16;  // NumPy has none
        for (const Array& input : inputs) foreign |= input.dtype == DType::bfloat16;
        if (foreign) return;
        list_ << operation.name << '\t' << expression << '\t' << inputs.size() << '\t'
              << (plain_elementwise(operation) ? operation.ulp : -1) << '\t' << joined_error(inputs, value) << '\n';
        for (const Array& input : inputs) put(contiguous(input));
        put(value);
        ++count_;
    }
    std::size_t count() const { return count_; }
    bool good() const { return list_.good() && arrays_.good(); }

  private:
    void put(const Array& array) {
        std::string header = io::npy_header(array);
        arrays_.write(header.data(), static_cast<std::streamsize>(header.size()));
        arrays_.write(static_cast<const char*>(array.address()), static_cast<std::streamsize>(array.bytes()));
    }
    std::ofstream list_, arrays_;
    std::size_t count_ = 0;
};

void write_samples(const Operation& operation, Draw& draw, CaseWriter& writer) {
    for (const Sample& sample : samples_of(operation, Shapes::few)) {
        std::string expression(sample.numpy);
        if (expression.empty() && plain_elementwise(operation) && !operation.numpy.empty()) {
            expression = text(operation.numpy.find('.') == std::string_view::npos ? "np." : "", operation.numpy, "(");
            for (int i = 0; i < operation.arity; ++i) expression += text(i ? ", x" : "x", i);
            expression += ")";
        }
        if (expression.empty()) continue;
        for (const std::vector<DType>& dtypes : dtypes_of(operation, sample)) {
            std::vector<Array> inputs = inputs_of(operation, sample, dtypes, draw);
            try {
                writer.write(operation, expression, inputs, sample.call(tensors_of(inputs)));
            } catch (const DTypeError&) {
                continue;  // not defined for it
            }
        }
    }
}

void write_mixed(const Operation& operation, Draw& draw, CaseWriter& writer) {
    if (!plain_elementwise(operation) || operation.arity != 2 || operation.numpy.empty()) return;
    Sample sample = samples_of(operation, Shapes::few)[0];
    std::string expression =
        text(operation.numpy.find('.') == std::string_view::npos ? "np." : "", operation.numpy, "(x0, x1)");
    for (DType a : all_dtypes()) {
        for (DType b : all_dtypes()) {
            DType meeting = promote(a, b);
            if (a == b || !operation.takes(operation.meet ? operation.meet(meeting) : meeting)) continue;
            std::vector<Array> inputs = inputs_of(operation, sample, {a, b}, draw);
            writer.write(operation, expression, inputs, sample.call(tensors_of(inputs)));
        }
    }
}

TEST(NumpyCases, are_written_for_every_operation_that_numpy_knows) {
    const char* asked = std::getenv("WEFT_NUMPY_CASES");
    std::filesystem::path folder = asked ? asked : testing::TempDir() + "/weft_numpy_cases";
    std::filesystem::create_directories(folder);
    CaseWriter writer(folder);
    for (const Operation* operation : all_operations()) {
        Draw draw(operation->name);
        write_samples(*operation, draw, writer);
        write_mixed(*operation, draw, writer);
    }
    EXPECT_GT(writer.count(), 1000u);
    EXPECT_TRUE(writer.good());
    if (!asked) std::filesystem::remove_all(folder);
}

}  // namespace
}  // namespace weft
