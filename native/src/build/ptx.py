#!/usr/bin/env python3
"""Makes the PTX of each kernel source with NVRTC: ptx.py LIBNVRTC [FOLDER]. Without FOLDER it writes the files that ship.

NVRTC of CUDA 11.8 is required: a driver refuses PTX that is newer than itself. It needs no GPU and no file of NVIDIA's besides the library.
"""
import ctypes
import pathlib
import sys

SOURCES = pathlib.Path(__file__).resolve().parent.parent / "main/cuda"
SHIPPED = SOURCES.parent / "resources/dev/gpuwarden/nat/cuda"
RELEASE = (11, 8)


def text(function, size_function, program):
    size = ctypes.c_size_t()
    size_function(program, ctypes.byref(size))
    buffer = ctypes.create_string_buffer(size.value)
    function(program, buffer)
    return buffer.value.decode()


def ptx(nvrtc, source):
    program = ctypes.c_void_p()
    code = nvrtc.nvrtcCreateProgram(ctypes.byref(program), source.read_bytes(), source.name.encode(), 0, None, None)
    if code == 0:
        options = [b"--gpu-architecture=compute_75", b"--std=c++14", b"-I" + str(SOURCES).encode()]
        code = nvrtc.nvrtcCompileProgram(program, len(options), (ctypes.c_char_p * len(options))(*options))
    if code:
        log = text(nvrtc.nvrtcGetProgramLog, nvrtc.nvrtcGetProgramLogSize, program) if program else ""
        sys.exit(f"{source}: NVRTC returned {code}\n{log}")
    return text(nvrtc.nvrtcGetPTX, nvrtc.nvrtcGetPTXSize, program)


def main(library, folder=SHIPPED):
    nvrtc = ctypes.CDLL(library)
    nvrtc.nvrtcGetPTX.argtypes = nvrtc.nvrtcGetProgramLog.argtypes = [ctypes.c_void_p, ctypes.c_char_p]
    major, minor = ctypes.c_int(), ctypes.c_int()
    nvrtc.nvrtcVersion(ctypes.byref(major), ctypes.byref(minor))
    if (major.value, minor.value) != RELEASE:
        sys.exit(f"{library}: NVRTC {major.value}.{minor.value}, expected {RELEASE[0]}.{RELEASE[1]}; get the wheel of cuda-wheels.txt")
    for source in sorted(SOURCES.glob("*.cu")):
        header = f"// {source.name} by NVRTC {major.value}.{minor.value}; made by native/src/build/ptx.py, not by hand.\n"
        (pathlib.Path(folder) / f"{source.stem}.ptx").write_text(header + ptx(nvrtc, source).strip() + "\n")


if __name__ == "__main__":
    if len(sys.argv) not in (2, 3):
        sys.exit(__doc__)
    main(*sys.argv[1:])
