/* Certificates: every query that a verdict rests on, as files that other solvers take (docs/certificates.md).
 *
 * While a launch is decided each query answered EMPTY is kept in SMT-LIB and, where it has such a form, in isl's
 * notation. Afterwards a manifest lists records, tensors, the ledger of pairs and the claims, with a digest of
 * every file and of itself. `polyrace recheck` reads only this folder. */
#include "polyrace_certify.h"
#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include "hb/contents.h"
#include "hb/report.h"
#include "util/digest.h"

static void keep_claim(void *user, const pr_query *q, const pr_outcome *o)
{
    pr_certificate *c = user;
    const pr_engine *z3 = pr_engine_z3(), *isl = pr_engine_isl();
    pr_claim x = { .pair = q->pair, .is_pair = q->is_pair, .evidence = o->evidence };
    const char *why = NULL;
    pr_buf b;
    pr_buf_init(&b, c->arena);
    if (z3 && z3->dump(q, c->limits, &b, &why)) x.smt2 = b.data, x.n_smt2 = b.n;
    else x.why = why ? why : "no SMT-LIB form";
    pr_buf_init(&b, c->arena);
    if (isl->dump(q, c->limits, &b, &why)) x.isl = b.data, x.n_isl = b.n;
    x.facts = q->trace ? q->trace->facts.n : 0;
    pr_vec_push(c->arena, &c->claims, x);
}

void pr_certificate_start(pr_certificate *c, pr_arena *arena, pr_options *o)
{
    *c = (pr_certificate){ .arena = arena, .limits = &o->limits };
    o->claim = keep_claim;
    o->claim_user = c;
}

/* --- writing --------------------------------------------------------------------------------- */

typedef struct writer { pr_arena *arena; const char *dir; pr_error *err; pr_buf m; } writer;

static void hex(pr_buf *b, const void *data, size_t n)
{
    unsigned char out[PR_DIGEST_BYTES];
    pr_digest d;
    pr_digest_init(&d);
    pr_digest_add(&d, data, n);
    pr_digest_now(&d, out);
    for (int i = 0; i < PR_DIGEST_BYTES; i++) pr_buf_printf(b, "%02x", out[i]);
}

static pr_status write_file(writer *w, const char *name, const char *text, size_t n)
{
    const char *path = pr_arena_printf(w->arena, "%s/%s", w->dir, name);
    FILE *f = fopen(path, "wb");
    bool ok = f && fwrite(text, 1, n, f) == n;
    if (f && fclose(f)) ok = false;
    if (!ok) return pr_fail(w->err, PR_ERR_IO, path, 0, 0, "cannot write: %s", strerror(errno));
    return PR_OK;
}

static void quoted(writer *w, const char *name, const char *s)
{
    pr_buf_printf(&w->m, "\"%s\":", name);
    if (s) pr_buf_quote(&w->m, pr_str_of(s), true);
    else pr_buf_puts(&w->m, "null");
}

/* A file and its digest as a manifest entry. */
static pr_status file(writer *w, const char *key, const char *name, const char *text, size_t n)
{
    pr_buf_printf(&w->m, "\"%s\":{\"file\":\"%s\",\"blake2b\":\"", key, name);
    hex(&w->m, text, n);
    pr_buf_puts(&w->m, "\"}");
    return write_file(w, name, text, n);
}

static const char *bucket_name(pr_bucket b)
{
    static const char *const names[] = { [PR_BUCKET_FILTERED] = "filtered", [PR_BUCKET_PROVED] = "proved",
        [PR_BUCKET_RACE] = "race", [PR_BUCKET_WITHHELD] = "withheld", [PR_BUCKET_GRID_FRAGILE] = "proved-at-launch",
        [PR_BUCKET_REFUSED] = "refused", [PR_BUCKET_UNDECIDED] = "undecided" };
    return names[b];
}

static const char *kind_name(const pr_record *r)
{
    return r->kind == PR_RECORD_LOAD || r->kind == PR_RECORD_ATOMIC_LOAD || r->kind == PR_RECORD_POLL ? "read" : "write";
}

/* The launch was executed whole. */
static bool is_executed(const pr_config_verdict *v)
{
    for (int i = 0; i < v->ledger.n; i++)
        if (v->ledger.data[i].executed) return true;
    return false;
}

/* Does the ledger call the pair proved? A launch asks more about a pair than certificates are about: what a
 * weaker premise left open, whether two racing writes carry one value. And of a launch that was executed instead
 * nothing that was asked before counts. */
static bool is_kept(const pr_config_verdict *v, const pr_claim *x)
{
    if (is_executed(v)) return false;
    if (!x->is_pair || x->pair < 0) return true;
    if (x->pair >= v->ledger.n) return false;
    pr_bucket b = v->ledger.data[x->pair].bucket;
    return b == PR_BUCKET_PROVED || b == PR_BUCKET_GRID_FRAGILE;
}

/* Some claim reads a table of this argument's contents: its text says "; table tabN NAME" or "NAME[...]". */
static bool reads_contents(const pr_config_verdict *v, const pr_certificate *c, pr_str name)
{
    static const char mark[] = "\n; table ";
    for (int i = 0; i < c->claims.n; i++) {
        const pr_claim *x = &c->claims.data[i];
        if (!x->smt2 || !is_kept(v, x)) continue;
        for (const char *at = strstr(x->smt2, mark); at; at = strstr(at, mark)) {
            at = strchr(at + strlen(mark), ' ');
            if (!at) break;
            at++;
            if (strncmp(at, name.s, (size_t)name.n) == 0 && (at[name.n] == '\n' || at[name.n] == '[')) return true;
        }
    }
    return false;
}

/* Contents that the proof may have read without a claim that says so: what is never executed, or always passes a
 * barrier, because of a value. */
static bool may_read(const pr_config_verdict *v, const pr_job *j, int arg)
{
    bool reads = false;
    for (int i = 0; i < v->qualifiers.n; i++) reads = reads || !strcmp(v->qualifiers.data[i], "reads tensor contents");
    return reads && !pr_contents_why_not(j->records, j->launch, arg, NULL);
}

/* What the cells that the programs of an executed launch wait at start with. */
static bool may_wait_at(const pr_config_verdict *v, const pr_job *j, int arg)
{
    bool atomic = false;
    for (int i = 0; i < j->records->records.n; i++) {
        const pr_record *r = &j->records->records.data[i];
        atomic = atomic || ((r->base == arg || r->base < 0) && r->kind >= PR_RECORD_RMW);
    }
    return atomic && j->journal && is_executed(v);
}

static pr_status contents(writer *w, const pr_tensor *t, const char *key, int k, int arg)
{
    pr_buf b;
    pr_buf_init(&b, w->arena);
    for (int64_t i = 0; i < t->numel; i++) {
        pr_buf_i128(&b, t->values[i]);
        pr_buf_putc(&b, '\n');
    }
    pr_buf_putc(&w->m, ',');
    return file(w, key, pr_arena_printf(w->arena, "%s%d-%d.txt", key, k, arg), b.data ? b.data : "", b.n);
}

static pr_status configuration(writer *w, const pr_job *j, const pr_config_verdict *v, const pr_certificate *c, int k)
{
    const pr_records *R = j->records;
    pr_status s = PR_OK;
    int written = 0;
    pr_buf_puts(&w->m, "{");
    quoted(w, "status", pr_verdict_status_name(v->status));
    pr_buf_putc(&w->m, ',');
    quoted(w, "rung", v->rung ? pr_rung_name(v->rung) : NULL);
    const pr_config_verdict *shared = v->ttgir ? v : v->second;      /* proved by relations that no query states */
    pr_buf_puts(&w->m, ",\"shared_memory\":");
    if (shared) {
        const char *text = shared->ttgir_certificate;
        pr_buf_printf(&w->m, "{\"status\":\"%s\",\"scope\":\"%s\",\"certified\":%s", pr_verdict_status_name(shared->status),
                      pr_ttgir_scope_name(shared->ttgir_launch), text ? "true" : "false");
        if (text) {
            pr_buf_putc(&w->m, ',');
            s = file(w, "events", pr_arena_printf(w->arena, "shared%d.txt", k), text, strlen(text));
        }
        pr_buf_putc(&w->m, '}');
    } else pr_buf_puts(&w->m, "null");
    if (s == PR_OK && j->lowered) {
        pr_buf text;
        pr_buf_init(&text, w->arena);
        pr_records_print(&text, R, true);
        pr_buf_putc(&w->m, ',');
        s = file(w, "records_text", pr_arena_printf(w->arena, "records%d.txt", k), text.data, text.n);
    }
    if (s == PR_OK && j->journal && is_executed(v)) {
        pr_buf_putc(&w->m, ',');
        s = file(w, "execution", pr_arena_printf(w->arena, "execution%d.txt", k), j->journal, strlen(j->journal));
    }
    pr_buf_puts(&w->m, ",\n \"grid\":");
    if (j->launch && j->launch->grid_known)
        pr_buf_printf(&w->m, "[%lld,%lld,%lld]", (long long)j->launch->grid[0], (long long)j->launch->grid[1],
                      (long long)j->launch->grid[2]);
    else pr_buf_puts(&w->m, "null");
    pr_buf_puts(&w->m, ",\n \"records\":[");
    for (int i = 0; s == PR_OK && j->lowered && i < R->records.n; i++) {
        const pr_record *r = &R->records.data[i];
        pr_buf_printf(&w->m, "%s{\"id\":%d,\"access\":\"%s\",\"argument\":%d}", i ? "," : "", r->id, kind_name(r), r->base);
    }
    pr_buf_puts(&w->m, "],\n \"arguments\":[");
    for (int i = 0; s == PR_OK && j->lowered && i < R->n_args; i++) {
        const pr_tensor *t = j->launch && i < j->launch->n_args ? j->launch->args[i].tensor : NULL;
        pr_buf_printf(&w->m, "%s{", i ? "," : "");
        quoted(w, "name", pr_arena_strndup(w->arena, R->args[i].name.s, R->args[i].name.n));
        if (t) {
            pr_buf_puts(&w->m, ",\"storage\":[");
            pr_buf_i128(&w->m, t->storage_lo);
            pr_buf_putc(&w->m, ',');
            pr_buf_i128(&w->m, t->storage_hi);
            pr_buf_puts(&w->m, "]");
        }
        if (j->launch && i < j->launch->n_args && j->launch->args[i].kind == PR_ARG_INT) {
            pr_buf_puts(&w->m, ",\"value\":");
            pr_buf_i128(&w->m, j->launch->args[i].value);
        }
        if (t && t->has_values && (reads_contents(v, c, R->args[i].name) || may_read(v, j, i))) s = contents(w, t, "contents", k, i);
        if (t && t->has_values && t->contiguous && s == PR_OK && may_wait_at(v, j, i)) {
            pr_buf_printf(&w->m, ",\"first\":%lld,\"size\":%d", (long long)t->ptr, t->elem_bytes);
            s = contents(w, t, "start", k, i);
        }
        pr_buf_putc(&w->m, '}');
    }
    pr_buf_puts(&w->m, "],\n \"ledger\":[");
    for (int i = 0; s == PR_OK && i < v->ledger.n; i++) {
        const pr_ledger_row *r = &v->ledger.data[i];
        pr_buf_printf(&w->m, "%s\n  {\"pair\":%d,\"a\":%d,\"b\":%d,\"agents\":\"%s\",\"bucket\":\"%s\",", i ? "," : "", r->pair, r->a,
                      r->b, r->intra ? "threads" : "programs", bucket_name(r->bucket));
        quoted(w, "evidence", r->evidence);
        pr_buf_putc(&w->m, '}');
    }
    pr_buf_puts(&w->m, "],\n \"claims\":[");
    for (int i = 0; s == PR_OK && i < c->claims.n; i++) {
        const pr_claim *x = &c->claims.data[i];
        if (!is_kept(v, x)) continue;
        pr_buf_printf(&w->m, "%s\n  {\"pair\":", written++ ? "," : "");
        if (x->is_pair && x->pair >= 0) pr_buf_printf(&w->m, "%d", x->pair);
        else pr_buf_puts(&w->m, "null");
        pr_buf_puts(&w->m, ",\"claim\":\"empty\",");
        quoted(w, "evidence", x->evidence);
        pr_buf_putc(&w->m, ',');
        if (x->smt2) s = file(w, "smt2", pr_arena_printf(w->arena, "c%d-q%d.smt2", k, i), x->smt2, x->n_smt2);
        else quoted(w, "why", x->why);
        if (x->isl && s == PR_OK) {
            pr_buf_putc(&w->m, ',');
            s = file(w, "isl", pr_arena_printf(w->arena, "c%d-q%d.isl", k, i), x->isl, x->n_isl);
        }
        pr_buf_printf(&w->m, ",\"facts\":%d}", x->facts);
    }
    pr_buf_puts(&w->m, "]}");
    return s;
}

/* The folder, and those above it that are missing. */
static pr_status make_folder(const char *dir, pr_arena *arena, pr_error *err)
{
    char *path = pr_arena_strndup(arena, dir, (int)strlen(dir));
    for (char *at = path + 1; *path && *at; at++) {
        if (*at != '/') continue;
        *at = 0;
        mkdir(path, 0777);                  /* what fails shows at the last one */
        *at = '/';
    }
    if (mkdir(dir, 0777) && errno != EEXIST) return pr_fail(err, PR_ERR_IO, dir, 0, 0, "cannot make the folder: %s", strerror(errno));
    return PR_OK;
}

pr_status pr_certificate_write(const char *dir, const pr_plan *p, const pr_certificate *certs, const struct polyrace_verdict *v,
                               pr_error *err)
{
    writer w = { .arena = v->arena, .dir = dir, .err = err };
    struct stat st;
    if (!pr_engine_z3()) return pr_fail(err, PR_ERR_USAGE, "", 0, 0, "certificates need a build with Z3");
    pr_status made = make_folder(dir, w.arena, err);
    if (made != PR_OK) return made;
    if (stat(pr_arena_printf(w.arena, "%s/manifest.json", dir), &st) == 0)
        return pr_fail(err, PR_ERR_IO, dir, 0, 0, "the folder holds a certificate already");
    pr_buf_init(&w.m, w.arena);
    pr_buf_puts(&w.m, "{\"version\":1,");
    quoted(&w, "polyrace", polyrace_version());
    pr_buf_puts(&w.m, ",\"kernel\":");
    pr_buf_quote(&w.m, v->kernel, true);
    pr_buf_puts(&w.m, ",\"input\":");
    pr_buf_quote(&w.m, v->input, true);
    pr_buf_putc(&w.m, ',');
    quoted(&w, "status", pr_verdict_status_name(v->status));
    pr_buf_putc(&w.m, ',');
    quoted(&w, "scope", v->status == PR_VERDICT_OK ? pr_scope_name(v->rung) : NULL);
    pr_buf_puts(&w.m, ",\"qualifiers\":[");
    for (int i = 0; i < v->qualifiers.n; i++) {
        if (i) pr_buf_putc(&w.m, ',');
        pr_buf_quote(&w.m, pr_str_of(v->qualifiers.data[i]), true);
    }
    pr_buf_puts(&w.m, "],\n\"configs\":[");
    pr_status s = PR_OK;
    for (int k = 0; k < p->n_jobs && s == PR_OK; k++) {
        if (k) pr_buf_putc(&w.m, ',');
        s = configuration(&w, &p->jobs[k], &v->configs[k], &certs[k], k);
    }
    pr_buf_puts(&w.m, "],\n");
    if (s != PR_OK) return s;
    size_t body = w.m.n;                    /* the digest covers every byte before it */
    pr_buf_puts(&w.m, "\"blake2b\":\"");
    hex(&w.m, w.m.data, body);
    pr_buf_puts(&w.m, "\"}\n");
    return write_file(&w, "manifest.json", w.m.data, w.m.n);
}
