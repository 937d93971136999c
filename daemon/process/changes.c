/* What commands have changed while the daemon runs: the list, its file, and how it is applied.
 * SPDX-License-Identifier: BSD-3-Clause */
#include "daemon/process/changes.h"

#include <errno.h>
#include <inttypes.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "services/policy/policy.h"
#include "services/query/snapshot.h"
#include "util/base/fault.h"
#include "util/base/log.h"
#include "util/base/mem.h"
#include "util/conf/options.h"
#include "util/dns/dname.h"
#include "util/dns/rr.h"

#define SEEN_BITS   (1 << 20)
#define SPARE_LINES 64 /* a file with fewer undone lines is not worth writing anew */

/* ---- items ---- */

static void item_free(struct changes_item *i)
{
	if (!i)
		return;
	mem_free(i->text);
	mem_free(i->problem);
	mem_free(i);
}

static void set_problem(struct changes_item *i, const char *why)
{
	bool is_news = why && (!i->problem || strcmp(i->problem, why) != 0);

	if (is_news && i->is_damaged)
		log_warn("changes-file: a line is damaged, and left as it is: %.100s", i->text);
	else if (is_news)
		log_warn("changes-file: change %" PRIu64 " (%.200s) is not in force: %s", i->number, i->text, why);
	if (!is_news && why)
		return;
	mem_free(i->problem);
	i->problem = why ? mem_text(why) : NULL;
}

static struct changes_item *item_new(uint64_t number, int64_t time_s, const char *text)
{
	struct changes_item *i = mem_zero(sizeof *i);
	struct fault f = { 0 };
	struct change change;

	i->number = number;
	i->time_s = time_s;
	i->text = mem_text(text);
	i->is_readable = change_read(&change, text, &f);
	i->id = change.id;
	i->until_s = change.until_s;
	change_clear(&change);
	if (!i->is_readable)
		set_problem(i, f.text);
	return i;
}

static bool leaves_nothing(const struct changes_item *i)
{
	return i->is_readable && change_when(i->id.kind) == CHANGE_NEVER;
}

/* Keys are hashes already. */
static bool was_seen(const struct changes *c, uint64_t key)
{
	return !c->seen || c->seen[key % SEEN_BITS / 64] >> key % 64 & 1;
}

static void note_key(struct changes *c, uint64_t key)
{
	if (!c->seen)
		c->seen = mem_zero(SEEN_BITS / 8);
	c->seen[key % SEEN_BITS / 64] |= UINT64_C(1) << key % 64;
}

static void append(struct changes *c, struct changes_item *item)
{
	if (c->kept && item->is_readable) {
		note_key(c, item->id.key);
		note_key(c, item->id.owner_key);
	}

	if ((c->count & (c->count - 1)) == 0)
		c->items = mem_grow(c->items, (c->count ? 2 * c->count : 1) * sizeof(struct changes_item *));
	c->items[c->count++] = item;
}

/* Take out the items that are marked, and put `item` (NULL: nothing) in place of the first, or at the end. `frees`: they are in
 * no other list. */
static void exchange(struct changes *c, struct changes_item *item, bool frees)
{
	size_t kept = 0, place = SIZE_MAX;

	for (size_t i = 0; i < c->count; i++) {
		if (!c->items[i]->marked) {
			c->items[kept++] = c->items[i];
			continue;
		}
		place = MIN(place, kept);
		if (frees)
			item_free(c->items[i]);
	}
	c->count = kept;
	if (!item)
		return;
	append(c, item);
	if (place >= kept)
		return;
	memmove(&c->items[place + 1], &c->items[place], (kept - place) * sizeof(struct changes_item *));
	c->items[place] = item;
}

/* ---- before and after ---- */

static void set_marks(struct changes_item **items, size_t count, bool marked)
{
	for (size_t i = 0; i < count; i++)
		items[i]->marked = marked;
}

/* Free what is in the first list and not in the second. */
static void free_rest(struct changes_item **items, size_t count, struct changes_item **kept, size_t kept_count)
{
	set_marks(items, count, false);
	set_marks(kept, kept_count, true);
	for (size_t i = 0; i < count; i++)
		if (!items[i]->marked)
			item_free(items[i]);
	set_marks(kept, kept_count, false);
}

/* There is no way back any more. */
static void settle(struct changes *c)
{
	free_rest(c->former, c->former_count, c->items, c->count);
	mem_free(c->former);
	c->former = NULL;
	c->former_count = 0;
	c->can_go_back = false;
}

static void begin(struct changes *c)
{
	settle(c);
	c->former = c->count ? mem_copy(c->items, c->count * sizeof(struct changes_item *)) : NULL;
	c->former_count = c->count;
	c->can_go_back = true;
}

static void go_back(struct changes *c)
{
	free_rest(c->items, c->count, c->former, c->former_count);
	c->count = c->former_count;
	if (c->count)
		memcpy(c->items, c->former, c->count * sizeof(struct changes_item *));
	mem_free(c->former);
	c->former = NULL;
	c->former_count = 0;
	c->can_go_back = false;
}

/* Drop the marked ones without a line in the file: they would be dropped again. */
static void purge(struct changes *c)
{
	exchange(c, NULL, true);
}

void changes_clear(struct changes *c)
{
	settle(c);
	for (size_t i = 0; i < c->count; i++)
		item_free(c->items[i]);
	mem_free(c->items);
	mem_free(c->seen);
	journal_clear(&c->journal);
	*c = (struct changes){ 0 };
}

/* ---- reading ---- */

static void mark_number(const struct changes *c, uint64_t number)
{
	for (size_t i = 0; i < c->count; i++)
		if (!c->items[i]->is_damaged && c->items[i]->number == number)
			c->items[i]->marked = true;
}

static void on_damage(struct changes *c, const char *raw)
{
	struct changes_item *item = mem_zero(sizeof *item);

	item->is_damaged = true;
	item->text = mem_text(raw);
	set_problem(item, "its line in the file is damaged");
	append(c, item);
}

static void on_line(void *arg, const struct journal_line *l)
{
	struct changes *c = arg;
	struct changes_item *item = NULL;

	c->lines++;
	if (l->raw) {
		on_damage(c, l->raw);
		return;
	}
	c->last = MAX(c->last, l->number);
	if (*l->text)
		item = item_new(l->number, l->time_s, l->text);
	if (item && leaves_nothing(item)) {
		item_free(item);
		item = NULL;
	}
	for (size_t i = 0; i < l->drop_count; i++)
		mark_number(c, l->drops[i]);
	if (l->drop_count)
		exchange(c, item, true);
	else if (item)
		append(c, item);
}

/* That changes cannot be written is known better now than at the first one. */
static void foresee(const struct changes *c)
{
	char *folder = mem_text(c->journal.path), *slash = strrchr(folder, '/');

	if (slash)
		slash[slash == folder] = '\0';
	if (access(slash ? folder : ".", W_OK | X_OK) != 0)
		log_warn("changes-file: cannot write to %s (%s): changes will be refused", slash ? folder : ".", strerror(errno));
	mem_free(folder);
}

void changes_open(struct changes *c, const char *path)
{
	struct fault f = { 0 };

	changes_clear(c);
	c->kept = true;
	if (!journal_read(&c->journal, path, on_line, c, &f)) {
		log_error("changes-file: %s; changes will be refused", f.text);
		return;
	}
	if (c->journal.cut)
		log_warn("changes-file: the end of %s is cut off: a change that was not confirmed is left out", path);
	if (c->count)
		log_ops("changes-file: %zu changes read from %s", c->count, path);
}

void changes_enter(struct changes *c, const char *path)
{
	mem_free(c->journal.path);
	c->journal.path = mem_text(path);
	foresee(c);
}

/* ---- writing ---- */

static void print_item(char **to, size_t *len, const struct changes_item *i)
{
	const struct journal_line l = {
		.number = i->number, .time_s = i->time_s, .text = i->text, .raw = i->is_damaged ? i->text : NULL
	};

	journal_print(to, len, &l);
}

/* Everything, with a line for the last number, which is not given twice. */
static bool rewrite(struct changes *c, struct fault *f)
{
	const struct journal_line last = { .number = c->last, .time_s = (int64_t)time(NULL), .text = "" };
	char *text = NULL;
	size_t len = 0;
	bool good;

	journal_print(&text, &len, &last);
	for (size_t i = 0; i < c->count; i++)
		print_item(&text, &len, c->items[i]);
	good = journal_rewrite(&c->journal, text, len, f);
	if (good)
		c->lines = c->count + 1;
	mem_free(text);
	return good;
}

/* That it cannot be made smaller hinders nothing. */
static void shrink(struct changes *c)
{
	struct fault f = { 0 };

	if (journal_goes_on(&c->journal) && c->lines > 2 * c->count + SPARE_LINES && !rewrite(c, &f))
		log_rare("warning", "changes-file: %s", f.text);
}

struct staging {
	struct changes *changes;
	const struct snapshot *s;
	char *text; /* for the file */
	size_t len, lines;
};

static bool write_staged(const struct staging *g, struct fault *f)
{
	struct changes *c = g->changes;

	if (!g->lines || !c->kept)
		return true;
	if (!journal_goes_on(&c->journal))
		return rewrite(c, f);
	if (!journal_append(&c->journal, g->text, g->len, f))
		return false;
	c->lines += g->lines;
	return true;
}

/* ---- a change ---- */

/* Records go with the zone that they were added to. */
static bool goes_with_zone(const struct change *zone, const struct changes_item *i, const struct localzones *z)
{
	struct localzone_match m;
	struct change data;
	struct fault f = { 0 };
	bool goes = false;

	if (!z || !i->is_readable || change_thing(i->id.kind) != CHANGE_DATA)
		return false;
	if (change_read(&data, i->text, &f) && !data.view == !zone->view &&
	    (!data.view || strcmp(data.view, zone->view) == 0) && dname_is_under(data.name, zone->name)) {
		struct question q = { .name = data.name, .type = TYPE_A, .class_ = CLASS_IN };

		goes = localzones_find(z, &q, NULL, &m) && dname_equals(m.name, zone->name) &&
		       localnode_count(localzones_node(z, &m, data.name, CLASS_IN)) > 0;
	}
	change_clear(&data);
	return goes;
}

/* Mark those whose place `change` takes; their numbers go to `l`. */
static void mark_superseded(const struct staging *g, const struct change *change, struct journal_line *l)
{
	const struct changes *c = g->changes;
	struct fault f = { 0 };
	const struct localzones *z =
		change->id.kind == CHANGE_local_zone_remove ? change_place(change, g->s, &f) : NULL;

	if (!z && change->id.kind != CHANGE_blocklist_resume && !was_seen(c, change->id.key) &&
	    !was_seen(c, change->id.owner_key))
		return;
	for (size_t i = 0; i < c->count; i++) {
		struct changes_item *old = c->items[i];

		old->marked = (old->is_readable && change_supersedes(change, &old->id)) || goes_with_zone(change, old, z);
		if (!old->marked)
			continue;
		l->drops = mem_grow(l->drops, (l->drop_count + 1) * sizeof *l->drops);
		l->drops[l->drop_count++] = old->number;
	}
}

static bool stage(struct staging *g, const char *text, struct fault *f)
{
	struct changes *c = g->changes;
	struct journal_line l = { .number = c->last + 1, .time_s = (int64_t)time(NULL), .text = text };
	struct changes_item *item;
	struct change change;

	if (!change_read(&change, text, f)) {
		change_clear(&change);
		return false;
	}
	mark_superseded(g, &change, &l);
	change_clear(&change);
	item = item_new(l.number, l.time_s, text);
	if (leaves_nothing(item)) {
		item_free(item);
		item = NULL;
	}
	if (l.drop_count)
		exchange(c, item, false);
	else if (item)
		append(c, item);
	if (item || l.drop_count) {
		c->last++;
		g->lines++;
		journal_print(&g->text, &g->len, &l);
	}
	mem_free(l.drops);
	if (c->count <= CHANGES_MOST)
		return true;
	fault_set(f, "%d changes are kept, and no more can be: changes_export shows them as lines for the configuration",
		  CHANGES_MOST);
	return false;
}

static bool is_noted(const struct changes *c, const char *text)
{
	return c->kept || strncmp(text, "forward_", 8) == 0 || strncmp(text, "stub_", 5) == 0;
}

bool changes_keep(struct changes *c, const struct snapshot *s, const char *const *lines, size_t count, struct fault *f)
{
	struct staging g = { .changes = c, .s = s };
	uint64_t last = c->last;
	bool good = true;

	if (!count || !is_noted(c, lines[0]))
		return true;
	if (c->journal.unusable) {
		fault_set(f, "%s", c->journal.unusable);
		return false;
	}
	if (c->kept)
		shrink(c);
	begin(c);
	for (size_t i = 0; good && i < count; i++)
		good = stage(&g, lines[i], f);
	good = good && write_staged(&g, f);
	if (!good) {
		go_back(c);
		c->last = last;
	}
	mem_free(g.text);
	return good;
}

void changes_take_back(struct changes *c)
{
	struct fault f = { 0 };

	if (!c->can_go_back)
		return;
	go_back(c);
	if (c->kept && !journal_take_back(&c->journal, &f) && !rewrite(c, &f))
		log_error("changes-file: a change that was not carried out may come back at the next start: %s", f.text);
}

bool changes_undo(struct changes *c, uint64_t number, struct change *undone, struct fault *f)
{
	struct staging g = { .changes = c, .lines = 1 };
	const struct journal_line l = {
		.number = c->last + 1, .time_s = (int64_t)time(NULL), .drops = &number, .drop_count = 1, .text = ""
	};
	const struct changes_item *found = NULL;
	bool good;

	for (size_t i = 0; i < c->count; i++)
		if (!c->items[i]->is_damaged && c->items[i]->number == number)
			found = c->items[i];
	if (!found || !c->kept) {
		fault_set(f, "there is no change %" PRIu64, number);
		return false;
	}
	if (!change_read(undone, found->text, &(struct fault){ 0 }))
		undone->id.kind = CHANGE_KINDS;
	begin(c);
	mark_number(c, number);
	exchange(c, NULL, false);
	c->last++;
	journal_print(&g.text, &g.len, &l);
	good = write_staged(&g, f);
	if (!good)
		go_back(c);
	mem_free(g.text);
	return good;
}

/* ---- applying ---- */

static bool is_for(const struct changes_item *i, enum change_when when)
{
	return i->is_readable && change_when(i->id.kind) == when;
}

void changes_configure(struct changes *c, struct conf *conf, const struct conf_how *how)
{
	struct conf *scratch = NULL;

	for (size_t i = 0; i < c->count; i++) {
		struct fault f = { 0 };
		struct change change;
		bool good;

		if (!is_for(c->items[i], CHANGE_OPTIONS))
			continue;
		if (!scratch)
			scratch = conf_copy(conf);
		good = change_read(&change, c->items[i]->text, &f) && change_configure(&change, conf, scratch, how, &f);
		change_clear(&change);
		set_problem(c->items[i], good ? NULL : f.text);
		if (good)
			continue;
		conf_free(scratch);
		scratch = NULL;
	}
	conf_free(scratch);
}

bool changes_refuse_options(struct changes *c, const char *why)
{
	bool any = false;

	for (size_t i = 0; i < c->count; i++) {
		if (!is_for(c->items[i], CHANGE_OPTIONS))
			continue;
		set_problem(c->items[i], why);
		any = true;
	}
	return any;
}

struct applying {
	struct snapshot *s;
	struct forwards *forwards; /* NULL: still the snapshot's */
	bool local;
};

/* False: it is of no use. */
static bool apply_forward(struct applying *a, const struct change *change, struct fault *f)
{
	const struct forwards *old = a->forwards ? a->forwards : a->s->forwards;
	const struct forward_change fc = change_forward(change);
	struct forwards *fresh;

	if (fc.remove && a->local && !forwards_find_kind(old, fc.name, fc.is_stub))
		return false;
	fresh = forwards_changed(old, &fc, f);
	if (!fresh)
		return true;
	forwards_free(a->forwards);
	a->forwards = fresh;
	return true;
}

static bool apply_local(const struct applying *a, const struct change *change, struct fault *f)
{
	struct localzones *z = change_place(change, a->s, f);
	bool had_effect = f->set;

	if (z && !change_local(change, z, &had_effect, f))
		return true;
	return had_effect;
}

static void apply(struct applying *a, struct changes_item *i)
{
	enum change_thing thing = change_thing(i->id.kind);
	bool forwards = thing == CHANGE_FORWARD || thing == CHANGE_STUB;
	struct fault f = { 0 };
	struct change change;

	if (!forwards && !a->local)
		return;
	if (change_read(&change, i->text, &f))
		i->marked = forwards ? !apply_forward(a, &change, &f) : !apply_local(a, &change, &f);
	set_problem(i, f.set ? f.text : NULL);
	change_clear(&change);
}

struct snapshot *changes_apply(struct changes *c, struct snapshot *s, bool local)
{
	struct applying a = { .s = s, .local = local };
	struct snapshot *fresh;

	settle(c);
	for (size_t i = 0; i < c->count; i++)
		if (is_for(c->items[i], CHANGE_TABLES))
			apply(&a, c->items[i]);
	purge(c);
	if (!a.forwards)
		return s;
	fresh = snapshot_with_forwards(s, a.forwards);
	snapshot_unpin(s);
	return fresh;
}

void changes_run(struct changes *c, const struct snapshot *s, uint32_t now_s)
{
	int64_t wall_s = (int64_t)time(NULL);

	settle(c);
	for (size_t i = 0; i < c->count; i++) {
		struct fault f = { 0 };
		struct change change;
		bool good;

		if (!is_for(c->items[i], CHANGE_RUNNING))
			continue;
		c->items[i]->marked = c->items[i]->id.kind == CHANGE_blocklist_pause && c->items[i]->until_s <= wall_s;
		/* Where the clock has not been set yet, a pause is no longer than it was to be. */
		good = change_read(&change, c->items[i]->text, &f) &&
		       change_run(&change, s, now_s, MAX(wall_s, c->items[i]->time_s), &f);
		change_clear(&change);
		set_problem(c->items[i], good ? NULL : f.text);
	}
	purge(c);
}
