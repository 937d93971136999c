#!/bin/sh
# Claims about the soak's verdict: a leak is seen however small, and the scatter of a healthy daemon is none.
# SPDX-License-Identifier: BSD-3-Clause
set -u
srcdir=$(cd "${srcdir:-.}" && pwd)
command -v python3 >/dev/null || exit 77
dir=$(mktemp -d) || exit 1
trap 'rm -rf "$dir"' EXIT
failed=0

# rounds SEED COUNT RESIDENT USED DESCRIPTORS LATENCY: rounds of a daemon of 41 MB that scatter as real ones do. Each
# figure is what is added in a round: kB, kB, descriptors, ms.
rounds() {
	awk -v seed="$1" -v count="$2" -v rss="$3" -v used="$4" -v fds="$5" -v ms="$6" '
		function scatter(width) { return width * (rand() + rand() + rand() - 1.5) }
		BEGIN {
			srand(seed)
			for (n = 0; n < count; n++)
				printf "%d %d %d %.3f 10238\n", 41000 + rss * n + scatter(600), 29250 + used * n + scatter(60),
					30 + int(fds * n), 0.05 + ms * n + scatter(0.02)
		}'
}

# claim WHY WANTED ARGUMENTS-OF-rounds...: the verdict, whatever the scatter.
claim() {
	why=$1 wanted=$2
	shift 2
	for seed in 1 2; do
		rounds "$seed" "$@" >"$dir/rounds"
		python3 "$srcdir/contrib/soak" --judge "$dir/rounds" >"$dir/out" 2>&1
		got=$?
		test "$got" -eq "$wanted" || {
			echo "FAIL: $why: the verdict is $got, not $wanted"
			cat "$dir/out"
			failed=1
		}
	done
}

#      why                                           verdict rounds  kB  in use fds ms
claim "a healthy daemon scatters"                         0     80    0      0  0  0
claim "in short runs, too"                                0     24    0      0  0  0
claim "memory that becomes less is no leak"               0     80  -10     -5  0  0
claim "0.1 % a round leaks"                               1     80   41     41  0  0
claim "0.1 % a round, in a short run"                     1     24   41     41  0  0
claim "0.02 % a round, lost in the scatter of the pages"  1     80    6      6  0  0
claim "4 kB a round that no page shows"                   1     80    0      4  0  0
claim "pages that no allocator counts"                    1     80   41      0  0  0
claim "descriptors leak"                                  1     80    0      0  0.2  0
claim "a hit takes longer and longer"                     1     80    0      0  0  0.005
claim "too few rounds say nothing"                        1      7    0      0  0  0
exit "$failed"
