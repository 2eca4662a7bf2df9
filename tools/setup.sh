#!/usr/bin/env bash
# Makes a machine ready for loopbook: C++ compiler, BLAS, OpenMP, bubblewrap, a browser for the
# tests, a virtual environment, and the explorer's pages.
#
# What is there already is left alone; what is missing comes from apt (Debian 12 and newer, Ubuntu
# 24.04 and newer), pip and npm. Calling it again costs a second at most.
#
#   VENV=path      the virtual environment to make, default .venv
#   PYTHON=python  the interpreter to make it with, default the first of python3, python3.11…
#   LOOPBOOK_CXX   the C++ compiler to use, default the newest clang++-N on PATH
set -euo pipefail
cd "$(dirname "$0")/.."

VENV=${VENV:-.venv}
OLDEST_CLANG=17
TORCH=2.13.0
scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT

say() { printf 'setup: %s\n' "$*"; }
fail() {
    printf 'setup: %s\n' "$*" >&2
    exit 2
}

# --- what is there --------------------------------------------------------------------------------

# The interpreter to use, empty if there is none that is new enough.
find_python() {
    local name
    for name in ${PYTHON:-python3 python3.13 python3.12 python3.11}; do
        if "$name" -c 'import sys; sys.exit(sys.version_info < (3, 11))' 2>/dev/null; then
            command -v "$name"
            return
        fi
    done
}

# Debian splits the parts that make virtual environments off into a package of their own.
can_make_venv() { "$1" -c 'import ensurepip, venv' 2>/dev/null; }

clang_major() { "$1" --version 2>/dev/null | sed -n 's/.*version \([0-9]*\).*/\1/p;q'; }

# The compiler that loopbook.toolchain.compiler will find too, empty if there is none.
find_clang() {
    local name
    if [ -n "${LOOPBOOK_CXX:-}" ]; then
        command -v "$LOOPBOOK_CXX" || fail "LOOPBOOK_CXX names $LOOPBOOK_CXX, which is not there"
        return
    fi
    for name in $(seq -f 'clang++-%g' 30 -1 $OLDEST_CLANG) clang++; do
        if command -v "$name" >"$scratch/path"; then
            if [ "$(clang_major "$name")" -ge $OLDEST_CLANG ]; then
                cat "$scratch/path"
                return
            fi
        fi
    done
}

# links COMPILER openmp|blas…: does a small program that needs these compile and link?
links() {
    local compiler=$1 includes='' calls=0 flags=()
    shift
    case " $* " in *' openmp '*)
        includes+=$'#include <omp.h>\n' calls+=' + omp_get_max_threads()' flags+=(-fopenmp) ;;
    esac
    case " $* " in *' blas '*)
        includes+=$'#include <cblas.h>\n' calls+=' + cblas_ddot(0, 0, 1, 0, 1)' flags+=(-lblas) ;;
    esac
    printf '%sint main() { return %s; }\n' "$includes" "$calls" |
        "$compiler" -std=c++20 -x c++ - -o "$scratch/probe" "${flags[@]}" 2>"$scratch/why"
}

# --- what is missing ------------------------------------------------------------------------------

packages=()
want() { # want REASON PACKAGE…
    say "$1: needs ${*:2}"
    packages+=("${@:2}")
}

as_root() {
    if [ "$(id -u)" -eq 0 ]; then
        "$@"
    else
        sudo "$@"
    fi
}

refresh_apt() {
    command -v apt-get >/dev/null ||
        fail "$1 is missing and there is no apt-get: install it with your system's package manager"
    [ "$(id -u)" -eq 0 ] || command -v sudo >/dev/null ||
        fail "$1 is missing: run 'make setup' as root, or install sudo"
    if [ ! -e "$scratch/refreshed" ]; then
        say 'reading the list of packages (apt-get update)'
        as_root apt-get update -qq || fail "apt-get update failed: see above"
        touch "$scratch/refreshed"
    fi
}

available() {
    [ -n "$(apt-cache policy "$1" 2>/dev/null | sed -n 's/^ *Candidate: *\([^(].*\)/\1/p')" ]
}

# The newest clang that apt offers, as a version number.
newest_clang() {
    local version
    for version in 21 20 19 18 17; do
        if available "clang-$version" && available "libomp-$version-dev"; then
            echo $version
            return
        fi
    done
    fail "apt offers no clang $OLDEST_CLANG or newer: install one from https://apt.llvm.org"
}

need_python() {
    python=$(find_python)
    if [ -z "$python" ]; then
        [ -z "${PYTHON:-}" ] || fail "PYTHON=$PYTHON is no Python 3.11 or newer"
        refresh_apt 'Python 3.11'
        want 'no Python 3.11 or newer' python3 python3-venv
    elif [ ! -x "$VENV/bin/python" ] && ! can_make_venv "$python"; then
        local own
        own=python$("$python" -c 'import sys; print("%d.%d" % sys.version_info[:2])')-venv
        refresh_apt "$own"
        if available "$own"; then
            want "$python cannot make virtual environments" "$own"
        else
            want "$python cannot make virtual environments" python3-venv
        fi
    fi
}

need_compiler() {
    local clang major
    clang=$(find_clang)
    if [ -z "$clang" ]; then
        refresh_apt 'a C++ compiler'
        major=$(newest_clang)
        want 'no C++ compiler that docc can use' "clang-$major"
        want 'OpenMP' "libomp-$major-dev"
        # Without a compiler BLAS cannot be tried; apt leaves it alone where it is there.
        want 'docc links every program with BLAS' libopenblas-dev
        return
    fi
    if links "$clang" openmp blas; then
        return
    fi
    if ! links "$clang" openmp; then
        major=$(clang_major "$clang")
        refresh_apt OpenMP
        want "$clang cannot link OpenMP programs" "libomp-${major}-dev"
    fi
    if ! links "$clang" blas; then
        refresh_apt BLAS
        want "$clang cannot link BLAS, which docc wants for every program" libopenblas-dev
    fi
}

# LightGBM's wheel loads GNU's OpenMP, which a bare system may lack.
need_gomp() {
    if ! /sbin/ldconfig -p | grep -q 'libgomp\.so\.1'; then
        refresh_apt "GNU's OpenMP"
        want 'LightGBM needs it' libgomp1
    fi
}

# What strangers contribute to a book is built and run only behind bubblewrap's walls.
need_bubblewrap() {
    if ! command -v bwrap >/dev/null; then
        refresh_apt bubblewrap
        want "strangers' code runs in a jail" bubblewrap
    fi
}

# The tests of the server keep books on a PostgreSQL of their own.
need_postgres() {
    if ! compgen -G '/usr/lib/postgresql/*/bin/postgres' >/dev/null && ! command -v postgres >/dev/null
    then
        refresh_apt PostgreSQL
        want 'the tests start one' postgresql
    fi
}

# The tests open the explorer in it. Where apt has none (Ubuntu keeps it elsewhere), they are skipped.
need_chromium() {
    if ! command -v chromium >/dev/null && ! command -v chromium-browser >/dev/null; then
        refresh_apt Chromium
        if available chromium; then
            want 'the tests open the explorer in a browser' chromium fonts-dejavu-core
        else
            say 'there is no chromium in apt: tests that need a browser are skipped'
        fi
    fi
}

need_python
need_compiler
need_gomp
need_bubblewrap
need_postgres
need_chromium
if [ ${#packages[@]} -gt 0 ]; then
    say "installing with apt: ${packages[*]}"
    as_root env DEBIAN_FRONTEND=noninteractive \
        apt-get install -y -qq --no-install-recommends "${packages[@]}" >"$scratch/apt" 2>&1 ||
        { tail -5 "$scratch/apt" >&2; fail "apt could not install ${packages[*]}"; }
    python=$(find_python)
    [ -n "$python" ] || fail 'there is still no Python 3.11 or newer: set PYTHON=/path/to/python'
    clang=$(find_clang)
    [ -n "$clang" ] || fail 'there is still no usable clang++'
    links "$clang" openmp blas ||
        fail "$clang still cannot link OpenMP and BLAS: $(head -1 "$scratch/why")"
fi

# --- the virtual environment, and what is built with it -------------------------------------------

# The explorer's pages, where their sources are newer; says so itself.
build_explorer() {
    "$VENV/bin/python" hatch_build.py || fail "the explorer's pages could not be built: see above"
}

# The stamp says what the environment was made from, so that a change makes it anew.
stamp=$VENV/.loopbook-setup
state=$({ pwd; cat pyproject.toml requirements.lock tools/setup.sh; } | sha256sum)
if [ -x "$VENV/bin/python" ] && [ "$(cat "$stamp" 2>/dev/null)" = "$state" ]; then
    build_explorer
    exit 0
fi
if [ ! -x "$VENV/bin/python" ]; then
    say "making the virtual environment $VENV with $python"
    "$python" -m venv "$VENV"
fi
pip() { "$VENV/bin/python" -m pip --disable-pip-version-check --quiet "$@"; }
# torch goes first and alone, and is not locked by its hash: which build of it comes, with CUDA or
# without, is for the machine to say. What the build needs besides comes with it.
if ! "$VENV/bin/python" -c "
import importlib.metadata as metadata, sys
sys.exit(metadata.version('torch').split('+')[0] != '$TORCH')" 2>/dev/null; then
    say "installing torch $TORCH"
    pip install "torch==$TORCH" || fail "pip could not install torch $TORCH"
fi
say 'installing what requirements.lock names'
pip install --require-hashes --no-deps --requirement requirements.lock ||
    fail 'pip could not install what requirements.lock names'
pip install --no-deps --no-build-isolation --editable . || fail 'pip could not install loopbook'
pip check >"$scratch/check" ||
    fail "requirements.lock does not fit, renew it with 'make lock': $(head -1 "$scratch/check")"
printf '%s' "$state" >"$stamp"
build_explorer
say "ready; 'source $VENV/bin/activate' gives you the loopbook command"
