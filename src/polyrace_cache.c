/* The key, the memory and the files of remembered answers.
 *
 * The key is a digest of everything that an answer can depend on: our sources, the libraries' versions, the
 * options, the text, the kernel, the launch's facts and contents, and which records share a source place
 * (reports join those). Locations are left out of the text, unless the answer holds places of its own.
 *
 * A file is written under another name and renamed, so readers see whole files only; it carries its key and
 * the digest of its bytes. What does not fit is ignored with a note and written anew. */
#include "polyrace_cache.h"
#include "build_id.h"
#include "hb/recall.h"
#include "pre/pre.h"
#include <errno.h>
#include <fcntl.h>
#include <gmp.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

enum { MOST_ENTRIES = 4096, FEW_BUCKETS = 64, BUCKETS = 8192, MOST_BYTES = 64 << 20, MOST_FILE = 64 << 20 };

typedef struct answer {
    unsigned char key[PR_DIGEST_BYTES];
    struct answer *next; /* in the bucket */
    struct answer *younger;
    size_t n;
    unsigned char bytes[];
} answer;

struct pr_answers {
    answer *few[FEW_BUCKETS], **bucket; /* BUCKETS of them when there are more than FEW_BUCKETS answers */
    answer *oldest, *youngest;
    int n;
    size_t bytes;
    unsigned serial; /* of temporary files */
};

/* --- the key ------------------------------------------------------------------------------------ */

typedef struct key_state {
    pr_digest plain, placed;
} key_state;

static void add(key_state *k, const void *data, size_t n)
{
    pr_digest_add(&k->plain, data, n);
    pr_digest_add(&k->placed, data, n);
}

static void add_int(key_state *k, pr_i128 v)
{
    unsigned char b[16];
    for (int i = 0; i < 16; i++) b[i] = (unsigned char)((unsigned __int128)v >> 8 * i);
    add(k, b, sizeof b);
}

static void add_ints(key_state *k, const int64_t *v, int n)
{
    add_int(k, n);
    for (int i = 0; i < n; i++) add_int(k, v[i]);
}

static void add_str(key_state *k, pr_str s)
{
    add_int(k, (pr_i128)s.n);
    add(k, s.s, s.n);
}

static void add_text(key_state *k, const char *s)
{
    add_int(k, s != NULL);
    if (s) add_str(k, pr_str_of(s));
}

/* End of the string or comment that begins at i, or i when none does. */
static size_t past_quoted(pr_str t, size_t i)
{
    if (t.s[i] == '"') {
        for (i++; i < t.n && t.s[i] != '"'; i++) i += t.s[i] == '\\';
        return i < t.n ? i + 1 : t.n;
    }
    if (t.s[i] == '/' && i + 1 < t.n && t.s[i + 1] == '/')
        while (i < t.n && t.s[i] != '\n') i++;
    return i;
}

static size_t past_parentheses(pr_str t, size_t i)
{
    int depth = 0;
    while (i < t.n) {
        size_t q = past_quoted(t, i);
        if (q > i) {
            i = q;
            continue;
        }
        depth += t.s[i] == '(' ? 1 : t.s[i] == ')' ? -1 : 0;
        i++;
        if (!depth) break;
    }
    return i;
}

static bool starts(pr_str t, size_t i, const char *word) { return pr_str_starts((pr_str){ t.s + i, t.n - i }, word); }

/* The text without ` loc(...)` and without lines that define a `#loc` alias: what remains gives the same
 * operations. Calls f for each piece kept. */
static void without_locations(pr_str t, void (*f)(void *user, const char *s, size_t n), void *user)
{
    size_t from = 0, i = 0;
    bool line = true; /* nothing but blanks since the line began */
    while (i < t.n) {
        char c = t.s[i];
        size_t q = past_quoted(t, i);
        if (q > i) {
            i = q;
            line = false;
        } else if (line && starts(t, i, "#loc")) {
            size_t eq = i;
            while (eq < t.n && t.s[eq] != '=' && t.s[eq] != '\n') eq++;
            f(user, t.s + from, i - from);
            for (i = eq < t.n && t.s[eq] == '=' ? eq + 1 : eq; i < t.n && t.s[i] == ' ';) i++;
            if (starts(t, i, "loc(")) i = past_parentheses(t, i + 3);
            from = i;
            line = false;
        } else if ((c == ' ' || c == '\t' || c == '\n') && starts(t, i + 1, "loc(")) {
            f(user, t.s + from, i - from);
            from = i = past_parentheses(t, i + 4);
            line = false;
        } else {
            line = c == '\n' || (line && (c == ' ' || c == '\t'));
            i++;
        }
    }
    f(user, t.s + from, t.n - from);
}

static void add_piece(void *user, const char *s, size_t n) { pr_digest_add(user, s, n); }

static void add_module(key_state *k, const pr_job *j)
{
    pr_str text = j->module->ir->text;
    pr_digest_add(&k->placed, text.s, text.n);
    without_locations(text, add_piece, &k->plain);
    add_int(k, j->module->ir->n_ops);
    add_int(k, j->module->ir->n_values);
    add_str(k, pr_op_attr(j->func, "sym_name")->text);
}

static void add_versions(key_state *k, const pr_plan *p)
{
    /* A process has one of each, so answers in memory need no versions. Z3 is loaded when it is asked for its own. */
    const pr_engine *z3 = p->o.cache_dir ? pr_engine_z3() : NULL;
    add_text(k, POLYRACE_BUILD_ID);
    add_text(k, polyrace_version());
    add_text(k, p->o.cache_dir ? pr_engine_isl()->version() : NULL);
    add_text(k, p->o.cache_dir ? gmp_version : NULL);
    add_text(k, z3 ? z3->version() : NULL);
}

static void add_options(key_state *k, const pr_plan *p, const pr_job *j)
{
    const pr_options *o = &p->hb;
    const int64_t v[] = { o->engine, o->no_pretest, o->cross_check, o->stop_at, o->atomic_order, o->dep_strict,
                          o->source_order, o->budget_ms, o->t0_timeout_ms, o->t1_timeout_ms, o->fault, o->no_explain, o->explain_factor,
                          o->limits.max_ops, o->limits.first_ops, o->limits.z3_rlimit, o->limits.max_leaves,
                          o->limits.sweep, o->limits.enumerate, o->limits.delta_nodes, o->limits.t_wall_ms,
                          p->o.accept_premises, p->o.snapshot_elements, p->o.snapshot_bytes, p->o.max_memory };
    add_ints(k, v, (int)PR_LEN(v));
    add_int(k, j->n_assume);
    for (int i = 0; i < j->n_assume; i++) add_text(k, j->assume[i].text);
}

static void add_tensor(key_state *k, const pr_tensor *t)
{
    add_str(k, t->name);
    add_str(k, t->dtype);
    const int64_t v[] = { t->elem_bytes, t->is_int, t->is_unsigned, t->is_bool, t->numel, t->contiguous, t->synthetic,
                          t->has_values };
    add_ints(k, v, (int)PR_LEN(v));
    add_ints(k, t->shape, t->rank);
    add_ints(k, t->stride, t->rank);
    add_int(k, t->ptr);
    add_int(k, t->storage_lo);
    add_int(k, t->storage_hi);
    for (int64_t i = 0; t->has_values && i < t->numel; i++) add_int(k, t->values[i]);
    add_text(k, t->no_values);
}

static void add_launch(key_state *k, const pr_launch *l)
{
    add_int(k, l != NULL);
    if (!l) return;
    const int64_t v[] = { l->grid_known, l->grid[0], l->grid[1], l->grid[2], l->num_warps, l->num_ctas };
    add_ints(k, v, (int)PR_LEN(v));
    add_str(k, l->triton);
    add_str(k, l->target);
    add_int(k, l->n_assume);
    for (int i = 0; i < l->n_assume; i++) add_text(k, l->assume[i].text);
    add_int(k, l->n_args);
    for (int i = 0; i < l->n_args; i++) {
        const pr_arg *a = &l->args[i];
        add_int(k, a->kind);
        add_str(k, a->name);
        add_int(k, a->value);
        add_int(k, a->tensor != NULL);
        if (a->tensor) add_tensor(k, a->tensor);
        add_ints(k, a->desc_block, a->desc_rank);
        add_ints(k, a->desc_shape, a->desc_rank);
        add_ints(k, a->desc_stride, a->desc_rank);
    }
}

static bool same_place(const pr_loc *a, const pr_loc *b)
{
    if (!a->line || !b->line) return a->text_line == b->text_line;
    return a->line == b->line && a->col == b->col && pr_str_eq(a->file, b->file) && pr_str_eq(a->op, b->op);
}

/* What the lowering took from the text's names, and which records lie at one place. */
static void add_records(key_state *k, const pr_records *r)
{
    add_int(k, r->n_args);
    for (int i = 0; i < r->n_args; i++) add_str(k, r->args[i].name);
    add_int(k, r->records.n);
    for (int i = 0; i < r->records.n; i++) {
        int first = 0;
        while (!same_place(&r->records.data[first].loc, &r->records.data[i].loc)) first++;
        add_int(k, first);
    }
    for (int i = 0; i < r->records.n; i++) add_int(k, r->records.data[i].thread_map);
    add_int(k, r->refusals.n);
    for (int i = 0; i < r->refusals.n; i++) {
        add_int(k, r->refusals.data[i].kind);
        add_text(k, r->refusals.data[i].message);
    }
}

bool pr_question_of(const pr_plan *p, const pr_job *j, pr_question *out)
{
    key_state k;
    if (p->o.no_cache || !j->lowered || !j->records) return false;
    pr_records_sort(j->records); /* answers name records by number */
    pr_digest_init(&k.plain);
    pr_digest_init(&k.placed);
    pr_digest_add(&k.placed, "placed", 6);
    add_versions(&k, p);
    add_options(&k, p, j);
    add_module(&k, j);
    add_launch(&k, j->launch);
    add_records(&k, j->records);
    pr_digest_now(&k.plain, out->plain);
    pr_digest_now(&k.placed, out->placed);
    return true;
}

/* --- memory ------------------------------------------------------------------------------------- */

static answer **bucket_of(pr_answers *m, const unsigned char *key)
{
    unsigned hash = key[0] | (unsigned)key[1] << 8;
    return &m->bucket[m->bucket == m->few ? hash % FEW_BUCKETS : hash % BUCKETS];
}

static const answer *recall(pr_answers *m, const unsigned char *key)
{
    const answer *a = m ? *bucket_of(m, key) : NULL;
    while (a && memcmp(a->key, key, PR_DIGEST_BYTES) != 0) a = a->next;
    return a;
}

static void drop_oldest(pr_answers *m)
{
    answer *old = m->oldest, **link = bucket_of(m, old->key);
    while (*link != old) link = &(*link)->next;
    *link = old->next;
    m->oldest = old->younger;
    m->bytes -= old->n;
    m->n--;
    free(old);
}

static void put_in_bucket(pr_answers *m, answer *a)
{
    answer **first = bucket_of(m, a->key);
    a->next = *first;
    *first = a;
}

/* Most processes keep one answer: a large table from the start would cost more than it saves. */
static void more_buckets(pr_answers *m)
{
    answer **wide = calloc(BUCKETS, sizeof *wide);
    if (!wide) return;
    m->bucket = wide;
    for (answer *a = m->oldest; a; a = a->younger) put_in_bucket(m, a);
}

static void remember(polyrace_context *c, const unsigned char *key, const void *bytes, size_t n)
{
    if (!c->answers && (c->answers = calloc(1, sizeof *c->answers))) c->answers->bucket = c->answers->few;
    pr_answers *m = c->answers;
    if (!m || n > MOST_BYTES / 4 || recall(m, key)) return;
    answer *a = malloc(sizeof *a + n);
    if (!a) return;
    while (m->n == MOST_ENTRIES || (m->n && m->bytes + n > MOST_BYTES)) drop_oldest(m);
    memcpy(a->key, key, PR_DIGEST_BYTES);
    memcpy(a->bytes, bytes, n);
    a->n = n;
    a->younger = NULL;
    if (m->n >= FEW_BUCKETS && m->bucket == m->few) more_buckets(m);
    put_in_bucket(m, a);
    if (m->n++) m->youngest->younger = a;
    else m->oldest = a;
    m->youngest = a;
    m->bytes += n;
}

void pr_answers_free(pr_answers *m)
{
    while (m && m->n) drop_oldest(m);
    if (m && m->bucket != m->few) free(m->bucket);
    free(m);
}

/* --- files -------------------------------------------------------------------------------------- */

static const char magic[16] = "polyrace answer"; /* followed by key, length (8 bytes), bytes, digest of all that */
enum { HEAD = sizeof magic + PR_DIGEST_BYTES + 8 };

static void note(pr_plan *p, const char *format, const char *path, const char *why)
{
    pr_arena *arena = p->box->child.arena;
    const char *text = pr_arena_printf(arena, format, path, why);
    for (int i = 0; i < p->box->v.notes.n; i++)
        if (strcmp(p->box->v.notes.data[i], text) == 0) return;
    pr_vec_push(arena, &p->box->v.notes, text);
}

static char *path_of(const pr_plan *p, pr_arena *arena, const unsigned char *key)
{
    char hex[2 * PR_DIGEST_BYTES + 1];
    for (int i = 0; i < PR_DIGEST_BYTES; i++) snprintf(hex + 2 * i, 3, "%02x", key[i]);
    return pr_arena_printf(arena, "%s/%s.answer", p->o.cache_dir, hex);
}

static uint64_t length_at(const unsigned char *b)
{
    uint64_t n = 0;
    for (int i = 7; i >= 0; i--) n = n << 8 | b[i];
    return n;
}

/* Whole contents of a regular file of ours; null with *why, or with *why null when there is none. */
static unsigned char *read_whole(const char *path, size_t *n, const char **why)
{
    struct stat s;
    *why = NULL;
    int fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOFOLLOW);
    if (fd < 0) {
        if (errno != ENOENT && errno != ENOTDIR) *why = strerror(errno);
        return NULL;
    }
    unsigned char *b = NULL;
    if (fstat(fd, &s) != 0) *why = strerror(errno);
    else if (!S_ISREG(s.st_mode)) *why = "it is not a file";
    else if (s.st_uid != geteuid()) *why = "it belongs to another user";
    else if (s.st_size < HEAD + PR_DIGEST_BYTES || s.st_size > MOST_FILE) *why = "it is damaged";
    else if (!(b = malloc((size_t)s.st_size))) *why = "out of memory";
    size_t got = 0;
    while (b && got < (size_t)s.st_size) {
        ssize_t k = read(fd, b + got, (size_t)s.st_size - got);
        if (k < 0 && errno == EINTR) continue;
        if (k <= 0) break;
        got += (size_t)k;
    }
    close(fd);
    if (b && got < (size_t)s.st_size) {
        *why = "it is damaged";
        free(b);
        b = NULL;
    }
    *n = got;
    return b;
}

static bool from_file(pr_plan *p, const pr_job *j, const unsigned char *key, pr_config_verdict *out)
{
    const char *path = path_of(p, p->box->child.arena, key), *why;
    size_t n;
    unsigned char *b = read_whole(path, &n, &why), check[PR_DIGEST_BYTES];
    bool done = false;
    if (b) {
        pr_digest d;
        pr_digest_init(&d);
        pr_digest_add(&d, b, n - PR_DIGEST_BYTES);
        pr_digest_now(&d, check);
        if (memcmp(b, magic, sizeof magic) != 0) why = "it was not written by polyrace";
        else if (length_at(b + HEAD - 8) != n - HEAD - PR_DIGEST_BYTES || memcmp(check, b + n - PR_DIGEST_BYTES, sizeof check) != 0)
            why = "it is damaged";
        else if (memcmp(b + sizeof magic, key, PR_DIGEST_BYTES) != 0) why = "it answers another question";
        else if (!pr_recall_read(j->arena, b + HEAD, n - HEAD - PR_DIGEST_BYTES, j->records, out)) why = "it is damaged";
        else done = true;
        if (done) remember(p->ctx, key, b + HEAD, n - HEAD - PR_DIGEST_BYTES);
    }
    free(b);
    if (why) note(p, "cache: %s was ignored: %s", path, why);
    return done;
}

static bool write_all(int fd, const void *data, size_t n)
{
    const char *p = data;
    while (n) {
        ssize_t k = write(fd, p, n);
        if (k < 0 && errno == EINTR) continue;
        if (k <= 0) return false;
        p += k;
        n -= (size_t)k;
    }
    return true;
}

static void to_file(pr_plan *p, const unsigned char *key, const void *bytes, size_t n)
{
    pr_arena *arena = p->box->child.arena;
    const char *path = path_of(p, arena, key);
    const char *other = pr_arena_printf(arena, "%s.%ld.%u.new", path, (long)getpid(), p->ctx->answers ? p->ctx->answers->serial++ : 0);
    pr_digest d;
    unsigned char head[HEAD], check[PR_DIGEST_BYTES];
    memcpy(head, magic, sizeof magic);
    memcpy(head + sizeof magic, key, PR_DIGEST_BYTES);
    for (int i = 0; i < 8; i++) head[HEAD - 8 + i] = (unsigned char)((uint64_t)n >> 8 * i);
    pr_digest_init(&d);
    pr_digest_add(&d, head, sizeof head);
    pr_digest_add(&d, bytes, n);
    pr_digest_now(&d, check);
    int fd = open(other, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0600);
    if (fd < 0 && errno == ENOENT && (mkdir(p->o.cache_dir, 0700) == 0 || errno == EEXIST)) /* or another process made it */
        fd = open(other, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0600);
    bool fine = fd >= 0 && write_all(fd, head, sizeof head) && write_all(fd, bytes, n) && write_all(fd, check, sizeof check);
    int why = errno;
    if (fd >= 0 && close(fd) != 0 && fine) {
        fine = false;
        why = errno;
    }
    if (fine && rename(other, path) != 0) {
        fine = false;
        why = errno;
    }
    if (fine) return;
    if (fd >= 0) unlink(other);
    note(p, "cache: nothing could be written to %s: %s", p->o.cache_dir, strerror(why));
}

/* --- both --------------------------------------------------------------------------------------- */

bool pr_answer_find(pr_plan *p, const pr_job *j, const pr_question *q, pr_config_verdict *out)
{
    const unsigned char *keys[2] = { q->plain, q->placed };
    for (int k = 0; k < 2; k++) {
        const answer *a = recall(p->ctx->answers, keys[k]);
        if (a && pr_recall_read(j->arena, a->bytes, a->n, j->records, out)) return true;
    }
    for (int k = 0; k < 2 && p->o.cache_dir; k++)
        if (from_file(p, j, keys[k], out)) return true;
    return false;
}

void pr_answer_keep(pr_plan *p, const pr_job *j, const pr_question *q, const pr_config_verdict *v)
{
    pr_buf b;
    pr_buf_init(&b, j->arena);
    if (!pr_recall_write(&b, v, j->records)) return;
    const unsigned char *key = pr_recall_has_places(v, j->records) ? q->placed : q->plain;
    remember(p->ctx, key, b.data, b.n);
    if (p->o.cache_dir) to_file(p, key, b.data, b.n);
}
