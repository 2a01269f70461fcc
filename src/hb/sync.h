/* What atomics order between two programs, and which values they can return (happens-before.md 4, 8.5).
 *
 * The model speaks of atomics that run at most once a program (scalar, outside loops), of device scope, whose
 * result is one value for the whole program: an event. A wait inside loops is an event too, one for each iteration: it
 * only acquires, and a pair's query speaks of its execution in the iteration in which the pair's own access runs. For the location of an event it asks which records may
 * write it. When all of them are whole read-modify-writes of device scope, the writes of that location form one
 * chain, and three facts follow that hold for any number of programs:
 *   reach     the values the event may see are the closure of the initial ones under the writers; if a reader
 *             sees a value that the closure without one release W does not contain, it comes after W in the
 *             chain, so an acquiring reader synchronises with W
 *   counting  additions of one amount, at most once a program: results are distinct, lie in a known range, and
 *             a larger result comes later
 *   tiles     a lane of a tile atomic sees what the writers of its cell can leave, and behind a barrier no value from before
 *             the write that the same lane made
 *   lock      sections between an awaited compare-and-swap 0 -> 1 and the exchange back to 0 of one location
 *             exclude each other, also in loops (sync_lock.c)
 *   cell order at a known grid: every order of the executions at one cell (each at most once a program), hence which two
 *             results go together and who came first; a write that happens before a read is before it in that order
 *   turns     a location that counts up, each step by the one program that waited for the value before it: a later
 *             turn comes after the release of an earlier one
 * Every fact is a conjunct of the pair's query. What is not shown adds no conjunct. */
#ifndef PR_HB_SYNC_H
#define PR_HB_SYNC_H
#include "hb/encode.h"

enum { PR_VSET_MAX = 16 };
/* A set of values of one location; any = nothing known. */
typedef struct pr_vset { bool any; int n; pr_i128 v[PR_VSET_MAX]; } pr_vset;

typedef struct pr_sync_event {
    int record;
    bool tile;                     /* of several lanes (in pr_sync.tiles): only its values are known       */
    bool in_loop;                  /* a wait inside loops: an acquire and nothing else                */
    pr_term app;                   /* its observation: a symbol without arguments, in a loop with its indices   */
    bool writes;                   /* may write (not an atomic load, a poll or a failed poll)           */
    bool closed;                   /* all writers of its location are whole device-scope RMWs, or plain stores behind a counter's last arrival */
    bool but_for_plain;            /* closed, were it not for single plain stores of the whole location */
    const int *writers; int n_writers; /* records that may write the location, itself included          */
    bool own_again;                /* the same record of another program may write the location          */
    pr_vset init, all, others;     /* values it may see; values without its own write                   */
    bool counted;                  /* counting holds: results are first + step * rank, rank < arrivals     */
    pr_i128 first, step; pr_term arrivals;
} pr_sync_event;

/* A lock: records of the acquiring await and the release. */
typedef struct pr_sync_lock { int acquire, release; } pr_sync_lock;

/* A turn: the program waits (event) for turn at the location and releases turn + 1 there; it starts with first. */
typedef struct pr_sync_turn { int wait, release; pr_term turn; pr_i128 first; } pr_sync_turn;

/* A counter that records draw from, in loops, by several records, by tiles: its executions are at most `most`, and what they add is
 * `step`, or (step 0) between 0 and some amount, together at most `total`. Results start at first. sync_draw.c
 * array: one counter at each of several addresses, each with `step`; bounded: all hold first..last at first, and nothing leaves the width;
 * by_cell: results at address addr + k * width lie between entry k of two tables (what the executions at the cell leave). */
typedef struct pr_sync_counter {
    pr_i128 addr, first, step, most, total, last;
    int width;
    bool array, bounded, by_cell;
    pr_tab least_of, most_of;
} pr_sync_counter;
typedef struct pr_sync_draw { int record, counter; } pr_sync_draw;

/* Cell order: results a and b of two events at one cell that some execution can have together, and in which order.
 * every: any result of the one goes with any of the other. own: of one program, i before j in text; else of two different programs. */
typedef struct pr_seen_pair { pr_i128 a, b; bool before, after; } pr_seen_pair;
typedef struct pr_cell_order { int i, j; bool own; const pr_seen_pair *pair; int n; bool every; } pr_cell_order;

/* What an event's result can be in one program, where that is less than in all together. */
typedef struct pr_program_sees { int event, program; pr_vset values; } pr_program_sees;

typedef struct pr_sync {
    bool building, tickets;        /* tickets: the counters are known, addresses may mention their results    */
    PR_VEC(pr_sync_event) events, tiles;
    PR_VEC(pr_sync_lock) locks;
    PR_VEC(pr_sync_turn) turns;
    PR_VEC(pr_sync_counter) counters;
    PR_VEC(pr_sync_draw) draws;
    PR_VEC(pr_term) drawn;         /* results of draws that some query was told of                   */
    PR_VEC(pr_cell_order) orders;
    PR_VEC(pr_program_sees) sees;
    bool never_ends;               /* cell order: a program that surely comes to a wait never leaves it       */
    int axis;                      /* symbolic grid axis that arrivals mention, -1 = none              */
} pr_sync;

/* The analysis of an encoding, made on first use; null at T0, without atomics or without a decider. */
pr_sync *pr_sync_of(pr_encoding *e);
/* May an address mention the result of this atomic? Only when its results are counted. */
bool pr_sync_admits(pr_encoding *e, int access);
/* Adds to a pair's query what atomics say of it; false when they say nothing. */
bool pr_sync_extend(pr_encoding *e, int a, int b, bool intra, pr_query *q);
/* Is t the result of an event of copy A whose values are all known? */
bool pr_sync_knows(pr_encoding *e, pr_term t);
/* Facts about the events of copy A alone; ends: when its waits end. */
void pr_sync_facts(pr_encoding *e, bool ends, pr_term_vec *out);
/* Can the waits of this launch end? EMPTY: no execution of the launch ends. UNKNOWN: *why says who gave up. */
pr_answer pr_sync_feasible(pr_encoding *e, pr_outcome *why);
/* May synchronisation or an observed value matter to this pair? */
bool pr_sync_concerns(pr_encoding *e, int a, int b, bool intra);

/* Is execution of record i behind the wait, in every program that performs both? */
bool pr_sync_behind(const pr_encoding *e, int i, const pr_record *wait);
/* The values that the location of a wait can hold as long as no program has come through the wait. */
pr_vset pr_sync_before_first(pr_encoding *e, const pr_sync_event *wait);

/* sync_stuck.c: waits that no program of the launch comes through. stuck[record]: an access that is never performed. */
bool pr_sync_stuck(pr_encoding *e, bool *stuck);
/* False: no execution meets these conjuncts, which are simplified in place. An undecided query, or a conjunct that cannot be stated, is true. */
bool pr_sync_possible(pr_encoding *e, pr_term_vec *core);
/* Can an execution of y touch bytes that x's execution touches? other: only in another program. torn: only at another address. */
bool pr_sync_meet(pr_encoding *e, const pr_side *x, const pr_side *y, bool other, bool torn);
/* Fills closed, writers, own_again. first_through: only what may write before any program has come through the wait v. */
void pr_sync_find_writers(pr_encoding *e, pr_sync_event *v, bool first_through);
bool pr_sync_within(const pr_frame *inner, const pr_frame *outer); /* outer is inner or around it */
/* sync_tile.c: atomics of a tile; what is known of the results that the access's address and conditions mention */
void pr_sync_find_tiles(pr_encoding *e, pr_sync *y);
void pr_sync_tile_facts(pr_encoding *e, const pr_sync *y, const pr_side *s, pr_term_vec *out);
/* sync_draw.c */
bool pr_sync_draws(const pr_record *r);   /* an addition whose results may be spoken of */
void pr_sync_find_draws(pr_encoding *e, pr_sync *y);
/* Is the result of an atomic, as the record x names it, that of a draw which certainly ran? */
bool pr_sync_names(pr_encoding *e, const pr_record *x, pr_term app);
/* What is known of the results that the accesses name; z null: of x's alone. */
void pr_sync_draw_facts(pr_encoding *e, const pr_side *x, const pr_side *z, bool intra, pr_term_vec *out);
/* sync_lock.c */
void pr_sync_find_locks(pr_encoding *e, pr_sync *y);
/* When do two accesses of two programs stand in sections of one lock? copy: whose sides x and z are. */
pr_term pr_sync_same_lock(pr_encoding *e, const pr_sync *y, const pr_side *x, int copy_x, const pr_side *z, int copy_z);
bool pr_sync_scalar(const pr_record *r);
bool pr_sync_device(const pr_record *r);
bool pr_sync_aligned(pr_encoding *e, const pr_side *s);      /* every address is a multiple of the width */
/* sync_turn.c */
void pr_sync_find_turns(pr_encoding *e, pr_sync *y);
bool pr_sync_turn_stuck(pr_encoding *e, const pr_sync *y, const pr_sync_turn *x);
/* What is known of the results of both copies' events, while y may still be under construction. */
void pr_sync_counter_facts(pr_encoding *e, const pr_sync *y, pr_term_vec *out);
/* The same whether their waits end or not. */
void pr_sync_ticket_facts(pr_encoding *e, const pr_sync *y, pr_term_vec *out);
/* sync_cell.c: refines the events' values, finds their orders; at a known grid only */
void pr_sync_find_orders(pr_encoding *e, pr_sync *y);
const pr_cell_order *pr_cell_order_of(const pr_sync *y, int i, int j, bool own); /* null: not known */
/* sync_values.c */
pr_vset pr_vset_of(pr_encoding *e, const pr_side *s, pr_term value, pr_term held);
pr_vset pr_vset_initial(pr_encoding *e, const pr_side *s);
pr_vset pr_vset_initial_at(pr_encoding *e, const pr_record *r, pr_i128 addr);
bool pr_vset_has(const pr_vset *s, pr_i128 v);
void pr_vset_add(pr_vset *s, pr_i128 v);
bool pr_vset_same(const pr_vset *a, const pr_vset *b);
/* The closure of start under the given writers, any number of executions of each. */
pr_vset pr_vset_closure(pr_encoding *e, pr_vset start, const int *writers, int n);
/* Values that the record leaves behind when it meets one of the old ones, with operands of these values. */
pr_vset pr_vset_left(const pr_record *r, const pr_vset *old, const pr_vset *value, const pr_vset *cmp);
/* The same with the operands that any program has. */
pr_vset pr_vset_written(pr_encoding *e, int record, const pr_vset *old);
bool pr_sync_identity(pr_encoding *e, int record);   /* never changes the location */
#endif
