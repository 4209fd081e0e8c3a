// SPDX-License-Identifier: Apache-2.0
#pragma once
// Kith: vectors for anything from the company it keeps. All of the library.
//
//   kith::Context context;                                  // threads, cancelling
//   auto plan = kith::plan({.sources = {"films.csv"}});     // looks at the data, checks everything
//   kith::train(std::move(plan), context);                  // writes films.kith
//   const kith::Model films = kith::open("films.kith");     // mapped
//   for (const auto& answer : kith::near(films, {"director=Ridley Scott"}, {}, context)) ...
//
// Everything throws kith::Error and nothing else but std::bad_alloc; nothing is printed.

#include "kith/compress.h"
#include "kith/context.h"
#include "kith/counts.h"
#include "kith/embed.h"
#include "kith/error.h"
#include "kith/evaluate.h"
#include "kith/events.h"
#include "kith/files.h"
#include "kith/model.h"
#include "kith/models.h"
#include "kith/near.h"
#include "kith/phrases.h"
#include "kith/predict.h"
#include "kith/recommend.h"
#include "kith/recovery.h"
#include "kith/results.h"
#include "kith/score.h"
#include "kith/settings.h"
#include "kith/text.h"
#include "kith/titles.h"
#include "kith/tokens.h"
#include "kith/topics.h"
#include "kith/train.h"
#include "kith/tune.h"
#include "kith/update.h"
#include "kith/vectors.h"
#include "kith/version.h"
#include "kith/wordnet.h"
