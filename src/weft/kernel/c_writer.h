// Programs as statements of C, the same in every dialect but for a few words. What an opcode means is that of kernel/element.h: plain
// operators where C says the same, helper functions, each defined once a text, where it does not.
// Callers: kernel/print_c.cpp. c_writer.cpp defines helpers, c_expressions.cpp writes expressions.
#pragma once

#include <set>
#include <string>
#include <vector>

#include "weft/kernel/c_dialect.h"
#include "weft/kernel/loop.h"

namespace weft {

class CWriter {
  public:
    explicit CWriter(Dialect dialect) : dialect_(dialect), words_(words_of(dialect)) {}

    /// The statements of a program, a line an instruction, each indented; inputs[i] is the expression of input i.
    /// `values` receives an expression for every position: the name of a constant variable, or a literal.
    std::string statements(const Program& program, const std::vector<std::string>& inputs, std::string_view indent,
                           std::vector<std::string>& values);
    /// `a`, a variable or a primary expression, as another type.
    std::string cast(const std::string& a, DType from, DType to);
    std::string unary(Opcode opcode, DType dtype, const std::string& a);
    std::string binary(Opcode opcode, DType dtype, const std::string& a, const std::string& b);
    /// A function (a, a_at, b, b_at): whether b at place b_at is a better choice than a at a_at.
    std::string better(Reduction reduction, DType dtype);
    std::string literal(DType dtype, const Literal& value);
    /// A function (k0, k1, stream, number): a word of random bits.
    std::string philox_word();

    /// The helper functions that all the expressions so far need, in order.
    const std::string& definitions() const { return definitions_; }

  private:
    std::string expression(const Program& program, const Instruction& at, const std::vector<std::string>& values);
    std::string compare(Opcode opcode, DType dtype, const std::string& a, const std::string& b);
    std::string integer_binary(Opcode opcode, DType dtype, const std::string& a, const std::string& b);
    std::string mathematical(std::string_view name, DType dtype) const;
    /// The name of the opcode's helper for the type, defined if it is not yet.
    std::string helper(Opcode opcode, DType dtype);
    std::string saturating(DType from, DType to);
    std::string bitcast(DType from, DType to);
    std::string widen(DType half);
    std::string round(DType half);
    std::string pair_of(DType complex);
    std::string function(const Function& function, DType dtype);
    std::string define(std::string name, std::string_view pattern, DType dtype);

    Dialect dialect_;
    const DialectWords& words_;
    std::string definitions_;
    std::set<std::string, std::less<>> defined_;
};

}  // namespace weft
