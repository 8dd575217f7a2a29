# SPDX-License-Identifier: BSD-3-Clause
# setup.sh - what ./quickstart and ./check have in common: packages, configure, make. Sourced,
# never run; POSIX sh. Whoever sources it sets ct_log, the file that takes all output, and ct_top,
# the root of the source tree. Functions return 0, or 1 after they have written the reason to
# stderr or the log.

ct_build_packages="build-essential autoconf automake libtool pkg-config libpmix-dev libhwloc-dev
libevent-dev uthash-dev zlib1g-dev libsodium-dev dataset-fashion-mnist"
ct_test_packages="libcmocka-dev clang mandoc openmpi-bin libopenmpi-dev slurmctld slurmd
slurm-client slurm-wlm-basic-plugins munge python3 shellcheck util-linux mount iproute2 git
openssh-server openssh-client libclang-rt-dev libibverbs-dev ibverbs-utils perftest"

# Each argument on a line of its own.
ct_say()
{
    printf '%s\n' "$@"
}

# Those of the named packages that dpkg does not know as installed, in one line.
ct_packages_missing()
{
    for package in "$@"; do
        dpkg-query -W -f='${Status}' "$package" 2>/dev/null | grep -q '^install ok installed$' ||
            printf '%s ' "$package"
    done
}

# Where there is no apt: the parts that a build needs and that cannot be found, in one line.
ct_parts_missing()
{
    for tool in cc make autoreconf automake libtoolize pkg-config; do
        command -v "$tool" >/dev/null 2>&1 || printf '%s ' "$tool"
    done
    for module in pmix hwloc libevent_core zlib libsodium; do
        pkg-config --exists "$module" 2>/dev/null || printf '%s(library) ' "$module"
    done
    printf '#include <uthash.h>\n' | ${CC:-cc} -E - >/dev/null 2>&1 ||
        [ -f "$ct_top/carried/uthash.h" ] || printf 'uthash.h '
    [ -d /usr/share/datasets/fashion-mnist ] || printf '/usr/share/datasets/fashion-mnist '
}

# Installs the named packages where they are missing. ct_installed is 1 if that was any.
ct_packages()
{
    ct_installed=0
    if ! command -v dpkg-query >/dev/null 2>&1 || ! command -v apt-get >/dev/null 2>&1; then
        missing=$(ct_parts_missing)
        [ -z "$missing" ] && return 0
        ct_say "This is no Debian system, and these are missing: $missing" \
            "Install them with this system's own tools, then try again." >&2
        return 1
    fi
    missing=$(ct_packages_missing "$@")
    [ -z "$missing" ] && return 0
    sudo=
    if [ "$(id -u)" -ne 0 ]; then
        sudo=sudo
        if ! command -v sudo >/dev/null 2>&1; then
            ct_say "Missing packages. As root: apt-get install $missing" >&2
            return 1
        fi
    fi
    ct_say "installing packages: $missing"
    # shellcheck disable=SC2086
    $sudo apt-get update >>"$ct_log" 2>&1 &&
        $sudo env DEBIAN_FRONTEND=noninteractive \
            apt-get install -y --no-install-recommends $missing >>"$ct_log" 2>&1 || {
        ct_say "apt-get could not install them; its messages are in $ct_log" >&2
        return 1
    }
    ct_installed=1
}

# Makes ./configure where it is missing; later changes are make's business.
ct_autoreconf()
{
    [ -f "$ct_top/configure" ] && [ -f "$ct_top/Makefile.in" ] &&
        [ -f "$ct_top/config.h.in" ] && return 0
    ct_say "making ./configure"
    (cd "$ct_top" && autoreconf -fi) >>"$ct_log" 2>&1
}

# Configures folder $1 with the remaining arguments, unless it is already configured just so.
ct_configure()
{
    dir=$1
    shift
    mkdir -p "$ct_top/$dir" || return 1
    if [ -f "$ct_top/$dir/config.status" ] &&
        [ "$(cat "$ct_top/$dir/.configured" 2>/dev/null)" = "$*" ]; then
        return 0
    fi
    ct_say "configuring $dir"
    # Where a shell is chosen, configure and libtool take bash: they are slower with it.
    (cd "$ct_top/$dir" && CONFIG_SHELL=/bin/sh /bin/sh ../configure "$@") >>"$ct_log" 2>&1 ||
        return 1
    printf '%s\n' "$*" >"$ct_top/$dir/.configured"
}

# The option of configure by which GPU kernels are compiled where a GPU is, and else not, since nvcc
# takes minutes for them.
ct_kernels()
{
    [ -e /dev/nvidiactl ] && ct_say --with-cuda=auto || ct_say --without-cuda
}

# make in folder $1, with the remaining arguments, on all cores.
ct_make()
{
    dir=$1
    shift
    make -C "$ct_top/$dir" -j "$(nproc 2>/dev/null || echo 2)" "$@" >>"$ct_log" 2>&1
}
