#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# Runs a test written in Python; skips it where there is no Python.
if ! command -v python3 >/dev/null 2>&1; then
    echo "skipped: python3 is missing"
    exit 77
fi
exec python3 -B "$@"
