// The data sets that weft has, a function a family; data/registry.cpp puts them together. What they share is here too. Callers: data/sources_*.cpp.
#pragma once

#include <vector>

#include "weft/data/registry.h"

namespace weft::data {

std::vector<Source> digit_sources();        // digits, mnist
std::vector<Source> file_sources();         // npy, npz, file, csv, parquet
std::vector<Source> picture_sources();      // cifar10, images
std::vector<Source> sequence_sources();     // wav, text
std::vector<Source> sources_of_sources();   // fold
std::vector<Source> sources_of_pairs();     // pairs
std::vector<Source> sources_of_programs();  // arrays (held.h)

Option range_option();
/// "range" is null or [first, beyond the last].
void check_range(const Json& options);
/// The rows of `range`.
Dataset in_range(const Dataset& set, const Json& options);
/// Whether files must be there (FilesUnchecked).
bool files_checked();
/// That a file is there: a path is the experiment's mistake, found before anything is made.
void check_file(const Json& path);
/// The same of a folder or an archive, here or below $WEFT_DATA.
void check_place(const Json& path);
Option word_option(const char* name, const char* fallback, const char* doc, std::vector<std::string> choices = {});
Option integer_option(const char* name, std::int64_t fallback, const char* doc, double least);

}  // namespace weft::data
