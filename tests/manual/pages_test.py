"""What the manual's pages must speak of, and how its blocks are run and compared."""

from __future__ import annotations

import json
import os
import re
import tempfile
import unittest
from pathlib import Path

import run
from links import broken_links, is_well_formed
from pages import blocks, missing_line, same_line

ROOT = Path(__file__).resolve().parents[2]
PAGES = ROOT / "tools/manual/pages"
PROTO = (ROOT / "io/windhover.proto").read_text()


def text_of(page: str) -> str:
    return (PAGES / page).read_text()


def body(kind: str, name: str) -> str:
    """What stands between the braces of an enum or message of the proto."""
    found = re.search(rf"^{kind} {name} {{\n(.*?)^}}", PROTO, re.MULTILINE | re.DOTALL)
    assert found is not None, f"the proto has no {kind} {name}"
    return found[1]


def values(enum: str, prefix: str) -> list[str]:
    return re.findall(rf"^  {prefix}(\w+) = ", body("enum", enum), re.MULTILINE)


def fields(message: str) -> list[str]:
    return re.findall(r"^  (?:repeated )?\w+ (\w+) = ", body("message", message), re.MULTILINE)


class Pages(unittest.TestCase):
    def test_status_has_a_section_for_each_reason_and_none_for_others(self) -> None:
        page = text_of("status.md")
        reasons = {reason.lower() for reason in values("PosteriorReason", "POSTERIOR_REASON_")}
        self.assertGreater(len(reasons), 10)
        sections = set(re.findall(r"^## ([a-z_]+)$", page, re.MULTILINE))
        self.assertEqual(sections, reasons)

    def test_each_section_says_what_it_means_what_to_check_and_what_to_do(self) -> None:
        for section in re.split(r"^## ", text_of("status.md"), flags=re.MULTILINE)[1:]:
            name = section.split("\n", 1)[0]
            if re.fullmatch("[a-z_]+", name) and name != "none":
                for word in ("**Means:**", "**Check:**", "**Do:**"):
                    self.assertIn(word, section, name)

    def test_status_names_each_state_and_each_reason_of_a_refusal(self) -> None:
        page = text_of("status.md")
        for state in values("PosteriorState", "POSTERIOR_STATE_"):
            self.assertIn(f"`{state.lower()}`", page)
        rows = " ".join(re.findall(r"^\| (`[A-Z].*?) \|", page, re.MULTILINE))
        self.assertEqual(set(re.findall("`([A-Z_]+)`", rows)), set(values("Reason", "REASON_")))

    def test_answers_explains_each_field(self) -> None:
        page = text_of("answers.md")
        for message in ("Provenance", "Prediction", "PosteriorSummaryResult", "PredictionScore"):
            for field in fields(message):
                if field != "provenance":
                    self.assertIn(f"`{field}`", page, f"{message}.{field}")

    def test_curl_shows_each_path(self) -> None:
        commands = "".join(b.text for b in blocks(PAGES / "curl.md") if b.language == "sh")
        paths = json.loads((ROOT / "io/http/openapi.json").read_text())["paths"]
        self.assertGreater(len(paths), 10)
        for path in [*paths, "/v1/openapi.json"]:
            self.assertRegex(commands, re.escape(path).replace(r"\{id\}", r"\d+") + r"\b")


class Comparing(unittest.TestCase):
    def test_a_line_is_the_same_up_to_spaces_and_the_noise_of_its_numbers(self) -> None:
        self.assertTrue(same_line("mean 1.50 +- 0.010", "mean   1.52 +- 0.01049"))
        self.assertFalse(same_line("mean 1.50 +- 0.010", "mean 1.70 +- 0.010"))
        self.assertFalse(same_line("ok: 3 rows", "ok: 3 rows and more"))
        self.assertFalse(same_line("status ok", "status degraded"))
        self.assertTrue(same_line("1.5e+03", "1520"))
        self.assertFalse(same_line("1.5e+03", "1700"))

    def test_whole_numbers_of_up_to_four_digits_are_equal(self) -> None:
        self.assertTrue(same_line("3000 rows", "3000 rows"))
        self.assertFalse(same_line("3000 rows", "3001 rows"))
        self.assertFalse(same_line("exit code 1", "exit code 2"))
        self.assertTrue(same_line("264052", "264100"))
        self.assertFalse(same_line("264052", "364100"))

    def test_dots_stand_for_anything(self) -> None:
        self.assertTrue(same_line("ready ...", "ready observe=1 query=2"))
        self.assertTrue(same_line('{...,"a":1,...}', '{"b":7,"a":1,"c":9}'))
        self.assertFalse(same_line("ready ...", "not ready at all"))

    def test_lines_come_in_order(self) -> None:
        self.assertIsNone(missing_line("a\n...\nc\n", "a\nb\nc\n"))
        self.assertEqual(missing_line("c\na\n", "a\nb\nc\n"), "a")
        self.assertEqual(missing_line("a\na\n", "a\nb\n"), "a")

    def test_blocks_know_their_lines_and_why_they_are_not_run(self) -> None:
        with tempfile.TemporaryDirectory() as folder:
            page = Path(folder) / "page.md"
            page.write_text(
                'x\n```sh\ntrue\n```\n```{ .sh .again title="not run: no" }\nfalse\n```\n'
            )
            first, second = blocks(page)
            self.assertEqual((first.line, first.language, first.text), (3, "sh", "true\n"))
            self.assertEqual((second.again, second.not_run, second.needs), (True, "no", ""))
            page.write_text('```{ .sh title="needs r-cran-rstan" }\ntrue\n```\n')
            self.assertEqual(blocks(page)[0].needs, "r-cran-rstan")
            page.write_text("```sh\ntrue\n")
            with self.assertRaises(ValueError):
                blocks(page)


class Site(unittest.TestCase):
    def test_a_link_that_leads_to_nothing_is_named(self) -> None:
        with tempfile.TemporaryDirectory() as folder:
            root = Path(folder)
            (root / "sub").mkdir()
            (root / "a.html").write_text(
                '<h1 id="top">a</h1><a href="sub/b.html#here">b</a> <a href="#top">a</a> <img src="p.svg">'
                '<a href="https://nowhere.example/x">x</a> <a href="mailto:a@b.org">m</a> <a href="sub/">s</a>'
            )
            (root / "sub/b.html").write_text('<p id="here"></p><a href="../a.html">a</a>')
            (root / "sub/index.html").write_text("")
            (root / "p.svg").write_text("")
            self.assertEqual(broken_links(root), [])
            (root / "sub/b.html").write_text(
                '<a href="../a.html#gone">a</a> <a href="c.html">c</a> <a href="../../etc">e</a>'
            )
            self.assertEqual(
                broken_links(root),
                [
                    "a.html links to sub/b.html#here: there is no such place in it",
                    "sub/b.html links to ../a.html#gone: there is no such place in it",
                    "sub/b.html links to c.html: there is no such file",
                    "sub/b.html links to ../../etc: there is no such file",
                ],
            )

    def test_a_link_elsewhere_has_the_form_of_one(self) -> None:
        for good in (
            "https://mc-stan.org",
            "https://mc-stan.org/docs/a_b.html#c",
            "https://en.wikipedia.org/wiki/Bias_(statistics)",
            "http://127.0.0.1:9101/",
            "mailto:a@b.org",
        ):
            self.assertTrue(is_well_formed(good), good)
        for bad in (
            "http://mc-stan.org",
            "https://mc-stan",
            "https:/mc-stan.org",
            "https://mc-stan.org/a b",
            "https://mc-stan.org/docs,",
            "https://mc-stan.org/docs)",
            "//mc-stan.org",
            "mailto:a",
            "ftp://mc-stan.org",
        ):
            self.assertFalse(is_well_formed(bad), bad)
        with tempfile.TemporaryDirectory() as folder:
            (Path(folder) / "a.html").write_text('<a href="http://mc-stan.org">m</a>')
            self.assertEqual(
                broken_links(Path(folder)),
                ["a.html links to http://mc-stan.org: this is no link"],
            )


class Running(unittest.TestCase):
    """A page of shell commands alone, run as those of the manual are."""

    def run_text(self, text: str) -> str:
        """What went wrong; empty: nothing."""
        with tempfile.TemporaryDirectory() as folder:
            page = Path(folder) / "page.md"
            page.write_text(text)
            return run.run_page(page, Path(folder), dict(os.environ))[2]

    def test_a_page_whose_commands_say_what_it_shows_passes(self) -> None:
        self.assertEqual(self.run_text("```sh\necho 7171 a\nx=1\n```\n```text\n7171 a\n```\n"), "")
        self.assertEqual(
            self.run_text("```sh\nx=1\n```\n```sh\necho $x\n```\n```text\n1\n```\n"), ""
        )

    def test_a_command_that_fails_is_named_by_its_line(self) -> None:
        wrong = self.run_text("\n```sh\ntrue\nfalse\ntrue\n```\n")
        self.assertTrue(wrong.startswith("page.md:4: this command failed"), wrong)

    def test_a_command_that_fails_within_a_pipe_is_named(self) -> None:
        wrong = self.run_text("```sh\ntrue\n(echo a; false) | cat\n```\n")
        self.assertTrue(wrong.startswith("page.md:3: this command failed"), wrong)

    def test_an_output_that_does_not_come_is_named_by_its_line(self) -> None:
        wrong = self.run_text("```sh\necho b\n```\n```text\na\n```\n")
        self.assertTrue(wrong.startswith("page.md:5: this line did not come: a"), wrong)
        self.assertIn("\nb\n", wrong)

    def test_a_block_that_nobody_can_run_is_an_error(self) -> None:
        self.assertIn("page.md:2: nothing says how", self.run_text("```rust\nfn main() {}\n```\n"))

    def test_a_file_is_written_where_the_commands_find_it(self) -> None:
        page = '```{ .toml title="a.toml" }\nx = 7171\n```\n```sh\ncat a.toml\n```\n```text\nx = 7171\n```\n'
        self.assertEqual(self.run_text(page), "")

    def test_what_a_page_started_ends_with_it(self) -> None:
        with tempfile.NamedTemporaryFile() as file:
            self.assertEqual(self.run_text(f"```sh\nsleep 100 & echo $! > {file.name}\n```\n"), "")
            command = Path(f"/proc/{int(file.read())}/cmdline")
            self.assertEqual(command.read_bytes() if command.exists() else b"", b"")


if __name__ == "__main__":
    unittest.main()
