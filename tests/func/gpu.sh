# SPDX-License-Identifier: BSD-3-Clause
# gpu.sh - what scripts of programs on GPUs need; sourced after lib.sh. With CT_REAL_GPU=1 they run
# on the machine's driver, on CT_GPU_RANKS ranks, else on the emulated one, and say so.

# gpu_example NAME: skips where its kernels were not built, else sets options_ (where they are),
# gpu_ranks (all that is to be tried) and gpu_some (for what is tried once).
gpu_example()
{
    local file own
    if [ "${CT_REAL_GPU:-0}" = 1 ]; then
        [ -f "$top_builddir/examples/$1.fatbin" ] || skip "nvcc is missing: no kernels of $1"
        options_=
        gpu_some=${CT_GPU_RANKS:-2}
        gpu_ranks="1 $gpu_some"
        return
    fi
    file=examples/$1.emu.so
    [ -f "$top_builddir/emu/cuda/libcuda.so.1" ] || skip "the emulated CUDA driver was not built"
    [ -f "$top_builddir/$file" ] || skip "a C++ compiler is missing: no kernels of $1"
    build_=$(cd "$top_builddir" && pwd)
    options_="--kernels $build_/$file"
    gpu_some=2
    gpu_ranks="1 2 3"
    [ "$CT_CHECK_QUICK" = 0 ] || gpu_ranks="2"
    LD_LIBRARY_PATH=$build_/emu/cuda${LD_LIBRARY_PATH:+:$LD_LIBRARY_PATH}
    CTRAN_GPU_KERNELS=$build_/src/gpu/kernels/ctran_kernels_emu.so
    export LD_LIBRARY_PATH CTRAN_GPU_KERNELS EMU_CUDA_SMS=4
    echo "these runs are on the emulation of the driver, not on a GPU"
}
