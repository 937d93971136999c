#!/bin/sh
# Run one fuzz target over its own corpus and those it shares: replay.sh testdata/fuzz/ROOM.fuzz
# SPDX-License-Identifier: BSD-3-Clause
room=$(basename "$1" .fuzz)
top=${srcdir:-.}/testdata/fuzz
if ! test -d "$top/$room"; then
	echo "$top/$room is not there: every fuzz target has a corpus" >&2
	exit 1
fi
program=$1
set -- "$top/$room"/*
for other in $(awk -v room="$room" '$1 == room { print $2 }' "$top/shared.tsv"); do
	set -- "$@" "$top/$other"/*
done
exec "$program" "$@"
