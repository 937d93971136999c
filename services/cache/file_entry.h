/* Entries of a cache file, as file_write.c writes and file_read.c reads them. Big-endian.
 * SPDX-License-Identifier: BSD-3-Clause
 *
 *     answer  i32 seconds since it was stored, i32 seconds until it expires, u8 enum security; then
 *             the message as it was stored: no id, flags but AA, one question, TTLs of that time
 *     set     u32 TTL, i32 seconds until it expires, u16 type, class, records, signatures, u8 enum
 *             trust, enum security, RRSET_* flags, bytes of the owner's name; then the name, and of
 *             each record and signature u16 bytes and these bytes, uncompressed
 *     end     u64 sets, u64 answers of the whole file
 *
 * Seconds are counted from the time in the head; what came while the file was being written is
 * younger than that. */
#ifndef SERVICES_CACHE_FILE_ENTRY_H
#define SERVICES_CACHE_FILE_ENTRY_H

#define ANSWER_HEAD_LEN 9
#define SET_HEAD_LEN    20
#define END_LEN         16

#endif
