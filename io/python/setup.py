"""Generates the messages from windhover.proto, and builds the module of windhover.Engine where a
C++ compiler and pybind11 are installed; everything else is in pyproject.toml."""

import os
import shutil
import subprocess
import sys
from pathlib import Path

from setuptools import Extension, setup
from setuptools.command.build_ext import build_ext
from setuptools.command.build_py import build_py
from setuptools.command.sdist import sdist

HERE = Path(__file__).resolve().parent
PROTO = "windhover.proto"


def beside(name: str) -> Path:
    """Path of a file that is one folder up in a checkout, and beside this one in an sdist."""
    for folder in (HERE, HERE.parent):
        if (folder / name).exists():
            return folder / name
    raise SystemExit(f"{name} is neither in {HERE} nor above it: build from a whole checkout")


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
        folder = beside(PROTO).parent
        outputs = [f"--python_out={target}", f"--pyi_out={target}"]
        subprocess.run([*compiler(), f"-I{folder}", *outputs, PROTO], check=True)


class BuildEngine(build_ext):
    """Where the module cannot be built the client is installed without windhover.Engine."""

    def build_extension(self, ext: Extension) -> None:
        include = Path(self.build_temp, "include")
        io = include / "windhover" / "io"
        shutil.copytree(beside("c"), io / "c", dirs_exist_ok=True)
        shutil.copytree(HERE / "native", io / "python" / "native", dirs_exist_ok=True)
        ext.include_dirs.append(str(include))
        try:
            import pybind11
        except ImportError:  # the compiler finds the headers of pybind11-dev by itself
            pass
        else:
            ext.include_dirs.append(pybind11.get_include())
        super().build_extension(ext)


class SdistWithProto(sdist):
    def make_release_tree(self, base_dir: str, files: list[str]) -> None:
        super().make_release_tree(base_dir, files)
        shutil.copy(beside(PROTO), base_dir)
        shutil.copytree(beside("c"), Path(base_dir, "c"), ignore=shutil.ignore_patterns("*.cc"))


ENGINE = Extension(
    "windhover._engine",
    [f"native/{name}.cc" for name in ("engine", "library", "module")],
    depends=[f"native/{name}.h" for name in ("engine", "library", "without_gil")],
    language="c++",
    define_macros=[("_FORTIFY_SOURCE", "2")],
    extra_compile_args=["-std=c++20", "-fvisibility=hidden", "-g0"],
    extra_link_args=["-s", "-Wl,-z,relro,-z,now"],
    optional="WINDHOVER_ENGINE" not in os.environ,  # packagers set it: a failed build then fails
)
setup(
    ext_modules=[ENGINE],
    cmdclass={"build_ext": BuildEngine, "build_py": BuildWithMessages, "sdist": SdistWithProto},
)
