#include "windhover/tools/daemon/certificate_report.h"

#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "windhover/tests/tools/recorded_log.h"

namespace windhover::certificate_report_test {

using testing::kSecond;
using testing::RecordedLog;
using Lines = std::vector<std::string>;

constexpr std::int64_t kDay = 86'400;

TEST(CertificateReport, TellsOfOneThatIsTakenUpAndWhenItsTimeComes) {
  RecordedLog recorded("certificate.log");
  CertificateReport report(kOwnCertificate, recorded.log());
  report.look({}, 5 * kSecond);
  EXPECT_EQ(recorded.lines(), Lines{}) << "there is none";
  const CertificateDates dates{100 * kDay, 130 * kDay};
  const auto lines_at = [&](std::int64_t seconds) {
    report.look(dates, seconds * kSecond);
    report.look(dates, seconds * kSecond + 1);
    return recorded.lines();
  };
  EXPECT_EQ(lines_at(100 * kDay - 7'200), Lines{"error certificate_not_valid_yet hours_left=2"});
  EXPECT_EQ(lines_at(100 * kDay), Lines{"info certificate days_left=30"});
  EXPECT_EQ(lines_at(116 * kDay), Lines{});
  EXPECT_EQ(lines_at(116 * kDay + 1), Lines{"warning certificate_expires_soon hours_left=335"});
  EXPECT_EQ(lines_at(130 * kDay), Lines{});
  EXPECT_EQ(lines_at(130 * kDay + 3'601), Lines{"error certificate_expired hours_ago=1"});
  // Another one in its place, as good as the first.
  report.look({100 * kDay, 200 * kDay}, 131 * kDay * kSecond);
  EXPECT_EQ(recorded.lines(), Lines{"info certificate days_left=69"});
  report.look({100 * kDay, 201 * kDay}, 131 * kDay * kSecond);
  EXPECT_EQ(recorded.lines(), Lines{"info certificate days_left=70"});
}

// 100 days after 1970 began it is April 11.
TEST(CertificateReport, WordsSayTheDateWhenItIsNotGoodOrNotForLong) {
  const CertificateDates dates{100 * kDay, 130 * kDay + 3'723};
  const auto at = [&](std::int64_t seconds) { return words_of(dates, seconds * kSecond); };
  EXPECT_EQ(words_of({}, 5 * kSecond), "") << "there is none";
  EXPECT_EQ(at(100 * kDay - 1), "is not valid before 1970-04-11 00:00:00 UTC");
  EXPECT_EQ(at(100 * kDay), "");
  EXPECT_EQ(at(116 * kDay + 3'723), "");
  EXPECT_EQ(at(116 * kDay + 3'724), "expires on 1970-05-11 01:02:03 UTC");
  EXPECT_EQ(at(130 * kDay + 3'723), "expires on 1970-05-11 01:02:03 UTC");
  EXPECT_EQ(at(130 * kDay + 3'724), "has expired on 1970-05-11 01:02:03 UTC");
  // The year 9999 is how a certificate says that it has no end.
  EXPECT_EQ(words_of({0, 253'402'300'799}, 5 * kSecond), "");
  EXPECT_EQ(words_of({253'402'300'799, 253'402'300'800}, 5 * kSecond).find("is not valid before "),
            0U);
}

TEST(CertificateReport, TellsOfTheAuthoritiesOfClientsByTheirName) {
  RecordedLog recorded("client_ca.log");
  CertificateReport report(kClientCa, recorded.log());
  Lines lines;
  for (const std::int64_t day : {99, 100, 120, 131}) {
    report.look({100 * kDay, 130 * kDay}, day * kDay * kSecond);
    for (const std::string& line : recorded.lines()) lines.push_back(line);
  }
  EXPECT_EQ(lines,
            (Lines{"error client_ca_not_valid_yet hours_left=24", "info client_ca days_left=30",
                   "warning client_ca_expires_soon hours_left=240",
                   "error client_ca_expired hours_ago=24"}));
}

// A new authority beside the old one, before its time: the old one's clients come in all the while.
TEST(CertificateReport, OfSeveralAuthoritiesOneMayBeStillToBecomeGood) {
  RecordedLog recorded("several_ca.log");
  CertificateReport report(kClientCa, recorded.log());
  TlsDates dates;
  dates.client_ca = {110 * kDay, 130 * kDay};
  dates.client_ca_begins_s = 100 * kDay;
  using Words = std::vector<std::string>;
  const auto words_at = [&](std::int64_t day) {
    report.look_at_authorities(dates, day * kDay * kSecond);
    report.look_at_authorities(dates, day * kDay * kSecond + 1);
    return words_of_authorities(dates, day * kDay * kSecond);
  };
  EXPECT_EQ(words_at(99), Words{"is not valid before 1970-04-11 00:00:00 UTC"});
  EXPECT_EQ(recorded.lines(), Lines{"error client_ca_not_valid_yet hours_left=24"});
  EXPECT_EQ(words_at(100), Words{"is not valid before 1970-04-21 00:00:00 UTC"});
  EXPECT_EQ(recorded.lines(), (Lines{"info client_ca days_left=30",
                                     "warning client_ca_not_valid_yet hours_left=240"}));
  EXPECT_EQ(words_at(109), Words{"is not valid before 1970-04-21 00:00:00 UTC"});
  EXPECT_EQ(recorded.lines(), Lines{});
  EXPECT_EQ(words_at(110), Words{});
  EXPECT_EQ(recorded.lines(), Lines{});
  // The old one ends before the new one begins: both are told.
  dates.client_ca = {135 * kDay, 130 * kDay};
  EXPECT_EQ(words_at(129), (Words{"expires on 1970-05-11 00:00:00 UTC",
                                  "is not valid before 1970-05-16 00:00:00 UTC"}));
  EXPECT_EQ(recorded.lines(), (Lines{"warning client_ca_expires_soon hours_left=24",
                                     "warning client_ca_not_valid_yet hours_left=144"}));
  EXPECT_EQ(words_of_authorities({}, 129 * kDay * kSecond), Words{}) << "there are none";
}

}  // namespace windhover::certificate_report_test
