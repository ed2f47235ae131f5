"""The package's source distribution."""

import shutil
import subprocess
import sys
import tarfile
from pathlib import Path

IO = Path(__file__).resolve().parents[3] / "io"


def test_a_source_distribution_holds_all_that_it_is_built_from(tmp_path):
    passed_by = shutil.ignore_patterns("*.egg-info", "__pycache__", "build", "dist")
    shutil.copytree(IO / "python", tmp_path / "io/python", ignore=passed_by)
    shutil.copytree(IO / "c", tmp_path / "io/c")
    shutil.copy(IO / "windhover.proto", tmp_path / "io")
    subprocess.run(
        [sys.executable, "setup.py", "-q", "sdist"],
        cwd=tmp_path / "io/python",
        check=True,
        capture_output=True,
    )
    (archive,) = (tmp_path / "io/python/dist").glob("*.tar.gz")
    with tarfile.open(archive) as held:
        names = {name.partition("/")[2] for name in held.getnames()}
    wanted = {"setup.py", "pyproject.toml", "windhover.proto"}
    wanted |= {f"native/{path.name}" for path in (IO / "python/native").iterdir()}
    wanted |= {f"c/{path.name}" for path in (IO / "c").glob("*.h")}
    sources = IO / "python/src"
    wanted |= {f"src/{path.relative_to(sources)}" for path in sources.rglob("*.py")}
    assert wanted - names == set()
