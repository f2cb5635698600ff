// Experiments in a program: described by the names of a file's parts, trained in a folder, asked (docs/experiments.md). Beside weft.h, which
// programs that write their own loop include. Callers: users' programs.
#pragma once

#include "weft/search/report.h"
#include "weft/search/search.h"
#include "weft/train/config.h"
#include "weft/train/described.h"
#include "weft/train/dry_run.h"
#include "weft/train/experiment.h"
#include "weft/train/folds.h"
#include "weft/train/predict.h"
#include "weft/train/run.h"
#include "weft/train/sample.h"
#include "weft/train/sweep.h"
