#!/bin/sh
# Each step that doc/walk.md names is in the file it is said to be in.
# SPDX-License-Identifier: BSD-3-Clause
cd "${srcdir:-.}" || exit 1
failed=0 steps=0
for step in $(grep -o '`[a-z0-9_/]*\.[ch]: [a-z0-9_]*`' doc/walk.md | tr -d '` ' | sort -u); do
	steps=$((steps + 1))
	grep -qE "(^|[ *])${step#*:}\(" "${step%:*}" 2>/dev/null ||
		{ echo "FAIL: doc/walk.md: ${step%:*} has no ${step#*:}()"; failed=1; }
done
test "$steps" -gt 40 || { echo "FAIL: doc/walk.md: only $steps steps were found"; failed=1; }
exit $failed
