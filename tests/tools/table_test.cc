#include "windhover/tools/data/table.h"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <sys/stat.h>
#include <unistd.h>
#include <zlib.h>

#include <chrono>
#include <fstream>
#include <iterator>
#include <string>
#include <string_view>
#include <vector>

#include "windhover/tests/tools/support.h"
#include "windhover/tools/error.h"

namespace windhover {
namespace {

using Names = std::vector<std::string>;

TEST(Table, ReadsAQuotedHeaderAndSemicolons) {
  Table table(file_with("quoted.csv", "\"fixed acidity\";\"a \"\"b\"\"\";c\n1;2.5;-3e2\n\n4;+5;6"),
              {.separator = ';'});
  EXPECT_EQ(table.columns(), (Names{"fixed acidity", "a \"b\"", "c"}));
  EXPECT_EQ(table.column("c"), 2U);
  EXPECT_EQ(table.column("2"), 1U);
  ASSERT_TRUE(table.next());
  EXPECT_EQ(table.line(), 2U);
  EXPECT_EQ(table.require_number(2), -300.0);
  ASSERT_TRUE(table.next());
  EXPECT_EQ(table.line(), 4U);
  EXPECT_EQ(table.require_number(1), 5.0);
  EXPECT_FALSE(table.next());
  EXPECT_EQ(table.progress(), 1.0);
}

std::string refusal(const std::string& content, std::vector<std::string>* rows = nullptr) {
  try {
    Table table(file_with("quotes.txt", content), {.separator = '\t'});
    while (table.next()) {
      if (rows != nullptr) rows->emplace_back(table.text(1));
    }
  } catch (const UserError& error) {
    return error.what();
  }
  return "";
}

TEST(Table, QuotesAmidTextAreLetters) {
  std::vector<std::string> rows;
  EXPECT_EQ(
      refusal("a\tb\n1\t5\" pipe\n2\t\"so \"called\" pipe\"\n3\t\"x\ny\"\n4\t\"z \"\"q\"\"\nw\"\n",
              &rows),
      "");
  EXPECT_EQ(rows, (Names{"5\" pipe", "so \"called\" pipe", "x\ny", "z \"q\"\nw"}));
}

// Such quotes swallow the rows below, before or behind a quote amid the text, or up to the end.
TEST(Table, QuotesThatSwallowRowsAreRefused) {
  for (const char* rows :
       {"2\t\"two\n3\tthree\n4\tsay \"four\" x\n5\ty\"\n",
        "2\t\"two\" x\n3\tthree\n4\tTV 5\"\n5\tfive\n", "2\t\"two\n3\tthree\n4\tfour\n"}) {
    const std::string why = refusal(std::string("a\tb\n1\tone\n") + rows);
    EXPECT_NE(why.find("line 3: a cell that begins with a quote"), std::string::npos)
        << rows << why;
  }
  EXPECT_EQ(refusal("a\tb\n1\t\"one"), "") << "nothing is behind it";
  Table letters(file_with("letters.txt", "a\tb\n2\t\"two\n3\tthree\n4\tsay \"four\" x\n"),
                {.separator = '\t', .quotes = false});
  std::vector<std::string> texts;
  while (letters.next()) texts.emplace_back(letters.text(1));
  EXPECT_EQ(texts, (Names{"\"two", "three", "say \"four\" x"}));
}

TEST(Table, ReadsTabsCarriageReturnsAndNoHeader) {
  Table table(file_with("tab.txt", "74\t85\t1\r\n73\t84\t2\r\n"),
              {.separator = '\t', .header = false});
  EXPECT_EQ(table.columns(), (Names{"1", "2", "3"}));
  ASSERT_TRUE(table.next());
  EXPECT_EQ(table.text(2), "1");
  ASSERT_TRUE(table.next());
  EXPECT_EQ(table.line(), 2U);
  EXPECT_EQ(table.require_number(2), 2.0);
  EXPECT_FALSE(table.next());
}

TEST(Table, ReadsCompressedFilesLargerThanAChunk) {
  const std::string path = path_of("long.csv.gz");
  gzFile out = gzopen(path.c_str(), "wb");
  gzputs(out, "a,b\n");
  for (int i = 0; i < 50'000; ++i) gzprintf(out, "%d,%d\n", i, 2 * i);
  gzclose(out);
  Table table(path, {});
  int rows = 0;
  while (table.next()) {
    ASSERT_EQ(table.require_number(1), 2.0 * rows);
    ASSERT_EQ(table.line(), static_cast<std::uint64_t>(rows) + 2);
    ++rows;
  }
  EXPECT_EQ(rows, 50'000);
}

TEST(Table, ReadsOnAfterARowOfAnotherLength) {
  Table table(file_with("short.csv", "a,b\n1,2\n3\n4,5\n"), {});
  ASSERT_TRUE(table.next());
  EXPECT_THROW((void)table.next(), RowError);
  ASSERT_TRUE(table.next());
  EXPECT_EQ(table.text(1), "5");
  EXPECT_FALSE(table.next());
}

TEST(Table, ReadsCompressedFilesOfSeveralMembers) {
  const std::string path = path_of("members.csv.gz");
  ::unlink(path.c_str());
  for (const char* part : {"a,b\n1,2\n", "3,4\n"}) {
    gzFile out = gzopen(path.c_str(), "ab");
    gzputs(out, part);
    gzclose(out);
  }
  Table table(path, {});
  ASSERT_TRUE(table.next());
  ASSERT_TRUE(table.next());
  EXPECT_EQ(table.text(1), "4");
  EXPECT_FALSE(table.next());
}

// The members of the compressed file are read one by one, as the pieces of a pipe are.
TEST(Table, DropsAByteOrderMarkThatComesInPieces) {
  const auto columns_of_pieces = [](const std::vector<std::string>& pieces) {
    const std::string path = path_of("mark.csv.gz");
    ::unlink(path.c_str());
    for (const std::string& piece : pieces) {
      gzFile out = gzopen(path.c_str(), "ab");
      gzwrite(out, piece.data(), static_cast<unsigned>(piece.size()));
      gzclose(out);
    }
    return Table(path, {}).columns();
  };
  EXPECT_EQ(columns_of_pieces({"\xEF", "\xBB", "\xBF\"a\",b\n1,2\n"}), (Names{"a", "b"}));
  EXPECT_EQ(columns_of_pieces({"\xEF\xBB\xBF", "\"a\",b\n"}), (Names{"a", "b"}));
  EXPECT_EQ(columns_of_pieces({"\xEF", "x,b\n"}), (Names{"\xEFx", "b"}));
  EXPECT_EQ(columns_of_pieces({"\xEF\xBB"}), (Names{"\xEF\xBB"}));
}

// A pipe: what has come is there at once, half a row is none, and the end is no row.
TEST(Table, SaysWhetherARowOfAPipeHasCome) {
  const std::string path = path_of("pipe.csv");
  ASSERT_EQ(::mkfifo(path.c_str(), 0600), 0);
  const int pipe = ::open(path.c_str(), O_RDWR | O_CLOEXEC);
  const auto write = [pipe](std::string_view text) {
    EXPECT_EQ(::write(pipe, text.data(), text.size()), static_cast<ssize_t>(text.size()));
  };
  const auto ready = [](Table& table, int ms) {
    return table.ready_by(std::chrono::steady_clock::now() + std::chrono::milliseconds(ms));
  };
  write("a,b\n1,2\n3,");
  Table table(path, {});
  EXPECT_TRUE(table.row_waits());
  ASSERT_TRUE(table.next());
  EXPECT_FALSE(table.row_waits());
  EXPECT_FALSE(ready(table, 1));
  write("4\n");
  ASSERT_TRUE(ready(table, 60'000));
  ASSERT_TRUE(table.next());
  EXPECT_EQ(table.text(1), "4");
  EXPECT_FALSE(ready(table, 1));
  ::close(pipe);
  ::unlink(path.c_str());
  ASSERT_TRUE(ready(table, 60'000));
  EXPECT_FALSE(table.next());
}

TEST(Table, SaysThatACompressedFileIsCutOff) {
  const std::string path = path_of("whole.csv.gz");
  gzFile out = gzopen(path.c_str(), "wb");
  for (int i = 0; i < 50'000; ++i) gzprintf(out, "%d,%d\n", i, (i * 7919) % 1000);
  gzclose(out);
  std::ifstream in(path, std::ios::binary);
  const std::string bytes((std::istreambuf_iterator<char>(in)), {});
  Table table(file_with("cut.csv.gz", bytes.substr(0, bytes.size() / 2)), {});
  const std::string message = refusal_of([&] {
    while (table.next()) {
    }
  });
  EXPECT_TRUE(says(message, "damaged or cut off"));
}

TEST(Table, NamesThePlaceOfACellThatIsNoNumber) {
  Table table(file_with("word.csv", "x,y\n1,2\n3,late\n,nan\n"), {});
  ASSERT_TRUE(table.next());
  ASSERT_TRUE(table.next());
  const std::string message = refusal_of([&] { (void)table.require_number(1); });
  EXPECT_TRUE(says(message, "word.csv, line 3, column y: \"late\""));
  ASSERT_TRUE(table.next());
  EXPECT_FALSE(table.number(0).has_value());
  EXPECT_FALSE(table.number(1).has_value());
}

TEST(Table, RefusesRowsOfAnotherWidthAndUnknownColumns) {
  Table table(file_with("ragged.csv", "x,y\n1,2\n3\n"), {});
  EXPECT_TRUE(
      says(refusal_of([&] { (void)table.column("z"); }), "it has x, y, or the numbers 1 to 2"));
  EXPECT_TRUE(says(refusal_of([&] { (void)table.column("3"); }), "no column \"3\""));
  ASSERT_TRUE(table.next());
  EXPECT_TRUE(says(refusal_of([&] { (void)table.next(); }), "line 3: 1 cells, but 2"));
}

TEST(Table, RefusesWhatIsNoFile) {
  EXPECT_TRUE(says(refusal_of([] { Table table("/no/such/file.csv", {}); }), "cannot open"));
  EXPECT_TRUE(says(refusal_of([] { Table table("/tmp", {}); }), "is a folder"));
  EXPECT_TRUE(says(refusal_of([] { Table table(file_with("empty.csv", ""), {}); }), "is empty"));
  EXPECT_TRUE(
      says(refusal_of([] { Table table(file_with("rows.svm", "+1 3:0.5 7:1.25\n-1 2:1\n"), {}); }),
           "is in libsvm's form"));
}

TEST(Table, StopsAtAQuoteThatIsNeverClosed) {
  std::string content = "x,y\n1,\"";
  for (int i = 0; i < 400'000; ++i) content += "2,3,4\n";
  Table table(file_with("open.csv", content), {});
  EXPECT_TRUE(says(refusal_of([&] { (void)table.next(); }), "is a quote left open?"));
}

TEST(Table, KnowsSeparators) {
  EXPECT_EQ(parse_separator("tab"), '\t');
  EXPECT_EQ(parse_separator(";"), ';');
  EXPECT_THROW((void)parse_separator(";;"), UserError);
}

}  // namespace
}  // namespace windhover
