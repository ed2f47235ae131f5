// Splines and interactions of a schema: what columns they are, and what a row has in them.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <numeric>
#include <string>
#include <vector>

#include "windhover/tests/tools/schema_fixture.h"
#include "windhover/tests/tools/support.h"
#include "windhover/tools/data/inspect.h"
#include "windhover/tools/data/natural_spline.h"
#include "windhover/tools/error.h"

namespace windhover::schema_curves_test {
namespace {

using Numbers = std::vector<double>;

Numbers weights_at(const NaturalSpline& spline, double x) {
  Numbers weights(spline.knots());
  spline.weights(x, weights);
  return weights;
}

double curve(const NaturalSpline& spline, const Numbers& heights, double x) {
  const Numbers weights = weights_at(spline, x);
  return std::inner_product(weights.begin(), weights.end(), heights.begin(), 0.0);
}

const Numbers kKnots = {-2, -1.5, 1, 4, 4.5, 10};

TEST(NaturalSpline, PassesThroughItsHeightsAndEndsInLines) {
  const NaturalSpline spline(kKnots);
  const Numbers heights = {3, -1, 0.5, 2, 2, -7};
  for (std::size_t k = 0; k < kKnots.size(); ++k)
    EXPECT_NEAR(curve(spline, heights, kKnots[k]), heights[k], 1e-12) << kKnots[k];
  const auto slope = [&](double x, double h) {
    return (curve(spline, heights, x + h) - curve(spline, heights, x - h)) / (2 * h);
  };
  for (const double beyond : {-1e4, -50.0, -3.0})
    EXPECT_NEAR(slope(beyond, 0.5), slope(-2.5, 0.4), 1e-7);
  for (const double beyond : {11.0, 90.0, 1e4})
    EXPECT_NEAR(slope(beyond, 0.5), slope(10.5, 0.4), 1e-7);
}

TEST(NaturalSpline, HasNoKinkNorJumpOfCurvature) {
  const NaturalSpline spline(kKnots);
  const Numbers heights = {3, -1, 0.5, 2, 2, -7};
  const double h = 1e-4;
  const auto second = [&](double x) {
    return (curve(spline, heights, x + h) - 2 * curve(spline, heights, x) +
            curve(spline, heights, x - h)) /
           (h * h);
  };
  for (const double knot : kKnots) {
    const double before = (curve(spline, heights, knot) - curve(spline, heights, knot - h)) / h;
    const double after = (curve(spline, heights, knot + h) - curve(spline, heights, knot)) / h;
    EXPECT_NEAR(before, after, 0.02) << knot;  // curvatures here are below 40
    EXPECT_NEAR(second(knot - 2 * h), second(knot + 2 * h), 0.1) << knot;
  }
  EXPECT_NEAR(second(kKnots.front()), 0, 0.1);
  EXPECT_NEAR(second(kKnots.back()), 0, 0.1);
}

TEST(NaturalSpline, HoldsEveryLineAndAConstantExactly) {
  const NaturalSpline spline(kKnots);
  for (double x = -20; x < 30; x += 0.37) {
    const Numbers weights = weights_at(spline, x);
    EXPECT_NEAR(std::accumulate(weights.begin(), weights.end(), 0.0), 1, 1e-12);
    EXPECT_NEAR(curve(spline, kKnots, x), x, 1e-10);
  }
  // Three knots are the fewest.
  const NaturalSpline least(Numbers{1e6, 2e6, 5e6});
  EXPECT_NEAR(curve(least, {1, 2, 5}, 3.3e6), 3.3, 1e-9);
}

constexpr const char* kHouses =
    "target = \"price\"\n"
    "[[feature]]\nfield = \"sqm\"\nkind = \"number\"\nshift = 80\nscale = 20\n"
    "[[feature]]\nfield = \"age\"\nkind = \"spline\"\nknots = [0, 10, 50.5]\nmissing = \"column\"\n"
    "[[feature]]\nfield = \"district\"\nkind = \"category\"\ncategories = [\"north\", \"south\"]\n"
    "other = \"zero\"\n"
    "[[feature]]\ninteraction = [\"sqm\", \"district\"]\n"
    "[[feature]]\ninteraction = [\"age\", \"district\", \"sqm\"]\n";

TEST(Schema, ASplineHasAColumnAKnotButForTheMiddleOne) {
  const Schema schema = parsed(kHouses);
  const std::vector<std::string> names = schema.feature_names();
  ASSERT_EQ(names.size(), 12U);
  EXPECT_EQ(std::vector<std::string>(names.begin(), names.begin() + 6),
            (std::vector<std::string>{"sqm", "age at 0", "age at 50.5", "age missing",
                                      "district=north", "district=south"}));
  const NaturalSpline spline(Numbers{0, 10, 50.5});
  for (const char* age : {"0", "10", "7", "70", "-3"}) {
    const Numbers row = schema.encode({{"sqm", "100"}, {"age", age}, {"district", "north"}}).values;
    const Numbers weights = weights_at(spline, std::stod(age));
    EXPECT_EQ(row[1], weights[0]) << age;
    EXPECT_EQ(row[2], weights[2]) << age;
    EXPECT_EQ(row[3], 0) << age;
  }
  const Numbers row = schema.encode({{"sqm", "100"}, {"age", ""}, {"district", "north"}}).values;
  EXPECT_EQ(Numbers(row.begin() + 1, row.begin() + 4), (Numbers{0, 0, 1}));
}

TEST(Schema, AnInteractionHasTheProductsOfItsFieldsColumns) {
  const Schema schema = parsed(kHouses);
  const std::vector<std::string> names = schema.feature_names();
  EXPECT_EQ(std::vector<std::string>(names.begin() + 6, names.end()),
            (std::vector<std::string>{
                "sqm x district=north", "sqm x district=south", "age at 0 x district=north x sqm",
                "age at 0 x district=south x sqm", "age at 50.5 x district=north x sqm",
                "age at 50.5 x district=south x sqm"}));
  const auto expect_products = [&](const Numbers& row) {
    EXPECT_EQ(row[6], row[0] * row[4]);
    EXPECT_EQ(row[7], row[0] * row[5]);
    std::size_t at = 8;
    for (const std::size_t age : {1U, 2U}) {
      for (const std::size_t district : {4U, 5U})
        EXPECT_EQ(row[at++], row[age] * row[district] * row[0]);
    }
  };
  for (const char* district : {"north", "south", "west"})
    expect_products(schema.encode({{"sqm", "113"}, {"age", "7"}, {"district", district}}).values);
  // What is missing is no factor.
  const Numbers row = schema.encode({{"sqm", "113"}, {"age", ""}, {"district", "south"}}).values;
  EXPECT_EQ(Numbers(row.begin() + 8, row.end()), Numbers(4, 0.0));
}

TEST(Schema, SparseRowsHaveTheSameColumns) {
  const Schema dense = parsed(kHouses);
  const Schema sparse = parsed(std::string("sparse = true\n") + kHouses);
  EXPECT_EQ(sparse.max_nonzeros(), 1U + 2 + 1 + 1 + 2);
  for (const char* sqm : {"113", "80"}) {
    for (const char* district : {"north", "west"}) {
      const std::map<std::string, std::string> fields = {
          {"sqm", sqm}, {"age", "60"}, {"district", district}};
      const EncodedRow row = sparse.encode(fields);
      EXPECT_LE(row.values.size(), sparse.max_nonzeros());
      EXPECT_TRUE(std::ranges::is_sorted(row.indices));
      Numbers values(sparse.features(), 0.0);
      for (std::size_t i = 0; i < row.values.size(); ++i) values[row.indices[i]] = row.values[i];
      EXPECT_EQ(values, dense.encode(fields).values);
    }
  }
}

// The products are those of a server's row, so that coefficients mean the same.
TEST(Schema, InteractionsOfRowsAsTheyStandAreOfScaledNumbers) {
  const std::string rows = "price,sqm,age,district\n1,113,7,north\n2,0,60,south\n";
  for (const std::string sparse : {"", "sparse = true\n"}) {
    const Schema schema = parsed(sparse + kHouses);
    Table scaled(file_with("houses.csv", rows), schema.table_options());
    Table plain(file_with("houses.csv", rows), schema.table_options());
    const RowEncoder scaling(schema, scaled), standing(schema, plain, RowUse::kObservation, false);
    EncodedRow a, b;
    while (scaled.next() && plain.next()) {
      ASSERT_TRUE(scaling.encode(scaled, a));
      ASSERT_TRUE(standing.encode(plain, b));
      const auto products = [&](const EncodedRow& row) {
        Numbers values(schema.features(), 0.0);
        if (sparse.empty()) values = row.values;
        for (std::size_t i = 0; i < row.indices.size(); ++i) values[row.indices[i]] = row.values[i];
        return Numbers(values.begin() + 6, values.end());
      };
      EXPECT_EQ(products(a), products(b));
      EXPECT_NE(products(a), Numbers(6, 0.0));
    }
  }
}

TEST(Schema, SplinesAndInteractionsGiveARowItsMeaning) {
  const Schema schema = parsed(kHouses);
  EXPECT_EQ(parsed(schema.to_toml()).fingerprint(), schema.fingerprint());
  EXPECT_NE(parsed(replaced(kHouses, "50.5", "50.6")).fingerprint(), schema.fingerprint());
  EXPECT_NE(
      parsed(replaced(kHouses, "[\"sqm\", \"district\"]", "[\"district\", \"sqm\"]")).fingerprint(),
      schema.fingerprint());
}

// age may be missing, and with it the products it is in; sqm and district may not.
TEST(Schema, SaysWhatNaNStandsForInEachColumn) {
  const std::vector<MissingFeature> missing = parsed(kHouses).missing_features();
  ASSERT_EQ(missing.size(), 12U);
  for (std::size_t j = 0; j < missing.size(); ++j) {
    const bool of_age = j == 1 || j == 2, product = j >= 8;
    EXPECT_EQ(missing[j].may_lack(), of_age || product) << j;
    EXPECT_EQ(missing[j].marker, of_age ? 3U : MissingFeature::kNoMarker) << j;
    EXPECT_EQ(std::isfinite(missing[j].fill), of_age || product) << j;
  }
  EXPECT_TRUE(parsed(std::string("sparse = true\n") + kHouses).missing_features().empty());
  EXPECT_TRUE(parsed(replaced(kHouses, "\"column\"", "\"row\"")).missing_features().empty());
  // What a row by names has without an age is what a server makes of NaN.
  const Schema schema = parsed(kHouses);
  EncodedRow named = schema.encode({{"sqm", "100"}, {"age", "NA"}, {"district", "north"}});
  Numbers row = schema.encode({{"sqm", "100"}, {"age", "7"}, {"district", "north"}}).values;
  for (const std::size_t j : {1U, 2U, 8U, 9U, 10U, 11U}) row[j] = std::nan("");
  MissingFeatures(missing).fill(row.data());
  EXPECT_EQ(row, named.values);
}

// What counts as missing gives a row its meaning where a column says so.
TEST(Schema, TextsThatAreMissingAreOfItsMeaningWhereTheyAreMarked) {
  const std::string texts = "missing_texts = [\"unknown\"]\n";
  EXPECT_NE(parsed(texts + kHouses).fingerprint(), parsed(kHouses).fingerprint());
  const std::string whole = replaced(kHouses, "\"column\"", "\"row\"");
  EXPECT_EQ(parsed(texts + whole).fingerprint(), parsed(whole).fingerprint());
}

TEST(Schema, SplinesAndInteractionsThatCannotBeAreRefused) {
  const auto refusal = [](const std::string& from, const std::string& to) -> std::string {
    try {
      parsed(replaced(kHouses, from, to));
    } catch (const UserError& error) {
      return error.what();
    }
    return "taken";
  };
  for (const char* knots :
       {"[0, 1e-5, 1]", "[-1e308, 0, 1e308]", "[0, 1e-320, 2e-320]", "[0, 10]", "[0, 10, 10]",
        "[0, 10, 5]", "[]", "2", "33", "\"many\"", "[0, 1, nan]", "[0, 1, \"2\"]"}) {
    EXPECT_NE(refusal("[0, 10, 50.5]", knots).find("knots"), std::string::npos) << knots;
  }
  for (const char* fields :
       {"[\"sqm\"]", "[\"sqm\", \"garden\"]", "[\"sqm\", \"sqm\"]", "[\"sqm\", \"sqm x district\"]",
        "[\"age\", \"sqm\", \"district\"]", "\"sqm\""}) {
    EXPECT_NE(refusal("[\"sqm\", \"district\"]", fields).find("interaction"), std::string::npos)
        << fields;
  }
  EXPECT_NE(refusal("interaction = [\"sqm\", \"district\"]",
                    "interaction = [\"sqm\", \"district\"]\nmissing = \"zero\"")
                .find("unknown key"),
            std::string::npos);
  std::string many = "interaction = [\"sqm\", \"district\"";
  for (const char* more : {"a", "b", "c"}) many += std::string(", \"") + more + "\"";
  EXPECT_NE(refusal("interaction = [\"sqm\", \"district\"", many).find("at most 4"),
            std::string::npos);
}

TEST(Schema, ADraftHasItsKnotsFromTheFile) {
  std::string rows = "y,x\n";
  for (int i = 0; i <= 1000; ++i)
    rows += std::to_string(i) + "," + std::to_string((i * 389) % 1001) + "\n";
  rows += "1,\n1,NA\n";
  const std::string path = file_with("curve.csv", rows);
  const Schema draft = parsed("target = \"y\"\n[[feature]]\nfield = \"x\"\nkind = \"spline\"\n");
  EXPECT_TRUE(draft.is_draft());
  EXPECT_EQ(draft.collected_from(path).rules()[0].knots, (Numbers{50, 275, 500, 725, 950}));
  const Schema three =
      parsed("target = \"y\"\n[[feature]]\nfield = \"x\"\nkind = \"spline\"\nknots = 3\n");
  EXPECT_TRUE(parsed(three.to_toml()).is_draft());
  EXPECT_EQ(parsed(three.to_toml()).collected_from(path).rules()[0].knots, (Numbers{50, 500, 950}));
  EXPECT_THROW(draft.collected_from(file_with("flat.csv", "y,x\n1,2\n2,3\n3,2\n")), UserError);
}

// A sensor whose value is often the same up to a rounding, and one with few values.
TEST(Schema, KnotsOfADraftAreApart) {
  const Schema draft = parsed("target = \"y\"\n[[feature]]\nfield = \"x\"\nkind = \"spline\"\n");
  std::string same = "y,x\n", few = same;
  for (int i = 0; i < 1000; ++i) {
    const char* near = i % 2 == 0 ? "0.3" : "0.30000000000000004";
    same += "1," + (i % 10 < 6 ? std::string(near) : std::to_string(i % 997 / 1000.0)) + "\n";
    few += "1," + std::to_string(i % 10 < 9 ? 0 : i / 10 % 4) + "\n";
  }
  const auto knots_of = [&](const std::string& rows) {
    return draft.collected_from(file_with("knots.csv", rows)).rules()[0].knots;
  };
  const Numbers knots = knots_of(same);
  EXPECT_EQ(knots.size(), 5U);
  for (std::size_t k = 1; k < knots.size(); ++k) EXPECT_GT(knots[k] - knots[k - 1], 0.01);
  EXPECT_EQ(knots_of(few), (Numbers{0, 1, 2, 3}));
}

TEST(Schema, ValuesThatOverflowAreNoMissingOnes) {
  const Schema schema = parsed(replaced(kHouses, "scale = 20", "scale = 1e-300"));
  EXPECT_THROW(schema.encode({{"sqm", "1e30"}, {"age", "7"}, {"district", "north"}}), UserError);
  Table table(file_with("far.csv", "price,sqm,age,district\n1,1e30,7,north\n"),
              schema.table_options());
  EncodedRow row;
  ASSERT_TRUE(table.next());
  EXPECT_THROW(RowEncoder(schema, table).encode(table, row), RowError);
}

TEST(Schema, MoreColumnsThanThereCanBeAreRefusedHoweverTheyCome) {
  std::string rows = "y,a,b,c,d\n";
  for (int i = 0; i < 100; ++i) {
    rows += "1";
    for (const char* field : {"a", "b", "c", "d"}) rows += "," + (field + std::to_string(i));
    rows += "\n";
  }
  std::string draft = "target = \"y\"\n";
  for (const char* field : {"a", "b", "c", "d"})
    draft += std::string("[[feature]]\nfield = \"") + field + "\"\nkind = \"category\"\n";
  draft += "[[feature]]\ninteraction = [\"a\", \"b\", \"c\", \"d\"]\n";
  EXPECT_THROW(parsed(draft).collected_from(file_with("many.csv", rows)), UserError);
}

TEST(Inspect, CurvesAndInteractionsAsAskedFor) {
  std::string rows = "price,sqm,age,district\n";
  for (int i = 0; i < 200; ++i) {
    rows += std::to_string(1000 + i) + "," + std::to_string(40.5 + i % 97) + "," +
            (i % 50 == 7 ? "" : std::to_string(i % 71)) + "," + (i % 3 != 0 ? "north" : "south") +
            "\n";
  }
  const std::string path = file_with("houses.csv", rows);
  InspectOptions options;
  options.target = "price";
  options.splines = {"age"};
  options.interactions = {{"sqm", "district"}, {"age", "sqm"}};
  const Inspection found = inspect(path, options);
  EXPECT_EQ(found.schema.features(), 1U + 5 + 2 + 2 + 4);
  EXPECT_EQ(found.columns[1].name, "age");
  EXPECT_EQ(found.columns[1].features, 5U);
  EXPECT_NE(found.columns[1].note.find("a curve, 5 knots"), std::string::npos)
      << found.columns[1].note;
  EXPECT_NE(found.columns[1].note.find("a column of their own"), std::string::npos);
  ASSERT_EQ(found.columns.size(), 5U);
  EXPECT_EQ(found.columns[3].name, "sqm x district");
  EXPECT_EQ(found.columns[3].features, 2U);
  EXPECT_EQ(parsed(found.schema.to_toml()).fingerprint(), found.schema.fingerprint());
  for (const auto& [first, second] : std::vector<std::pair<std::string, std::string>>{
           {"sqm", "sqm"}, {"sqm", "price"}, {"sqm", "garden"}, {"sqm", "age"}}) {
    options.interactions = {{"age", "sqm"}, {first, second}};
    EXPECT_THROW(inspect(path, options), UserError) << first << " x " << second;
  }
  options.interactions = {};
  for (const char* column : {"district", "garden"}) {
    options.splines = {column};
    EXPECT_THROW(inspect(path, options), UserError) << column;
  }
}

}  // namespace
}  // namespace windhover::schema_curves_test
