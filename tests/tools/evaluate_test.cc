#include "windhover/tools/evaluate/evaluate.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <fstream>
#include <random>
#include <string>
#include <vector>

#include "windhover/tests/temporary_folder.h"
#include "windhover/tools/error.h"
#include "windhover/tools/evaluate/rivals.h"

namespace windhover::evaluate_test {
namespace {

using nlohmann::ordered_json;

class Evaluate : public ::testing::Test {
 protected:
  // 3,000 prices in their own units, with a text column.
  std::string prices() {
    std::mt19937_64 random(1);
    std::uniform_real_distribution<double> size(40, 250);
    std::normal_distribution<double> noise(0, 20'000);
    const std::string path = folder_.path() / "prices.csv";
    std::ofstream file(path);
    file << "sqm,city,price\n";
    for (int i = 0; i < 3'000; ++i) {
      const double sqm = size(random);
      file << sqm << ',' << "ABC"[i % 3] << ','
           << 20'000 + 3'000 * sqm + 10'000 * (i % 3) + noise(random) << '\n';
    }
    return path;
  }
  // Clicks whose log-odds go to their negative half-way.
  std::string turning_clicks() {
    std::mt19937_64 random(2);
    std::normal_distribution<double> normal;
    std::uniform_real_distribution<double> even;
    const std::string path = folder_.path() / "clicks.csv";
    std::ofstream file(path);
    file << "x,clicked\n";
    for (int i = 0; i < 4'000; ++i) {
      const double x = normal(random);
      const double eta = i < 2'000 ? 2 * x : -2 * x;
      file << x << ',' << (even(random) < 1 / (1 + std::exp(-eta)) ? "yes" : "no") << '\n';
    }
    return path;
  }

  std::string bought_of_visits() {
    std::mt19937_64 random(4);
    std::uniform_int_distribution<int> of(1, 60);
    std::normal_distribution<double> normal;
    const std::string path = folder_.path() / "bought.csv";
    std::ofstream file(path);
    file << "x,visits,bought\n";
    for (int i = 0; i < 3'000; ++i) {
      const double x = normal(random);
      const int visits = of(random);
      std::binomial_distribution<int> bought(visits, 1 / (1 + std::exp(1 - x)));
      file << x << ',' << visits << ',' << bought(random) << '\n';
    }
    return path;
  }

  // Its target is in the crossing of its fields alone, but for one row in ten; and a schema.
  std::string crossed(const std::string& buckets) {
    std::mt19937_64 random(3);
    std::bernoulli_distribution exception(0.1);
    const std::string path = folder_.path() / "crossed.csv";
    std::ofstream file(path);
    file << "a,b,y\n";
    for (int i = 0; i < 4'000; ++i) {
      const auto a = random() % 6, b = random() % 6;
      file << a << ',' << b << ',' << (((a + b) % 2 == 0) != exception(random) ? 1 : 0) << '\n';
    }
    file.close();
    std::ofstream(path + ".toml") << "target = \"y\"\npositive = \"1\"\nsparse = true\n"
                                     "[[feature]]\nhash = [\"a\", \"b\"]\nbuckets = "
                                  << buckets << "\n";
    return path;
  }

  template <class Write>
  std::string file(const char* name, Write&& write) {
    const std::string path = folder_.path() / name;
    std::ofstream out(path);
    write(out);
    return path;
  }

  static EvaluateOptions options(const std::string& path, const std::string& target) {
    EvaluateOptions options;
    options.path = path;
    options.data.target = target;
    return options;
  }

 private:
  testing::TemporaryFolder folder_;
};

double number(const ordered_json& value) { return value.get<double>(); }

TEST_F(Evaluate, APriceInItsOwnUnitsIsScoredFromItsThirdRowOn) {
  EvaluateOptions o = options(prices(), "price");
  o.against = true;
  const ordered_json result = evaluate(o);
  EXPECT_EQ(result["model"], "linear");
  // Noise of 20,000 that is known.
  const double best = -0.5 * std::log(2 * M_PI * M_E * 4e8);
  EXPECT_NEAR(number(result["log_score"]), best, 0.05);
  EXPECT_LT(number(result["reference"]), best - 1);
  EXPECT_NEAR(number(result["coverage"][2]["held"]), 0.9, 4 * std::sqrt(0.09 / 3'000));
  double rows = 0;
  for (const auto& part : result["parts"]) rows += number(part["rows"]);
  EXPECT_EQ(rows, 2'998);
  EXPECT_EQ(result["scored_rows"], 2'998);
  double said = 0;
  for (const auto& [name, share] : result["status"].items()) said += number(share);
  EXPECT_NEAR(said, 1, 1e-12);
  double held = 0;
  for (const auto& [name, share] : result["status"].items())
    held += number(share) * number(result["status_held"].at(name));
  EXPECT_NEAR(held, number(result["coverage"][2]["held"]), 1e-12);
  EXPECT_EQ(result["warm_up"]["due"], 100U);
  EXPECT_GT(number(result["warm_up"]["first_row"]), 25);
  EXPECT_LE(number(result["warm_up"]["first_row"]), 101);
  EXPECT_EQ(number(result["warm_up"]["late"]), 0.0);
  EXPECT_EQ(result["horizon"], "adaptive");
  ASSERT_EQ(result["against"].size(), 2U);
  EXPECT_NEAR(number(result["against"][0]["log_score"]), best, 0.05);
  const std::string text = describe_evaluation(result);
  EXPECT_NE(text.find("Kalman filter"), std::string::npos) << text;
}

// Without a window rows are taken in a minibatch at a time: of the first chunk only the first ones
// come before there are units.
TEST_F(Evaluate, WithoutAWindowToo) {
  for (const Horizon horizon : {Horizon::kAll, Horizon::kFading}) {
    EvaluateOptions o = options(prices(), "price");
    o.chunk = 100;
    o.horizon = horizon;
    o.against = true;
    const ordered_json result = evaluate(o);
    EXPECT_GE(result["scored_rows"], 2'900);
    const double best = -0.5 * std::log(2 * M_PI * M_E * 4e8);
    EXPECT_NEAR(number(result["parts"].back()["log_score"]), best, 4 * 0.71 / std::sqrt(300.0));
  }
}

// There are more columns than a matrix of them could have, and all that is known is in the
// crossing.
TEST_F(Evaluate, SuccessesOfTrialsArePredictedOfAsMany) {
  EvaluateOptions o = options(bought_of_visits(), "bought");
  o.data.trials = "visits";
  const ordered_json result = evaluate(o);
  EXPECT_EQ(result["model"], "binomial");
  EXPECT_GT(number(result["log_score"]), number(result["reference"]) + 0.5);
  EXPECT_NEAR(number(result["coverage"][2]["held"]), 0.9, 4 * std::sqrt(0.09 / 3'000));
}

TEST_F(Evaluate, AStreamOfHashedFeaturesIsScored) {
  EvaluateOptions o = options(crossed("262144"), "");
  o.schema = o.path + ".toml";
  o.chunk = 10;
  const ordered_json result = evaluate(o);
  EXPECT_EQ(result["features"], 262'144);
  EXPECT_EQ(result["structure"], "diagonal");
  EXPECT_EQ(result["scored_rows"], 4'000);
  EXPECT_EQ(result["hashed"][0]["texts"], 36);
  // Who knows each crossing's probability has log 0.1 or log 0.9, of which 400 rows' mean scatters
  // by 0.033. What a prior and 100 rows a crossing leave open costs at most as much again.
  const double best = 0.9 * std::log(0.9) + 0.1 * std::log(0.1);
  EXPECT_NEAR(number(result["parts"].back()["log_score"]), best, 4 * 0.033);
  const std::string text = describe_evaluation(result);
  EXPECT_NE(text.find("hash(a x b): 36 different texts"), std::string::npos) << text;
  o.against = true;
  const ordered_json against = evaluate(o);
  EXPECT_EQ(against["log_score"], result["log_score"]);  // being asked changes nothing
  ASSERT_EQ(against["against"].size(), 3U);
  EXPECT_EQ(against["against"][2]["name"], "AdaGrad, 20 bootstraps");
  for (const auto& rival : against["against"]) {
    EXPECT_GT(number(rival["log_score"]), number(result["reference"]) + 0.1) << rival["name"];
    EXPECT_LT(number(rival["log_score"]), best + 4 * 0.033) << rival["name"];
    EXPECT_NEAR(number(rival["held"]), 0.9, 0.05) << rival["name"];
  }
  EXPECT_LT(number(against["calibration_error"]), 0.1);
  const std::string beside = describe_evaluation(against);
  EXPECT_NE(beside.find("AdaGrad, 20 bootstraps"), std::string::npos) << beside;
}

TEST_F(Evaluate, SparseRowsAreTriedWithRivalsWhileTheirColumnsAreFew) {
  EvaluateOptions o = options(crossed("64"), "");
  o.schema = o.path + ".toml";
  o.chunk = 100;
  o.against = true;
  const ordered_json result = evaluate(o);
  EXPECT_EQ(result["structure"], "full");
  ASSERT_EQ(result["against"].size(), 2U);
  // Both know the same columns: whoever takes one for another is worse than who knows none.
  EXPECT_GT(number(result["log_score"]), number(result["reference"]) + 0.1);
  EXPECT_GT(number(result["against"][0]["log_score"]), number(result["reference"]) + 0.1);
}

// Tenths of 3,000 rows are no multiples of 7: a part ends where a chunk does.
TEST_F(Evaluate, PartsEndWithChunksAndChunksAreAsLongAsAsked) {
  EvaluateOptions o = options(prices(), "price");
  o.chunk = 7;
  const ordered_json result = evaluate(o);
  ASSERT_EQ(result["parts"].size(), 10U);
  std::uint64_t before = 7;  // the first chunk is learned from unscored
  for (std::size_t i = 0; i < 10; ++i) {
    const auto& part = result["parts"][i];
    const auto until = part["until_row"].get<std::uint64_t>();
    EXPECT_EQ(until, std::min<std::uint64_t>(3'000, (300 * (i + 1) + 6) / 7 * 7));
    EXPECT_EQ(part["rows"], until - before);
    before = until;
  }
  EXPECT_EQ(result["scored_rows"], 2'993);
  o.chunk = 2'000;
  const ordered_json two = evaluate(o);
  ASSERT_EQ(two["parts"].size(), 1U);
  EXPECT_EQ(two["parts"][0]["until_row"], 3'000);
  EXPECT_EQ(two["scored_rows"], 1'000);
  o.chunk = 4'000;
  EXPECT_THROW(evaluate(o), UserError);
}

TEST_F(Evaluate, TheSameFileGivesTheSameNumbers) {
  EvaluateOptions o = options(prices(), "price");
  o.chunk = 100;
  EXPECT_EQ(evaluate(o), evaluate(o));
}

// A short window and a short memory follow; a long one averages two worlds. An adaptive horizon
// has a short memory when the stream turns and a long one in between.
TEST_F(Evaluate, AStreamThatTurnsNeedsAShortMemory) {
  EvaluateOptions o = options(turning_clicks(), "clicked");
  o.chunk = 10;
  o.against = true;
  const ordered_json adaptive = evaluate(o);
  EXPECT_EQ(adaptive["horizon"], "adaptive");
  o.horizon = Horizon::kWindow;
  const ordered_json long_window = evaluate(o);
  EXPECT_EQ(long_window["model"], "logistic");
  o.engine.window_size = 400;
  const ordered_json short_window = evaluate(o);
  EXPECT_GT(number(short_window["log_score"]), number(long_window["log_score"]) + 0.1);
  EXPECT_GT(number(adaptive["log_score"]), number(short_window["log_score"]));
  const ordered_json& filter = short_window["against"][0];
  EXPECT_NE(filter["setting"], "nothing forgotten");
  EXPECT_NEAR(number(short_window["log_score"]), number(filter["log_score"]), 0.05);
}

// Classes that lie apart, and columns that are all but copies, leave the posterior flat in some
// direction but for the prior: chains would go on for many thousand rounds after each chunk.
TEST_F(Evaluate, ALearnerThatDoesNotRestIsLeftAfterAWhile) {
  std::mt19937_64 random(5);
  std::normal_distribution<double> normal;
  const std::string path = file("apart.csv", [&](std::ofstream& out) {
    out << "a,b,c,d,e,g,class\n";
    for (int i = 0; i < 400; ++i) {
      const auto of = random() % 4;
      const double a = std::exp(2 * normal(random) + (of == 1 ? 3 : 0));
      const double b = a * (1 + 0.05 * normal(random));
      const double d = (of == 2 ? 12 : 0) + normal(random);
      out << a << ',' << b << ',' << a - b << ',' << d << ',' << d + 0.05 * normal(random) << ','
          << (of == 3 ? 12 : 0) + normal(random) << ',' << "wxyz"[of] << '\n';
    }
  });
  EvaluateOptions o = options(path, "class");
  o.engine.window_size = 300;
  o.chunk = 5;
  const ordered_json result = evaluate(o);
  EXPECT_EQ(result["chunks"], 80);
  EXPECT_GT(result["chunks_cut_short"], 0);
  EXPECT_NE(describe_evaluation(result).find("had not come to rest"), std::string::npos);
  EXPECT_GT(number(result["log_score"]), number(result["reference"]) + 0.5);
  // A stream that lets it rest is as it was.
  o = options(prices(), "price");
  o.chunk = 10;
  EXPECT_EQ(evaluate(o)["chunks_cut_short"], 0);
}

TEST_F(Evaluate, MoreColumnsThanAnEngineTakesAreRefusedBeforeTheFileIsHeld) {
  EvaluateOptions o;
  o.path = file("wide.csv", [](std::ofstream& out) { out << "c,y\n1,2\n2,3\n"; });
  o.schema = file("wide.toml", [](std::ofstream& out) {
    out << "target = \"y\"\n[[feature]]\nfield = \"c\"\nkind = \"category\"\nother = "
           "\"zero\"\ncategories = [";
    for (int i = 0; i < 65'537; ++i) out << '"' << i << "\",";
    out << "]\n";
  });
  try {
    evaluate(o);
    ADD_FAILURE();
  } catch (const UserError& error) {
    EXPECT_NE(std::string(error.what()).find("model.features must be 1 to 65536"),
              std::string::npos)
        << error.what();
  }
}

TEST_F(Evaluate, WhatItCannotReadIsRefused) {
  EvaluateOptions o = options(prices(), "nothing");
  EXPECT_THROW(evaluate(o), UserError);
  o = options(prices(), "price");
  o.chunk = 0;
  EXPECT_THROW(evaluate(o), UserError);
  o.chunk = 10;
  o.engine.window_size = 1;
  EXPECT_ANY_THROW(evaluate(o));
}

class Rivals : public ::testing::Test {
 protected:
  // One column, y = 3 x + N(0, 1).
  Rivals() {
    data_.names = {"x"};
    std::mt19937_64 random(3);
    std::normal_distribution<double> normal;
    for (int i = 0; i < 2'000; ++i) {
      data_.features.push_back(normal(random));
      data_.targets.push_back(3 * data_.features.back() + normal(random));
    }
    data_.mean = {0};
    data_.sd = {1};
  }
  std::vector<StreamChunk> in_chunks_of(std::size_t rows) const {
    std::vector<StreamChunk> chunks;
    for (std::size_t i = 0; i < data_.rows(); i += rows) {
      chunks.push_back({i, std::min(i + rows, data_.rows()), i});
    }
    return chunks;
  }

  Dataset data_;
};

// The best that least squares over all rows before could be.
TEST_F(Rivals, TheFilterIsAsGoodAsLeastSquares) {
  const auto chunks = in_chunks_of(1);
  const std::vector<RivalScore> scores = rival_scores(data_, Response::kGaussian, chunks);
  ASSERT_EQ(scores.size(), 2U);
  // -log sqrt(2 pi e), less 2.5 parameters of half a log n each, and their luck.
  EXPECT_NEAR(scores[0].log_score, -1.419, 4 * 0.71 / std::sqrt(2'000.0));
  EXPECT_LT(scores[1].log_score, scores[0].log_score);
  EXPECT_TRUE(rival_scores(data_, Response::kCategorical, chunks).empty());
}

// A chunk as long as the file is predicted by who has seen nothing.
TEST_F(Rivals, AChunkIsPredictedBeforeAnyRowOfItIsLearnedFrom) {
  const auto scores = rival_scores(data_, Response::kGaussian, in_chunks_of(2'000));
  double mean = 0, squares = 0;
  for (const double y : data_.targets) mean += y / 2'000;
  for (const double y : data_.targets) squares += (y - mean) * (y - mean) / 2'000;
  // SGD says mean and spread of the whole file, whatever its rate.
  EXPECT_NEAR(scores[1].log_score, -0.5 * std::log(2 * M_PI * M_E * squares), 1e-9);
}

// The same filter of log y, and the density of y.
TEST_F(Rivals, OfPositiveNumbersTheyAreOfTheLogarithm) {
  const auto chunks = in_chunks_of(1);
  const auto of_logarithm = rival_scores(data_, Response::kGaussian, chunks);
  double mean = 0;
  for (double& y : data_.targets) {
    mean += y / 2'000;
    y = std::exp(y);
  }
  const auto scores = rival_scores(data_, Response::kLogNormal, chunks);
  ASSERT_EQ(scores.size(), 2U);
  for (std::size_t i = 0; i < 2; ++i) {
    EXPECT_NEAR(scores[i].log_score, of_logarithm[i].log_score - mean, 1e-9) << i;
  }
}

TEST_F(Rivals, RowsWithoutAScoreAreLearnedFromAndNotCounted) {
  auto chunks = in_chunks_of(1'000);
  data_.targets[0] = 1e6;  // would cost 1,000 nats
  const double all = rival_scores(data_, Response::kGaussian, chunks)[0].log_score;
  chunks[0].scored_from = 1;
  EXPECT_GT(rival_scores(data_, Response::kGaussian, chunks)[0].log_score, all);
}

}  // namespace
}  // namespace windhover::evaluate_test
