/* From answers to a status. pr_verdict_settle is the only place that says OK, and only when the ledger
 * accounts for every pair. */
#include "hb/verdict_rule.h"
#include <assert.h>
#include <stdio.h>

const char *pr_verdict_status_name(pr_verdict_status s)
{
    switch (s) {
    case PR_VERDICT_OK: return "ok";
    case PR_VERDICT_RACES: return "races";
    case PR_VERDICT_UNSUPPORTED: return "unsupported";
    case PR_VERDICT_VACUOUS: return "vacuous";
    case PR_VERDICT_DEADLOCK: return "deadlock";
    case PR_VERDICT_HAZARD: return "hazard";
    }
    return "unsupported";
}

const char *pr_rung_name(pr_rung r)
{
    switch (r) {
    case PR_RUNG_NONE: return NULL;
    case PR_RUNG_T0: return "T0";
    case PR_RUNG_T1: return "T1";
    case PR_RUNG_T1_LAUNCH: return "T1-launch";
    }
    return NULL;
}

const char *pr_scope_name(pr_rung r)
{
    switch (r) {
    case PR_RUNG_NONE: return NULL;
    case PR_RUNG_T0: return "any-params-any-grid";
    case PR_RUNG_T1: return "this-params-any-grid";
    case PR_RUNG_T1_LAUNCH: return "this-params-this-grid";
    }
    return NULL;
}

const char *pr_race_type_name(pr_race_type t)
{
    switch (t) {
    case PR_RACE_WAW: return "WAW";
    case PR_RACE_RAW: return "RAW";
    case PR_RACE_WAR: return "WAR";
    }
    return "WAW";
}

static int by_place(const pr_loc *a, const pr_loc *b)
{
    if (a->text_line != b->text_line) return a->text_line < b->text_line ? -1 : 1;
    if (a->line != b->line) return a->line < b->line ? -1 : 1;
    return 0;
}

void pr_add_refusal(pr_run *run, pr_refusal_kind kind, pr_loc loc, const char *message)
{
    pr_add_refusal_of(run, (pr_refusal){ .kind = kind, .loc = loc, .message = message });
}

void pr_add_refusal_of(pr_run *run, pr_refusal given)
{
    pr_refusal_kind kind = given.kind;
    pr_loc loc = given.loc;
    pr_refusal_vec *v = &run->out->refusals;
    pr_refusal r = given;
    if (!r.message) r.message = pr_refusal_meaning(kind);
    for (int i = 0; i < v->n; i++) {     /* one a site; copies of one (unrolled loops) with one thing to say count as one */
        const pr_refusal *g = &v->data[i];
        if (g->kind != kind || !pr_str_eq(g->loc.file, loc.file)) continue;
        bool copy = loc.line && g->loc.line == loc.line && g->loc.col == loc.col && strcmp(g->message, r.message) == 0;
        if (copy || by_place(&g->loc, &loc) == 0) return;
    }
    pr_vec_push(run->arena, v, r);
    for (int i = v->n - 1; i > 0 && by_place(&v->data[i].loc, &v->data[i - 1].loc) < 0; i--) {
        pr_refusal swap = v->data[i];
        v->data[i] = v->data[i - 1];
        v->data[i - 1] = swap;
    }
}

void pr_add_qualifier(pr_run *run, const char *text)
{
    for (int i = 0; i < run->out->qualifiers.n; i++)
        if (pr_str_is(pr_str_of(run->out->qualifiers.data[i]), text)) return;
    pr_vec_push(run->arena, &run->out->qualifiers, text);
}

/* The verdict rule (style.md 6): an exact race decides; else anything left open refuses; else premises
 * without an execution are vacuous; else, and only if every pair is filtered, proved, or (for a proof of
 * this grid only) fragile, the configuration is free of races. */
static bool ledger_adds_up(const int64_t bucket[PR_BUCKETS], const pr_records *r, pr_rung rung)
{
    int64_t settled = bucket[PR_BUCKET_FILTERED] + bucket[PR_BUCKET_PROVED], all = 0;
    if (rung == PR_RUNG_T1_LAUNCH) settled += bucket[PR_BUCKET_GRID_FRAGILE];
    for (int k = 0; k < PR_BUCKETS; k++) all += bucket[k];
    return rung != PR_RUNG_NONE && settled == all && settled == (int64_t)r->records.n * (r->records.n + 1);
}

static pr_verdict_status conclude(pr_config_verdict *v, const pr_records *r, const int64_t bucket[PR_BUCKETS],
                                  pr_rung rung, bool feasible)
{
    v->rung = PR_RUNG_NONE;
    if (v->races.n) return v->status = PR_VERDICT_RACES;
    v->status = PR_VERDICT_UNSUPPORTED;
    if (v->refusals.n || !ledger_adds_up(bucket, r, rung)) return v->status;
    if (!feasible) return v->status = PR_VERDICT_VACUOUS;
    v->status = PR_VERDICT_OK;
    v->rung = rung;
    return v->status;
}

void pr_verdict_settle(pr_run *run, pr_rung rung, bool feasible)
{
    pr_config_verdict *v = run->out;
    int64_t bucket[PR_BUCKETS] = { 0 };
    for (int i = 0; i < v->ledger.n; i++) bucket[v->ledger.data[i].bucket]++;
    switch (conclude(v, run->R, bucket, rung, feasible)) {
    case PR_VERDICT_OK:
    case PR_VERDICT_RACES:
    case PR_VERDICT_DEADLOCK: /* the last two: pr_verdict_ttgir */
    case PR_VERDICT_HAZARD: break;
    case PR_VERDICT_UNSUPPORTED:
        if (!v->refusals.n)
            pr_add_refusal(run, PR_REFUSAL_UNKNOWN, (pr_loc){ 0 }, "some pairs of accesses were not settled");
        v->qualifiers.n = 0;
        break;
    case PR_VERDICT_VACUOUS: v->qualifiers.n = 0; break;
    }
}

bool pr_verdict_recall(pr_config_verdict *v, const pr_records *r, const int64_t bucket[PR_BUCKETS],
                       pr_verdict_status status, pr_rung rung)
{
    int64_t all = 0;
    for (int k = 0; k < PR_BUCKETS; k++) all += bucket[k];
    v->counts.pairs = all;
    if (status == PR_VERDICT_OK) return conclude(v, r, bucket, rung, true) == PR_VERDICT_OK;
    v->rung = PR_RUNG_NONE;
    v->status = status;
    if (rung != PR_RUNG_NONE) return false;
    if (status == PR_VERDICT_RACES) return v->races.n > 0;
    return !v->races.n && (status == PR_VERDICT_VACUOUS || v->refusals.n > 0);
}

void pr_verdict_ttgir(pr_config_verdict *v, bool proved)
{
    v->rung = PR_RUNG_NONE;
    v->status = PR_VERDICT_UNSUPPORTED;
    for (int i = 0; i < v->findings.n; i++) {
        const char *kind = v->findings.data[i].kind;
        pr_verdict_status s = kind[0] == 'r' ? PR_VERDICT_RACES : kind[0] == 'd' ? PR_VERDICT_DEADLOCK : PR_VERDICT_HAZARD;
        bool worse = s == PR_VERDICT_RACES || (s == PR_VERDICT_DEADLOCK && v->status != PR_VERDICT_RACES)
                     || v->status == PR_VERDICT_UNSUPPORTED;
        if (worse) v->status = s;
    }
    if (v->findings.n) return;
    if (proved && !v->refusals.n) v->status = PR_VERDICT_OK;
    else v->qualifiers.n = 0;
}

const char *pr_ttgir_scope_name(bool launch) { return launch ? "launch" : "every-trip-count"; }
const char *pr_ttgir_scope_text(bool launch) { return launch ? "for the values of this launch" : "for every trip count"; }

static int severity(pr_verdict_status s)
{
    switch (s) {
    case PR_VERDICT_RACES: return 5;
    case PR_VERDICT_DEADLOCK: return 4;
    case PR_VERDICT_HAZARD: return 3;
    case PR_VERDICT_UNSUPPORTED: return 2;
    case PR_VERDICT_VACUOUS: return 1;
    case PR_VERDICT_OK: return 0;
    }
    return 2;
}

void pr_verdict_join(struct polyrace_verdict *v)
{
    if (!v->n_configs) {
        v->status = PR_VERDICT_UNSUPPORTED;
        return;
    }
    const pr_config_verdict *worst = &v->configs[0];
    v->rung = PR_RUNG_NONE;
    for (int i = 0; i < v->n_configs; i++) {
        const pr_config_verdict *c = &v->configs[i];
        if (severity(c->status) > severity(worst->status)) worst = c;
        if (c->rung > v->rung) v->rung = c->rung;        /* the weakest claim */
        for (int j = 0; j < c->qualifiers.n; j++) {
            bool known = false;
            for (int k = 0; k < v->qualifiers.n && !known; k++)
                known = pr_str_is(pr_str_of(v->qualifiers.data[k]), c->qualifiers.data[j]);
            if (!known) pr_vec_push(v->arena, &v->qualifiers, c->qualifiers.data[j]);
        }
    }
    v->status = worst->status;
    for (int i = 0; i < v->n_configs; i++) {             /* two levels: the worst of both */
        const pr_config_verdict *c = v->configs[i].second;
        if (c && severity(c->status) > severity(v->status)) v->status = c->status;
        for (int j = 0; c && c->status == PR_VERDICT_OK && j < c->qualifiers.n; j++)
            pr_vec_push(v->arena, &v->qualifiers, c->qualifiers.data[j]);
    }
    if (severity(v->status)) v->rung = PR_RUNG_NONE;
    if (v->status == PR_VERDICT_UNSUPPORTED || v->status == PR_VERDICT_VACUOUS) v->qualifiers.n = 0;
}
