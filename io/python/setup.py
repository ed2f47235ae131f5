"""Makes the messages from windhover.proto; everything else stands in pyproject.toml."""

import shutil
import subprocess
import sys
from pathlib import Path

from setuptools import setup
from setuptools.command.build_py import build_py
from setuptools.command.sdist import sdist

HERE = Path(__file__).resolve().parent
PROTO = "windhover.proto"


def proto_folder() -> Path:
    """In a checkout the protocol is one folder up, in a source distribution beside this file."""
    for folder in (HERE, HERE.parent):
        if (folder / PROTO).is_file():
            return folder
    raise SystemExit(f"{PROTO} is neither in {HERE} nor above it: build from a whole checkout")


def compiler() -> list[str]:
    found = shutil.which("protoc")
    if found:
        return [found]
    try:
        import grpc_tools  # noqa: F401
    except ImportError:
        raise SystemExit("protoc is missing: apt-get install protobuf-compiler") from None
    return [sys.executable, "-m", "grpc_tools.protoc"]


class BuildWithMessages(build_py):
    def run(self) -> None:
        super().run()
        editable = getattr(self, "editable_mode", False)
        target = HERE / "src" / "windhover" if editable else Path(self.build_lib, "windhover")
        target.mkdir(parents=True, exist_ok=True)
        folder = proto_folder()
        outputs = [f"--python_out={target}", f"--pyi_out={target}"]
        subprocess.run([*compiler(), f"-I{folder}", *outputs, PROTO], check=True)


class SdistWithProto(sdist):
    def make_release_tree(self, base_dir: str, files: list[str]) -> None:
        super().make_release_tree(base_dir, files)
        shutil.copy(proto_folder() / PROTO, base_dir)


setup(cmdclass={"build_py": BuildWithMessages, "sdist": SdistWithProto})
