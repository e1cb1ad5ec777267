"""Two models in one image, built by CMake with a bare toolchain file.

    python examples/two_models/build.py build/two_models

trains an SVM on iris and one on wine, compiles both for a Cortex-M7, links them into one image
and prints its sections: the tables of wine are in one of their own.
"""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

from sklearn.datasets import load_iris, load_wine
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.svm import SVC

import kmcompile

HERE = Path(__file__).resolve().parent


def main(folder: Path) -> None:
    """Compile both models, build the image, print its sections."""
    for name, load in (("iris", load_iris), ("wine", load_wine)):
        data = load()
        model = make_pipeline(StandardScaler(), SVC())
        model.fit(data.data, data.target_names[data.target].astype(str))
        kmcompile.compile_model(
            model, target="cortex-m7", mode="exact", name=name, out=folder / name
        )
    toolchain = HERE / "cortex-m7.cmake"
    settings = [f"-DMODELS={folder.resolve()}", f"-DCMAKE_TOOLCHAIN_FILE={toolchain}"]
    build = str(folder / "build")
    cmake("-G", "Unix Makefiles", "-S", str(HERE), "-B", build, *settings)
    cmake("--build", build)
    sizes = ["arm-none-eabi-size", "-A", "-d", str(folder / "build" / "image")]
    print(subprocess.run(sizes, check=True, capture_output=True, text=True).stdout)


def cmake(*arguments: str) -> None:
    """Run CMake; what it prints is shown where it fails."""
    done = subprocess.run(["cmake", *arguments], capture_output=True, text=True, check=False)
    if done.returncode != 0:
        raise SystemExit(done.stdout + done.stderr)


if __name__ == "__main__":
    main(Path(sys.argv[1] if len(sys.argv) > 1 else "build/two_models"))
