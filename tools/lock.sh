#!/usr/bin/env bash
# Renews requirements.lock: exact versions and hashes of all that `make setup` installs, for Python
# 3.11 and newer on any processor. Only torch, and what its builds with CUDA bring, is left out:
# tools/setup.sh installs that before.
#
#   VENV=path   the virtual environment, default .venv
#   UPGRADE=    keep what is locked as far as pyproject.toml allows, default: take the newest
set -euo pipefail
cd "$(dirname "$0")/.."

VENV=${VENV:-.venv}
LOCK=requirements.lock
EXTRAS=(train torch plot ui tune corpus server farm docs dev)
scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT

[ -x "$VENV/bin/python" ] || { echo "lock: there is no $VENV: run 'make setup'" >&2; exit 2; }
"$VENV/bin/python" -m pip --disable-pip-version-check --quiet install \
    --target "$scratch/uv" 'uv>=0.9,<1' 2>/dev/null
cp "$LOCK" "$scratch/$LOCK" 2>/dev/null || true
# The names of those packages all begin alike; each stands on a line of its own, before its hashes.
"$scratch/uv/bin/uv" --cache-dir "$scratch/cache" pip compile pyproject.toml "${EXTRAS[@]/#/--extra=}" \
    --universal --python-version 3.11 --generate-hashes --no-header --quiet \
    ${UPGRADE---upgrade} --no-emit-package torch --output-file "$scratch/$LOCK" >/dev/null
{
    echo "# Made by 'make lock' from pyproject.toml."
    awk '/^[^ #]/ { left_out = /^(nvidia|cuda|triton)[-=]/ } !left_out' "$scratch/$LOCK"
} >"$scratch/done"
mv "$scratch/done" "$LOCK"
printf 'lock: %s names %s packages\n' "$LOCK" "$(grep -c '^[a-z].*==' "$LOCK")"
