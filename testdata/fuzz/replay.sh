#!/bin/sh
# Run one fuzz target over its own corpus: replay.sh testdata/fuzz/ROOM.fuzz
# SPDX-License-Identifier: BSD-3-Clause
room=$(basename "$1" .fuzz)
corpus=${srcdir:-.}/testdata/fuzz/$room
if ! test -d "$corpus"; then
	echo "$corpus is not there: every fuzz target has a corpus" >&2
	exit 1
fi
exec "$1" "$corpus"/*
