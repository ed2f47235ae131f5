// Files sent as a producer: whose rows they are, and servers that lose them.
#include <gtest/gtest.h>

#include <cstdlib>
#include <memory>
#include <string>

#include "windhover/tests/tools/served.h"
#include "windhover/tests/tools/support.h"
#include "windhover/tools/client/send.h"
#include "windhover/tools/error.h"

namespace windhover {
namespace {

constexpr std::uint64_t kSent = 3960;  // rows of data_file(); the others are skipped

class SendProducer : public ::testing::Test {
 protected:
  SendProducer()
      : schema_(schema_file(false)), socket_(path_of("producer.sock")), options_(start()) {
    options_.producer = 9;
    options_.on_note = [this](const std::string& text) { notes_ += text + "\n"; };
  }

  SendOptions start() {
    served_.reset();
    served_ = std::make_unique<Served>(socket_, Schema::from_file(schema_), "logistic");
    return options_for(*served_, schema_);
  }
  std::uint64_t head() { return served_->engine().head(); }
  std::string refusal(const SendOptions& options) {
    return refusal_of([&] { (void)send_file(options); });
  }
  // Starts the server anew once it has had and acknowledged some of the rows, not all of them.
  void restart_in_the_middle() {
    options_.rate = 2000;
    options_.on_progress = [this](double, const std::string& text) {
      const std::size_t at = text.rfind(", ") + 2;
      const auto on_the_way = std::strtoull(text.c_str() + at, nullptr, 10);
      if (restarted_ || head() < 300 || on_the_way > 100) return;
      restarted_ = true;
      had_ = head();
      (void)start();
    };
  }

  std::string schema_;
  std::string socket_;
  std::unique_ptr<Served> served_;
  SendOptions options_;
  std::string notes_;
  bool restarted_ = false;
  std::uint64_t had_ = 0;
};

// Found from outside: rows of another file were dropped as duplicates, with exit code 0.
TEST_F(SendProducer, SecondFileIsRefusedUntilItSaysWhoseRowsItHas) {
  (void)send_file(options_);
  const std::string text = refusal(options_);
  EXPECT_TRUE(says(text, "3960 rows of producer 9 already")) << text;
  EXPECT_TRUE(says(text, "--resume")) << text;
  EXPECT_TRUE(says(text, "--append")) << text;
  EXPECT_EQ(head(), kSent);
  options_.append = true;
  const SendReport after = send_file(options_);
  EXPECT_EQ(after.totals.accepted, kSent);
  EXPECT_EQ(after.totals.producer_next, 2 * kSent);
  EXPECT_EQ(head(), 2 * kSent);
}

TEST_F(SendProducer, ResumedFileGoesOnBehindWhatTheServerHas) {
  options_.limit = 1000;
  EXPECT_EQ(send_file(options_).totals.accepted, 1000U);
  options_.limit = 0;
  options_.resume = true;
  const SendReport rest = send_file(options_);
  EXPECT_EQ(rest.already, 1000U);
  EXPECT_EQ(rest.totals.sent, kSent - 1000);
  EXPECT_EQ(rest.totals.accepted, kSent - 1000);
  EXPECT_TRUE(says(rest.closing_line(), "1000 were there already")) << rest.closing_line();
  const SendReport nothing = send_file(options_);
  EXPECT_EQ(nothing.already, kSent);
  EXPECT_EQ(nothing.totals.sent, 0U);
  EXPECT_EQ(nothing.loss_text(), "");
  EXPECT_EQ(head(), kSent);
}

TEST_F(SendProducer, ResumingAndAppendingBeginAtTheBeginningWhereNothingIsKnown) {
  options_.resume = true;
  EXPECT_EQ(send_file(options_).totals.accepted, kSent);
  options_.resume = false;
  options_.append = true;
  options_.producer = 10;
  EXPECT_EQ(send_file(options_).totals.accepted, kSent);
  EXPECT_EQ(head(), 2 * kSent);
}

TEST_F(SendProducer, FirstSequenceSaysWhereTheFileBegins) {
  (void)send_file(options_);
  options_.first_sequence = kSent;
  EXPECT_EQ(send_file(options_).totals.accepted, kSent);
  options_.first_sequence = 0;  // all of it once more
  const SendReport again = send_file(options_);
  EXPECT_TRUE(again.adds_up());
  EXPECT_EQ(again.totals.duplicate, kSent);
  EXPECT_TRUE(says(notes_, "had sent all of these before")) << notes_;
  options_.first_sequence = 2 * kSent + 1;
  EXPECT_TRUE(says(refusal(options_), "would leave a gap")) << refusal(options_);
  EXPECT_TRUE(says(refusal(options_), "expects row 7920 next")) << refusal(options_);
  options_.producer = 10;
  options_.first_sequence = 1;
  EXPECT_TRUE(says(refusal(options_), "would leave a gap")) << refusal(options_);
  options_.first_sequence = kSent;
  options_.producer = 9;
  options_.resume = true;  // the second of the two files
  EXPECT_EQ(send_file(options_).already, kSent);
  EXPECT_EQ(head(), 2 * kSent);
}

TEST_F(SendProducer, OptionsThatContradictEachOtherAreRefused) {
  SendOptions o = options_;
  o.append = o.resume = true;
  EXPECT_TRUE(says(refusal(o), "--append is not allowed with --resume"));
  o.resume = false;
  o.first_sequence = 1;
  EXPECT_TRUE(says(refusal(o), "--append is not allowed with --first-sequence"));
  o.first_sequence.reset();
  o.producer = 0;
  EXPECT_TRUE(says(refusal(o), "--append is not allowed without --producer"));
  EXPECT_EQ(head(), 0U);
}

TEST_F(SendProducer, DiskIsAskedForAndRefused) {
  options_.durable = true;
  EXPECT_TRUE(says(refusal(options_), "keeps no log")) << refusal(options_);
  options_.durable = false;
  const SendReport report = send_file(options_);
  EXPECT_EQ(report.to_json()["durability"], "memory");
  EXPECT_EQ(report.to_json()["durable"], 0);
}

// Found from outside: the server held half of the rows, and all of them were called accepted.
TEST_F(SendProducer, ServerThatComesBackWithoutItsRowsIsSentThemAgain) {
  restart_in_the_middle();
  const SendReport report = send_file(options_);
  EXPECT_TRUE(restarted_);
  EXPECT_GT(had_, 0U);
  EXPECT_TRUE(report.adds_up()) << report.closing_line();
  EXPECT_EQ(report.totals.sent, kSent);
  EXPECT_EQ(report.totals.accepted + report.totals.duplicate, kSent);
  EXPECT_GT(report.totals.restored, 0U);
  EXPECT_EQ(report.read_again, 0U);
  EXPECT_EQ(report.loss_text(), "");
  EXPECT_EQ(head(), kSent);
  EXPECT_TRUE(says(notes_, "that it had accepted were sent again")) << notes_;
}

TEST_F(SendProducer, FileIsReadAgainWhereMemoryDoesNotGoBackFarEnough) {
  restart_in_the_middle();
  options_.resend_bytes = 0;
  const SendReport report = send_file(options_);
  EXPECT_TRUE(restarted_);
  EXPECT_EQ(report.read_again, 1U);
  EXPECT_EQ(report.skipped, 40U);
  EXPECT_TRUE(report.adds_up()) << report.closing_line();
  EXPECT_EQ(report.totals.sent, kSent + report.totals.restored);
  EXPECT_EQ(report.totals.lost, 0U);
  EXPECT_EQ(report.loss_text(), "");
  EXPECT_EQ(head(), kSent);
  EXPECT_TRUE(says(notes_, "is read again from row 1 on")) << notes_;
}

// Rows before the file's first one are not in the file, so that they cannot be sent again.
TEST_F(SendProducer, RowsOfEarlierFilesAreLostWithTheServer) {
  options_.limit = 500;
  (void)send_file(options_);
  options_.limit = 0;
  options_.append = true;
  options_.resend_bytes = 0;
  restart_in_the_middle();
  const SendReport report = send_file(options_);
  EXPECT_TRUE(restarted_);
  EXPECT_EQ(report.totals.lost, 500U);
  EXPECT_TRUE(says(report.loss_text(), "500 accepted rows may be lost")) << report.loss_text();
  EXPECT_EQ(head(), kSent);
}

}  // namespace
}  // namespace windhover
