// Files as people have them: what is said of them, and that it can be read back.
#include <gtest/gtest.h>

#include <algorithm>
#include <string>
#include <vector>

#include "windhover/tests/tools/inspect_fixture.h"
#include "windhover/tests/tools/support.h"
#include "windhover/tools/cli/fit_report.h"
#include "windhover/tools/data/dataset.h"
#include "windhover/tools/data/inspect.h"
#include "windhover/tools/data/shown_text.h"
#include "windhover/tools/fit/fit.h"
#include "windhover/tools/program/run_program.h"
#include "windhover/tools/program/say.h"

namespace windhover::awkward_files_test {
namespace {

using inspect_fixture::column;
using inspect_fixture::inspected;

TEST(ShownText, IsOneLineWithoutControlCharacters) {
  EXPECT_EQ(shown_text("a \"b\", Köln"), "a \"b\", Köln");
  EXPECT_EQ(shown_text("two\r\nlines\t"), "two\\r\\nlines\\t");
  EXPECT_EQ(shown_text("\x1b[31m\x7f\x01"), "\\x1b[31m\\x7f\\x01");
  EXPECT_EQ(shown_text("\xC2\x9B\x33m \xC2\xA0"), "\\x9b3m \xC2\xA0");
  EXPECT_EQ(shown_text("\xC2"), "\xC2");
}

// What a file or a server has put into a sentence commands no terminal.
TEST(RunProgram, SaysWhatWentWrongWithoutControlCharacters) {
  ::testing::internal::CaptureStderr();
  const auto refuse = []() -> int { throw UserError("column \"\x1b[31m\r\" is refused\nby\tus"); };
  EXPECT_EQ(run_program("tool", refuse), 2);
  say("skipped", "line 2");
  EXPECT_EQ(::testing::internal::GetCapturedStderr(),
            "tool: column \"\\x1b[31m\\r\" is refused\nby\\tus\nskipped: line 2\n");
}

TEST(ShownText, IsInQuotesInAListWhereItHoldsAComma) {
  const std::vector<std::string> texts = {"closed, no answer", "open", "a \"b\""};
  EXPECT_EQ(listed_texts(texts), "\"closed, no answer\", open, \"a \"b\"\"");
  EXPECT_EQ(listed_texts({}), "");
}

// Names and categories with line breaks, in quotes as CSV has them.
TEST(AwkwardFiles, TextsOfSeveralLinesStayInTheirLineOfWhatIsPrinted) {
  std::string text = "\"price\nper night\",c,y\n";
  for (int i = 0; i < 120; ++i) {
    text += std::to_string(i * 7 % 13) + (i % 2 == 0 ? ",\"u\nu\"," : ",v,") +
            (i % 3 == 0 ? "\"yes\nreally\"\n" : "no\n");
  }
  const std::string path = file_with("lines.csv", text);
  const Inspection found = inspect(path, {.target = "y"});
  const std::string told = describe_file(to_json(found), "# ");
  EXPECT_TRUE(says(told, "# price\\nper night"));
  EXPECT_TRUE(says(told, "1 is \"yes\\nreally\""));
  // A schema begins with them.
  const Schema again = Schema::from_text(told + found.schema.to_toml(), "lines.toml");
  EXPECT_EQ(again.fingerprint(), found.schema.fingerprint());
  FitOptions o;
  o.path = path;
  o.data.target = "y";
  o.steps = 2'000;
  const std::string fitted = describe_fit(fit(o));
  EXPECT_TRUE(says(fitted, "\nprice\\nper night "));
  EXPECT_TRUE(says(fitted, "\nc=u\\nu "));
  EXPECT_FALSE(says(fitted, "u\nu"));
}

// TOML takes every character of a category but the control characters as they are.
TEST(AwkwardFiles, ControlCharactersOfACategoryAreReadBackFromTheSchema) {
  std::string text = "c,y\n";
  for (int i = 0; i < 120; ++i) {
    text += (i % 3 == 0 ? "u\x7f\x01" : "v\t") + std::string(i % 2 == 0 ? ",1.5\n" : ",2.5\n");
  }
  const Inspection found = inspect(file_with("control.csv", text), {.target = "y"});
  const Schema again = Schema::from_text(found.schema.to_toml(), "control.toml");
  EXPECT_EQ(again.fingerprint(), found.schema.fingerprint());
}

// Windows' euro in files of a byte a letter: 300 prices are no identifiers.
TEST(AwkwardFiles, AmountsWithASignThatIsNoUtf8AreRefusedWithWhatToType) {
  std::string target = "a;y\n", feature = "y;a\n", pounds = "y;a\n", remark = "a;r;y\n";
  for (int i = 0; i < 300; ++i) {
    const std::string number = std::to_string(i * 37 % 1000);
    target += std::to_string(i % 7) + ";" + number + ",50 \x80\n";
    feature += std::to_string(i % 7) + ";" + number + ",50 \x80\n";
    pounds += std::to_string(i % 7) + ";\xA3 1." + std::to_string(100 + i) + ",5\n";
    remark += number + ";caf\xE9 " + number + ";" + std::to_string(i % 7) + "\n";
  }
  for (const std::string& text : {target, feature}) {
    const std::string said =
        refusal_of([&] { (void)inspected("euro.csv", text, {.target = "y"}); });
    EXPECT_TRUE(says(said, "is not UTF-8"));
    EXPECT_TRUE(says(said, "iconv -f cp1252 -t utf-8"));
  }
  EXPECT_TRUE(says(refusal_of([&] { (void)inspected("pound.csv", pounds, {.target = "y"}); }),
                   "iconv -f latin1 -t utf-8"));
  // What nothing is read of may be in any.
  EXPECT_EQ(column(inspected("remark.csv", remark, {.target = "y"}), "r").reads_as, "left out");
}

TEST(AwkwardFiles, TheTargetIsSaidToBeEmptyAndInWhichLines) {
  std::string text = "a,y\n";
  for (int i = 0; i < 60; ++i) {
    text += std::to_string(i * 7 % 13) + (i % 10 == 4 ? ",\n" : "," + std::to_string(i * i) + "\n");
  }
  const std::string note = inspected("gaps.csv", text, {.target = "y"}).target_note;
  EXPECT_TRUE(says(note, "empty in lines 6, 16, 26, ...: 6 rows are left out"));
}

TEST(AwkwardFiles, ClassesOneAfterTheOtherAreSaidToNeedShuffling) {
  const auto note = [](int stretch, int rows) {
    std::string text = "a,y\n";
    for (int i = 0; i < rows; ++i) {
      text += std::to_string(i * 7 % 13) + "," + "uvw"[i / stretch % 3] + "\n";
    }
    return inspected("sorted.csv", text, {.target = "y"}).target_note;
  };
  EXPECT_TRUE(says(note(20, 60), "all rows of one come before those of the next: shuffle them"));
  EXPECT_FALSE(says(note(10, 60), "shuffle"));  // twice each
  EXPECT_FALSE(says(note(1, 60), "shuffle"));
  EXPECT_FALSE(says(note(3, 9), "shuffle"));  // too few to tell
}

TEST(AwkwardFiles, DatesInSeveralOrdersAreNoFreeText) {
  std::string text = "d,y\n";
  for (int i = 0; i < 90; ++i) {
    const std::string day = std::to_string(10 + i % 19), month = std::to_string(1 + i % 12);
    text += (i % 2 == 0 ? "2023-" + month + "-" + day : day + "." + month + ".2023") + "," +
            std::to_string(i * i % 17) + "\n";
  }
  EXPECT_TRUE(
      says(inspect_fixture::refused(text), "column d: no one order of day, month and year"));
}

TEST(AwkwardFiles, TextsOfWhichMostAreNumbersAreSaidToBe) {
  std::string text = "d,y\n";
  for (int i = 0; i < 90; ++i) {
    text +=
        (i % 5 == 3 ? "<0.1," : std::to_string(i % 13) + ",") + std::to_string(i * i % 17) + "\n";
  }
  const Inspection found = inspected("limits.csv", text);
  EXPECT_EQ(column(found, "d").reads_as, "category");
  EXPECT_TRUE(says(column(found, "d").note,
                   "; 72 of 90 cells are numbers, and \"<0.1\" in line 5 is none"));
}

TEST(AwkwardFiles, ClassesThatDifferInCapitalsAloneAreRefusedUnlessTheyAreSaidToBeSeveral) {
  std::string text = "a,y\n";
  for (int i = 0; i < 90; ++i) {
    text += std::to_string(i * 7 % 13) + (i % 3 == 0 ? ",yes\n" : i % 3 == 1 ? ",no\n" : ",Yes\n");
  }
  const std::string said = inspect_fixture::refused(text);
  EXPECT_TRUE(says(said, "\"Yes\" and \"yes\" of the target y differ in capitals alone"));
  InspectOptions several{.target = "y"};
  several.model = "softmax";
  EXPECT_TRUE(says(inspected("several.csv", text, several).target_note, "Yes, no, yes"));
}

TEST(AwkwardFiles, WhatStandsAboveTheNamesIsSaidToBeInTheWay) {
  EXPECT_TRUE(says(inspect_fixture::refused("Report of 2023\n\na,y\n1,2\n2,3\n4,4\n"),
                   "where lines stand above the names take them away, tail -n +2"));
}

// The note on a column of numbers in 90 rows, where y is 1 to 13.
std::string note_of_numbers(auto number) {
  std::string text = "n,a,y\n";
  for (int i = 0; i < 90; ++i) {
    text += number(i) + "," + std::to_string(i % 5) + "," + std::to_string(i * 7 % 13) + ".5\n";
  }
  return column(inspected("numbers.csv", text), "n").note;
}

TEST(AwkwardFiles, NumbersThatAreCodesOrNamesOfRowsAreSaidToBe) {
  const auto code = [](int i) { return "0" + std::to_string(1000 + i * 37 % 50); };
  EXPECT_EQ(note_of_numbers(code),
            "some begin with 0, as codes do; if it is one, --category \"n\"");
  const auto identifier = [](int i) { return std::to_string(10000 + i * 7919 % 89989); };
  const std::string names = "another in every row; if it only names them, --leave-out \"n\"";
  EXPECT_EQ(note_of_numbers(identifier), names);
  EXPECT_EQ(note_of_numbers([](int i) { return std::to_string(5 + i * 7 % 90); }), names);
  EXPECT_EQ(note_of_numbers([](int i) { return std::to_string(5 + i * 7 % 89); }), "");
  EXPECT_EQ(note_of_numbers([](int i) { return std::to_string(20 * i * i); }), "");
  EXPECT_EQ(note_of_numbers([](int i) { return "0." + std::to_string(10000 + i); }), "");
}

TEST(AwkwardFiles, ANumberThatStandsForNoneIsSaidToWithWhatToType) {
  const auto holes = [](const char* hole, int often) {
    return [=](int i) { return i % often == 3 ? std::string(hole) : std::to_string(i % 40); };
  };
  EXPECT_EQ(note_of_numbers(holes("-999", 30)),
            "-999 is in 3 cells, far from all others: if it says that there is no value, "
            "--missing-text=\"-999\"");
  EXPECT_TRUE(says(note_of_numbers(holes("9999.0", 9)), "9999.0 is in 10 cells"));
  const auto two_spellings = [&](int i) {
    return i % 30 == 5 ? "-999.0" : i % 30 == 15 ? "-999" : holes("-999", 1000)(i);
  };
  EXPECT_TRUE(
      says(note_of_numbers(two_spellings),
           "-999 or -999.0 are in 7 cells, far from all others: if it says that there is no "
           "value, --missing-text=\"-999\" --missing-text=\"-999.0\""));
  EXPECT_EQ(note_of_numbers(holes("999", 100)), "");  // once
  EXPECT_EQ(note_of_numbers(holes("-7", 9)), "");
  EXPECT_EQ(note_of_numbers([](int i) { return i % 9 == 3 ? "999" : std::to_string(i * 23); }), "");
  std::string target = "a,y\n";
  for (int i = 0; i < 90; ++i) {
    target +=
        std::to_string(i % 5) + "," + (i % 30 == 3 ? "-99" : std::to_string(i * 7 % 13)) + "\n";
  }
  EXPECT_TRUE(says(inspected("target.csv", target).target_note, "-99 is in 3 cells, far from"));
  InspectOptions said{.target = "y"};
  said.missing_texts = {"-99"};
  EXPECT_TRUE(says(inspected("target.csv", target, said).target_note, "3 rows are left out"));
}

// The number is neither in the means of a schema nor in the rows, also where a schema does not say
// what becomes of a feature that is missing.
TEST(AwkwardFiles, ANumberThatIsSaidToStandForNoneIsNone) {
  std::string text = "n,w,y\n";
  for (int i = 0; i < 90; ++i) {
    text += (i % 9 == 3 ? std::string("9999") : std::to_string(i % 2 == 0 ? 10 : 20)) +
            (i % 30 == 5 ? ",9999," : ",2,") + std::to_string(i % 7) + "\n";
  }
  const std::string path = file_with("hidden.csv", text);
  InspectOptions said{.target = "y"};
  said.missing_texts = {"9999"};
  said.leave_out = {"w"};
  const Inspection found = inspect(path, said);
  EXPECT_EQ(found.schema.rules()[0].missing, FeatureRule::Missing::kColumn);
  EXPECT_EQ(found.schema.rules()[0].shift, 15);
  EXPECT_EQ(found.schema.rules()[0].scale, 5);
  const Dataset filled = load_dataset(path, found.schema, true);
  EXPECT_EQ(filled.rows(), 90);
  EXPECT_EQ(filled.row(3)[0], 0);  // the mean
  EXPECT_EQ(filled.row(3)[1], 1);
  const Schema unsaid = Schema::from_text(
      "target = \"y\"\nmissing = \"skip\"\nmissing_texts = [\"9999\"]\nweight = \"w\"\n"
      "[[feature]]\nfield = \"n\"\nkind = \"number\"\nshift = 0\nscale = 1\n",
      "unsaid.toml");
  const Dataset skipped = load_dataset(path, unsaid, true);
  EXPECT_EQ(skipped.rows(), 77);  // 10 without n, 3 without w
  EXPECT_EQ(skipped.skipped_rows, 13);
  EXPECT_EQ(std::ranges::max(skipped.weights), 2);
}

TEST(AwkwardFiles, AClassWithACommaIsListedInQuotes) {
  std::string text = "a,y\n";
  for (int i = 0; i < 60; ++i) {
    text += std::to_string(i * 7 % 13) + (i % 3 == 0   ? ",\"closed, no answer\"\n"
                                          : i % 3 == 1 ? ",open\n"
                                                       : ",won\n");
  }
  EXPECT_TRUE(says(inspected("comma.csv", text, {.target = "y"}).target_note,
                   "classes from 0: \"closed, no answer\", open, won"));
}

}  // namespace
}  // namespace windhover::awkward_files_test
