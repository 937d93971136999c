"""What every attack stands on: the scripted authorities, the daemon under attack, the measuring.

SPDX-License-Identifier: BSD-3-Clause
"""
