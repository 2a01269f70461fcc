/* Built instead of the engine when Z3 is disabled. */
#include "term/engine.h"

const pr_engine *pr_engine_z3(void) { return NULL; }
