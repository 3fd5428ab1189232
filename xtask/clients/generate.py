"""Generates a Python client from the OpenAPI document of a running Forgeway, compiles it and imports each module.

Reads FORGEWAY_URL; writes the package `forgeway_client` into the folder `generated` of the working directory. While the
document stays the same, so does the package.
"""

import compileall
import importlib
import importlib.metadata
import os
import pkgutil
import shutil
import subprocess
import sys
import time
import urllib.request
from pathlib import Path

URL = os.environ["FORGEWAY_URL"]
FOLDER = Path("generated").resolve()
PACKAGE = "forgeway_client"
VERSION = importlib.metadata.version("openapi-generator-cli")


def generate(document):
    (FOLDER / "new.json").write_bytes(document)
    generator = Path(sys.executable).with_name("openapi-generator-cli")
    words = [generator, "generate", "--generator-name", "python", "--package-name", PACKAGE]
    words += ["--input-spec", FOLDER / "new.json", "--output", FOLDER]
    # No tests and pages of documentation: they are many, and nobody looks at them here.
    words += ["--global-property", "apiTests=false,modelTests=false,apiDocs=false,modelDocs=false"]
    environment = {**os.environ, "JAVA_OPTS": "-Dlog.level=warn"}
    done = subprocess.run(words, env=environment, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
    if done.returncode != 0 or "ERROR" in done.stdout:
        sys.exit(f"generated client: the generator does not take the document\n{done.stdout}")


def compile_all():
    if not compileall.compile_dir(FOLDER / PACKAGE, quiet=1):
        sys.exit("generated client: not all modules compile")
    sys.path.insert(0, str(FOLDER))
    # The folder may be on the path already, from a time at which it was not there.
    importlib.invalidate_caches()
    package = importlib.import_module(PACKAGE)
    modules = [module.name for module in pkgutil.walk_packages(package.__path__, f"{PACKAGE}.")]
    for name in modules:
        importlib.import_module(name)
    return len(modules)


def main():
    with urllib.request.urlopen(f"{URL}/api/v4/openapi.json", timeout=30) as answer:
        document = answer.read()
    stamp = FOLDER / "stamp"
    wanted = VERSION.encode() + b"\n" + document
    if stamp.is_file() and stamp.read_bytes() == wanted:
        print("generated client: the document has not changed")
        return
    shutil.rmtree(FOLDER, ignore_errors=True)
    FOLDER.mkdir()
    begun = time.monotonic()
    generate(document)
    generated = time.monotonic()
    count = compile_all()
    stamp.write_bytes(wanted)
    seconds = f"{generated - begun:.0f} s to generate, {time.monotonic() - generated:.0f} s to compile and import"
    print(f"generated client: {count} modules by openapi-generator {VERSION}; {seconds}")


main()
