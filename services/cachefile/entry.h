/* Entries of a cache file, as write.c writes and read.c reads them. Big-endian.
 * SPDX-License-Identifier: BSD-3-Clause
 *
 *     answer  i32 seconds since it was stored, i32 seconds until it expires, u8 enum security with
 *             ANSWER_WHOLE where the records have the TTLs they came with; then the message as
 *             stored: no id, no flags but AA, one question, TTLs as of then
 *     set     u32 TTL, i32 seconds until it expires, u16 type, class, records, signatures, u8 enum
 *             trust, enum security, RRSET_* flags, length of the owner name; then the name, and for
 *             each record and signature a u16 length and that many bytes, uncompressed
 *     zone    u64 mark of its settings, its name; before everything else
 *     end     u64 sets, u64 answers in the whole file
 *
 * Seconds are relative to the time in the head; what was stored while the file was being written
 * is younger than that. */
#ifndef SERVICES_CACHEFILE_ENTRY_H
#define SERVICES_CACHEFILE_ENTRY_H

#define ANSWER_HEAD_LEN 9
#define ANSWER_WHOLE    0x80
#define SET_HEAD_LEN    20
#define END_LEN         16

#endif
