/* Which releases must come before a wait can end? Orders between the programs of one launch (happens-before.md 4.3, 4.6).
 *
 * Every program has been run with its waits ending and the results of its other atomics unknown, so that what it does is the
 * same in every execution. A location whose writers are whole atomics of device scope with known operands holds, after
 * any set of them, a value between two bounds. Let x be an access of program P. All releases of P behind a barrier behind x
 * are held back, and everything else runs as far as it can: a write that releases runs when the acquiring waits that stand a barrier
 * before it can end, any other write runs at once, and a wait can end when a value within the bounds of its location ends it.
 * A wait of another program that cannot end then comes after x in every execution, and so does what stands a barrier behind it.
 *
 * Why. Take a wait w that acquires, and the set H of what happens before it. The writes that come before the value that w read
 * form one chain of read-modify-writes; those of them that release are in H. So is, for each of these, each acquiring wait a
 * barrier before it in its program, and what that one read. If no release of P behind x is in H, then the run above performs all of
 * H, in the order of H: by induction each wait of H finds all its writes done, hence its value within the bounds. So w can end.
 *
 * A wait whose condition an earlier atomic's result decides, too (interp_cond.h), ends when the condition can be false with a value within the
 * bounds of the location and a result within its own. Of the same location the result is bounded by what has run, as w read a later value of
 * the chain; of another one by all writes, as that atomic need not acquire. Sums are taken modulo the width there.
 *
 * Certain additions. For such a location it is not enough to know what can have come; what must have come is counted, too. Let u be an addition
 * that releases. Hold back u and all releases of P a barrier behind it: a wait w of Q that cannot end then comes after u in every execution
 * (w or a wait before it read a value that u is in, or what P released behind u), so what Q reads of the location a barrier behind w has u in it. It
 * is a fact about all executions, which the next runs may use: the barrier of one round gives the next round its start value. What a program
 * surely added itself is in what it reads later.
 *
 * A branch on what an atomic returned runs both ways. The program is run again with each value that the atomic can return; what is then left out
 * happens only with the other values (a guard). A wait in such a branch holds up its program, too, where it surely happens with all values between two bounds, and
 * the atomic, which acquires, cannot return another one yet (who comes last opens the gate, the others wait for it). An atomic that acquires is a wait for what it guards behind a barrier; and two accesses of two
 * programs exclude each other when the atomic that guards the one must come before the other's, and the other way round. */
#ifndef PR_FRONT_REPLAY_GATES_H
#define PR_FRONT_REPLAY_GATES_H
#include "front/replay_core.h"

typedef struct pr_gates pr_gates;

/* Before the programs are run: sets setup->gate. */
pr_gates *pr_gates_new(pr_rlog *l, pr_interp_setup *setup);
/* After them; ev: the n touched byte ranges, sorted by address. null, or why nothing can be said. */
const char *pr_gates_close(pr_gates *g, const pr_rev *ev, int64_t n);
/* Is execution x before execution y, of another program, in every execution of the launch? Numbers of dyns. */
bool pr_gates_before(pr_gates *g, int x, int y);
/* Does x happen with none of the values that an atomic before it can return? */
bool pr_gates_never(const pr_gates *g, int x);
/* Does a barrier that the compiler puts before a release or behind an acquire part x from the later y, of one program? */
bool pr_gates_inside(const pr_gates *g, int x, int y);
/* Do x and y, of two programs, never happen in one execution? */
bool pr_gates_exclude(pr_gates *g, int x, int y);
/* Closed with a reason: because some program surely comes to a wait that no execution ends. */
bool pr_gates_endless(const pr_gates *g);
int pr_gates_waits(const pr_gates *g);
bool pr_gates_guards(const pr_gates *g);
/* What the orders rest on, one line an atomic (docs/certificates.md). */
void pr_gates_print(const pr_gates *g, pr_buf *b);
#endif
