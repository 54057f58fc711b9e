"""Programs over generated stubs."""

import pathlib
import subprocess

STRICT = ["-std=c99", "-Wall", "-Wextra", "-Wconversion", "-pedantic", "-Werror"]


def build(mrvlc, include, program, name):
    """PROGRAM_NAME: the program PROGRAM.c of this folder over the stub of the compile in the folder `name`."""
    library = pathlib.Path(mrvlc).parent.parent / "lib"
    here = pathlib.Path(__file__).parent
    source = pathlib.Path(f"{program}_{name}.c")
    source.write_text((here / f"{program}.c").read_text().replace("NAME", name))
    subprocess.run(["gcc", "-O1", *STRICT, f"-I{include}", f"-I{here.parent}", f"-I{name}", "-o", f"{program}_{name}", source,
                    f"{name}/{name}.c", f"{name}/{name}_weights.S", "-Xassembler", f"-I{name}", f"-L{library}",
                    f"-Wl,-rpath,{library}", "-lmrvl_simdev", "-lm"], check=True)
