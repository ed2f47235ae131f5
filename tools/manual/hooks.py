"""What the manual's pages become before MkDocs sees them.

A line `{{ PATH }}` is replaced by the file of that path in the tree. The pages of the tree named in
mkdocs.yml under `extra.tree` become pages of the site, and links to them links to those; a link to
any other file of the tree becomes its words and its path, because the site holds no sources. What
belongs to MkDocs is imported where it is used, so that the tests can use with_files() without it.
"""

import os
import re

ROOT = os.path.realpath(os.path.join(os.path.dirname(__file__), "../.."))
INCLUDED = re.compile(r"^\{\{ (\S+) \}\}$", re.MULTILINE)
LINK = re.compile(r"(!?)\[((?:[^][]|!?\[[^][]*\](?:\([^)]*\))?)*)\]\(([^)\s]+)\)")


def with_files(markdown: str) -> str:
    """The page with every included file of the tree in its place."""

    def text(match: "re.Match[str]") -> str:
        with open(os.path.join(ROOT, match[1]), encoding="utf-8") as file:
            return file.read().rstrip("\n")

    return INCLUDED.sub(text, markdown)


def on_config(config):
    """Tells a command from what comes of it: the style sheet needs the language of a block."""
    from pygments.formatters import HtmlFormatter

    class Formatter(HtmlFormatter):
        def __init__(self, lang_str="", **options):
            options["cssclass"] = f"codehilite {lang_str}"
            super().__init__(**options)

    config["mdx_configs"]["codehilite"]["pygments_formatter"] = Formatter
    return config


def on_files(files, config):
    """Adds the tree's own pages, under the names that mkdocs.yml gives them."""
    from mkdocs.structure.files import File

    for path, name in config["extra"]["tree"].items():
        file = File(name, ROOT, config["site_dir"], config["use_directory_urls"])
        file.abs_src_path = os.path.join(ROOT, path)
        files.append(file)
    return files


def link_target(target, source, page, config):
    """Where a relative link of the file `source` leads on the site; None: to no page of it."""
    path, hash_sign, section = target.partition("#")
    if not path:
        return target
    wanted = os.path.normpath(os.path.join(os.path.dirname(source), path))
    if os.path.isdir(wanted):
        wanted = os.path.join(wanted, "README.md")
    name = config["extra"]["tree"].get(os.path.relpath(wanted, ROOT))
    docs = os.path.realpath(config["docs_dir"])
    if name is None and wanted.startswith(docs + os.sep) and os.path.exists(wanted):
        name = os.path.relpath(wanted, docs)
    if name is None:
        return None
    return os.path.relpath(name, os.path.dirname(page.file.src_path)) + hash_sign + section


def on_page_markdown(markdown, page, config, files):
    """Includes files, and turns links into the tree into links of the site."""
    source = os.path.realpath(page.file.abs_src_path)

    def link(match):
        picture, words, target = match.groups()
        if re.match(r"[a-z]+:", target):
            return match[0]
        where = link_target(target, source, page, config)
        if where is not None:
            return f"{picture}[{words}]({where})"
        path = os.path.relpath(os.path.join(os.path.dirname(source), target.split("#")[0]), ROOT)
        shown = f"`{os.path.normpath(path)}`"
        return shown if picture or words.strip("`") in shown else f"{words} ({shown})"

    parts = re.split(r"(^```.*?^```$)", with_files(markdown), flags=re.MULTILINE | re.DOTALL)
    return "".join(part if part.startswith("```") else LINK.sub(link, part) for part in parts)


def replace_in(path, line, ours):
    """Puts `ours` in place of a line of MkDocs' own scripts, which has to be there."""
    with open(path, encoding="utf-8") as file:
        script = file.read()
    if script.count(line) != 1:
        raise RuntimeError(f"this MkDocs writes {path} in another way: {line}")
    with open(path, "w", encoding="utf-8") as file:
        file.write(script.replace(line, ours))


def on_post_build(config):
    """What the search needs to know: where the site begins, and what a question is.

    The first stands in a file, so that a server may forbid scripts within pages. The words of a
    question end where those of the pages do, so that few_draws is found by its name; it is also what
    was pasted, or typed before the index had come; and to an empty one there is no answer.
    """
    site = config["site_dir"]
    for folder in {os.path.dirname(file) for file in ["", *config["extra"]["tree"].values()]}:
        with open(os.path.join(site, folder, "base.js"), "w", encoding="utf-8") as file:
            file.write(f'var base_url = "{os.path.relpath(".", folder or ".")}";\n')
    separator = "lunr.tokenizer.separator = new RegExp(data.config.separator);"
    ours = f"{separator} lunr.QueryLexer.termSeparator = lunr.tokenizer.separator;"
    replace_in(os.path.join(site, "search/worker.js"), separator, ours)
    main = os.path.join(site, "search/main.js")
    listen = 'search_input.addEventListener("keyup", doSearch);'
    ours = 'search_input.addEventListener("input", doSearch); if (search_input.value) doSearch();'
    replace_in(main, listen, ours)
    ours = "document.getElementById('mkdocs-search-results').replaceChildren();"
    replace_in(main, "    displayResults([]);", f"    {ours}")
