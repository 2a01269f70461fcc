/* polyrace: static proof that Triton kernels have no data races.
 *
 * The whole public interface. Opaque handles, no global state, no output and no exit of its own. A
 * context and everything made through it belong to one thread at a time; contexts are independent.
 * Functions that return a pointer return null on failure, those that return polyrace_error_kind
 * something other than POLYRACE_OK; then *err (when given) says why. Memory exhaustion is an error
 * like any other. The library installs no signal handler.
 *
 * Example: decide a kernel text at a launch and print the report.
 *
 *   polyrace_error err = { POLYRACE_OK, 0, 0, "", "" };
 *   polyrace_context *c = polyrace_context_new();
 *   polyrace_module *m = polyrace_module_parse(c, ttir, strlen(ttir), "add.ttir", &err);
 *   polyrace_launch *l = m ? polyrace_launch_parse_json(c, json, strlen(json), "", &err) : NULL;
 *   polyrace_options o;
 *   polyrace_options_init(&o);
 *   polyrace_verdict *v = l ? polyrace_check(c, m, l, &o, &err) : NULL;
 *   if (v) {
 *       polyrace_sink out = { write_to, stdout };
 *       polyrace_verdict_write(v, POLYRACE_FORMAT_TEXT, &out, &err);
 *   } else {
 *       fprintf(stderr, "%s:%d:%d: %s\n", err.file, err.line, err.column, err.message);
 *   }
 *   int status = v ? (int)polyrace_verdict_status(v) : -1;
 *   polyrace_context_free(c);
 *   return status == POLYRACE_STATUS_RACES;
 */
#ifndef POLYRACE_POLYRACE_H
#define POLYRACE_POLYRACE_H
#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

#if defined(__GNUC__)
#define POLYRACE_API __attribute__((visibility("default")))
#else
#define POLYRACE_API
#endif

typedef struct polyrace_context polyrace_context; /* owns everything created through it */
typedef struct polyrace_module polyrace_module;   /* one TTIR text, read and verified */
typedef struct polyrace_launch polyrace_launch;   /* grid and facts about arguments */
typedef struct polyrace_verdict polyrace_verdict; /* status, races, refusals, statistics */

/* ---- errors ------------------------------------------------------------------------------- */
typedef enum polyrace_error_kind {
    POLYRACE_OK = 0,
    POLYRACE_BAD_INPUT, /* the text or the launch is malformed */
    POLYRACE_LIMIT,     /* a reader limit was exceeded */
    POLYRACE_USAGE,     /* wrong call or option value */
    POLYRACE_IO,        /* a file named by a launch cannot be read */
    POLYRACE_MEMORY,
    POLYRACE_INTERRUPTED, /* polyrace_interrupt was called */
    POLYRACE_INTERNAL     /* a mistake of ours; never a verdict */
} polyrace_error_kind;

/* Zero it before the first use; the first error stays until it is zeroed again. */
typedef struct polyrace_error {
    polyrace_error_kind kind;
    int line, column;  /* 1-based, 0 = unknown */
    char file[160];    /* name of the input, "" = unknown */
    char message[240]; /* one line, no trailing full stop */
} polyrace_error;

/* ---- contexts ------------------------------------------------------------------------------ */
POLYRACE_API polyrace_context *polyrace_context_new(void);    /* null: out of memory */
POLYRACE_API void polyrace_context_free(polyrace_context *c); /* null is fine; frees all children */
/* From a signal handler or another thread: the running parse, check, dump or replay ends soon with
 * POLYRACE_INTERRUPTED and no result. When none is running, the next one does. */
POLYRACE_API void polyrace_interrupt(polyrace_context *c);

/* ---- options ------------------------------------------------------------------------------- */
enum { POLYRACE_ENGINE_AUTO, POLYRACE_ENGINE_ISL, POLYRACE_ENGINE_Z3 };
enum { POLYRACE_RUNG_AUTO, POLYRACE_RUNG_T0, POLYRACE_RUNG_T1, POLYRACE_RUNG_T1_LAUNCH };
enum { POLYRACE_ATOMIC_ORDER_AUTO, POLYRACE_ATOMIC_ORDER_STRICT, POLYRACE_ATOMIC_ORDER_CTA };
enum { POLYRACE_DEP_ORDER_POSITIONAL, POLYRACE_DEP_ORDER_STRICT };
enum { POLYRACE_PROGRAM_ORDER_NONE, POLYRACE_PROGRAM_ORDER_SOURCE };
enum { POLYRACE_TTGIR_AUTO, POLYRACE_TTGIR_BEFORE_ALLOCATION, POLYRACE_TTGIR_AFTER_ALLOCATION };

typedef struct polyrace_options {
    size_t struct_size; /* set by polyrace_options_init; fields are only ever appended */
    int engine, rung, atomic_order, dep_order, program_order;
    int no_pretest, cross_check, accept_premises;
    int64_t budget_ms;                    /* 0 = none */
    int64_t t0_timeout_ms, t1_timeout_ms; /* wall-clock backstops, 0 = none */
    int64_t max_ops, first_ops;           /* isl operations a query, 0 = no limit */
    int64_t z3_rlimit;                    /* Z3 resource units a query, 0 = no limit */
    int64_t max_leaves;
    int64_t max_nesting, max_text; /* limits of the reader, for texts that a launch names */
    int64_t snapshot_elements, snapshot_bytes;
    int64_t grid[3];           /* overrides the launch's grid when grid[0] > 0 */
    const char *const *assume; /* extra premises, borrowed for the call */
    size_t n_assume;
    int64_t pair;           /* dumps: only this pair; -1 = all */
    const char *source_dir; /* where reports look for source files first; null = none */
    int no_explain;         /* races without their relation, sentence and count */
    const char *cache_dir;  /* answers are kept there too, for later contexts; null = none */
    int no_cache;           /* decide again what this context or cache_dir already knows */
    const char *certify_dir; /* write a certificate of the verdict into this folder; null = none */
    int check_membar;        /* TTGIR: CTA barriers and proxy fences must be in the text itself */
    int64_t max_memory;     /* bytes that one call may add, Z3's beside them; 0 = no limit */
    int strict_gluon;       /* TTGIR: note proxy fences that one partition leaves to the compiler */
    int ttgir_stage;        /* POLYRACE_TTGIR_... */
    int64_t max_k;          /* TTGIR: greatest launch value of the bounded runs */
    const char *ptx;        /* TTGIR, with check_membar: text of the PTX of the same compile, borrowed; null = none */
    size_t ptx_length;
    int last_check;         /* no check follows in this context: nothing is kept in memory for it */
} polyrace_options;

POLYRACE_API void polyrace_options_init(polyrace_options *o);
/* Sets one option by its command-line name (without dashes) and spelling, e.g. "engine", "isl".
 * The value of "cache" is borrowed until the last call that uses o. */
POLYRACE_API polyrace_error_kind polyrace_options_set(polyrace_options *o, const char *name,
                                                      const char *value, polyrace_error *err);

/* ---- modules ------------------------------------------------------------------------------- */
/* Reads a TTIR text. name is used in messages. The text is copied. */
POLYRACE_API polyrace_module *polyrace_module_parse(polyrace_context *c, const char *text,
                                                    size_t length, const char *name,
                                                    polyrace_error *err);
/* The same with the reader limits of o (null: defaults). */
POLYRACE_API polyrace_module *polyrace_module_parse_with(polyrace_context *c, const char *text,
                                                         size_t length, const char *name,
                                                         const polyrace_options *o,
                                                         polyrace_error *err);
/* A TTGIR text: the check then speaks of shared memory, tensor memory and barriers. */
POLYRACE_API polyrace_module *polyrace_module_parse_ttgir(polyrace_context *c, const char *text,
                                                          size_t length, const char *name,
                                                          const polyrace_options *o,
                                                          polyrace_error *err);
POLYRACE_API void polyrace_module_free(polyrace_module *m); /* null is fine */

/* ---- launches ------------------------------------------------------------------------------- */
/* Reads a launch document. Relative paths in it start from base_dir ("" or null: current
 * directory). */
POLYRACE_API polyrace_launch *polyrace_launch_parse_json(polyrace_context *c, const char *text,
                                                         size_t length, const char *base_dir,
                                                         polyrace_error *err);
/* The same with a name for messages; json_lines non-zero: one launch a line. */
POLYRACE_API polyrace_launch *polyrace_launch_parse_named(polyrace_context *c, const char *text,
                                                          size_t length, const char *name,
                                                          const char *base_dir, int json_lines,
                                                          polyrace_error *err);
/* A document may hold several launches. polyrace_check takes a document of one, or an item. */
POLYRACE_API size_t polyrace_launch_count(const polyrace_launch *l);
/* Item i, checked; freed with its document. Null when this launch is malformed. */
POLYRACE_API polyrace_launch *polyrace_launch_item(polyrace_launch *l, size_t i,
                                                   polyrace_error *err);
/* Freeing an item frees nothing; null is fine. */
POLYRACE_API void polyrace_launch_free(polyrace_launch *l);

/* Builder, for hosts that have no JSON. Arguments not added stay missing, which is an error. */
POLYRACE_API polyrace_launch *polyrace_launch_new(polyrace_context *c, const char *kernel,
                                                  polyrace_error *err);
POLYRACE_API polyrace_error_kind polyrace_launch_set_grid(polyrace_launch *l, int64_t x, int64_t y,
                                                          int64_t z, polyrace_error *err);
POLYRACE_API polyrace_error_kind polyrace_launch_set_config(polyrace_launch *l, int num_warps,
                                                            int num_ctas, polyrace_error *err);
POLYRACE_API polyrace_error_kind polyrace_launch_add_int(polyrace_launch *l, const char *name,
                                                         int64_t value, polyrace_error *err);
POLYRACE_API polyrace_error_kind polyrace_launch_add_float(polyrace_launch *l, const char *name,
                                                           double value, polyrace_error *err);
/* The argument's value stays unknown. */
POLYRACE_API polyrace_error_kind polyrace_launch_add_symbolic(polyrace_launch *l, const char *name,
                                                              polyrace_error *err);
typedef struct polyrace_tensor {
    const char *dtype; /* torch or Triton spelling */
    uint64_t ptr;      /* byte address */
    size_t rank;
    const int64_t *shape;
    const int64_t *strides;              /* elements; null = row major */
    uint64_t storage_ptr, storage_bytes; /* of the whole storage; both 0 = exactly the tensor */
    const void *values;                  /* row-major contents, little endian; null = not known */
    size_t values_bytes;
} polyrace_tensor;
POLYRACE_API polyrace_error_kind polyrace_launch_add_tensor(polyrace_launch *l, const char *name,
                                                            const polyrace_tensor *t,
                                                            polyrace_error *err);

/* ---- checking ------------------------------------------------------------------------------- */
/* Decides a kernel. m null: the texts that the launch names. launch null: only what holds for any
 * launch. o null: defaults. The verdict stays valid when module and launch are freed. */
POLYRACE_API polyrace_verdict *polyrace_check(polyrace_context *c, const polyrace_module *m,
                                              const polyrace_launch *launch_or_null,
                                              const polyrace_options *o, polyrace_error *err);

typedef void (*polyrace_write_fn)(void *user, const char *text, size_t length);
typedef struct polyrace_sink {
    polyrace_write_fn write;
    void *user;
} polyrace_sink;

typedef enum polyrace_stage {
    POLYRACE_STAGE_PARSE,
    POLYRACE_STAGE_ACCESS,
    POLYRACE_STAGE_RECORDS,
    POLYRACE_STAGE_QUERY,
    POLYRACE_STAGE_ISL,
    POLYRACE_STAGE_SMT2,
    POLYRACE_STAGE_VERDICT,
    POLYRACE_STAGE_CONSAN,   /* TTGIR: the tables of the emulated ConSan, step by step */
    POLYRACE_STAGE_EVENTS,   /* TTGIR: allocations and events */
    POLYRACE_STAGE_PROTOCOL  /* TTGIR: what is done with each barrier, and in which phase */
} polyrace_stage;
/* Writes one stage of the analysis (docs/dumps.md), several configurations one after another. */
POLYRACE_API polyrace_error_kind polyrace_dump(polyrace_context *c, const polyrace_module *m,
                                               const polyrace_launch *launch_or_null,
                                               const polyrace_options *o, polyrace_stage stage,
                                               const polyrace_sink *sink, polyrace_error *err);

/* polyrace_status of the launch, see "verdicts" below. */
typedef enum polyrace_status {
    POLYRACE_STATUS_OK,
    POLYRACE_STATUS_RACES,
    POLYRACE_STATUS_UNSUPPORTED,
    POLYRACE_STATUS_VACUOUS,
    POLYRACE_STATUS_DEADLOCK, /* TTGIR inputs only */
    POLYRACE_STATUS_HAZARD    /* TTGIR inputs only */
} polyrace_status;

/* Checks a launch and explains the answer: the verdict, for which grids and parameters nothing
 * races, which programs race at other grids, what settled each pair of accesses. format:
 * POLYRACE_FORMAT_TEXT or POLYRACE_FORMAT_JSON. status may be null. */
POLYRACE_API polyrace_error_kind polyrace_explain(polyrace_context *c, const polyrace_module *m,
                                                  const polyrace_launch *launch_or_null,
                                                  const polyrace_options *o, int format,
                                                  const polyrace_sink *sink,
                                                  polyrace_status *status, polyrace_error *err);

typedef struct polyrace_replay_result {
    int64_t programs;   /* programs executed */
    int64_t overlaps;   /* pairs of conflicting accesses of different programs */
    int64_t operations; /* footprints: operations compared */
    int64_t mismatches; /* footprints: bytes that the record does not have */
    int incomplete;     /* non-zero: some program could not be executed to its end */
} polyrace_replay_result;
enum { POLYRACE_REPLAY_FOOTPRINTS = 1 };
/* Executes every program of a launch concretely and writes the overlaps found. */
POLYRACE_API polyrace_error_kind polyrace_replay(polyrace_context *c, const polyrace_module *m,
                                                 const polyrace_launch *launch,
                                                 const polyrace_options *o, unsigned flags,
                                                 const polyrace_sink *sink,
                                                 polyrace_replay_result *result,
                                                 polyrace_error *err);

/* ---- ConSan on the host ---------------------------------------------------------------------- */
enum { POLYRACE_CONSAN_CURRENT, POLYRACE_CONSAN_OLDER };
typedef struct polyrace_consan_options {
    int epoch;          /* which ConSan */
    int64_t schedules;  /* schedules to run */
    int64_t seed;       /* the same seed gives the same schedules */
    int64_t max_trips;  /* value of integer arguments that the launch does not give */
    int format;         /* POLYRACE_FORMAT_TEXT or POLYRACE_FORMAT_JSON */
} polyrace_consan_options;
typedef struct polyrace_consan_result {
    int64_t clean, reports, hangs; /* schedules that ended so */
    int refused;                   /* non-zero: nothing was run */
} polyrace_consan_result;
/* Runs ConSan's table machine over schedules of the TTGIR text at one launch and writes how they end. */
POLYRACE_API polyrace_error_kind polyrace_consan(polyrace_context *c, const polyrace_module *m,
                                                 const polyrace_launch *launch_or_null,
                                                 const polyrace_options *o,
                                                 const polyrace_consan_options *consan,
                                                 const polyrace_sink *sink,
                                                 polyrace_consan_result *result,
                                                 polyrace_error *err);

/* ---- verdicts -------------------------------------------------------------------------------- */
typedef enum polyrace_race_type { POLYRACE_WAW, POLYRACE_RAW, POLYRACE_WAR } polyrace_race_type;

/* Strings below live as long as the verdict. */
typedef struct polyrace_access {
    const char *op, *kind, *tensor;
    const char *file;
    int line, column;
    int64_t element, byte; /* from the tensor's pointer */
    int writes;
    int64_t program[3];
    size_t rank;
    const int64_t *lane;
    size_t loops;
    const int64_t *iteration;
} polyrace_access;
typedef struct polyrace_race {
    polyrace_race_type type;
    int same_program; /* threads of one program */
    int confirmed;    /* the concrete evaluator reached the same bytes */
    size_t config;
    const char *reason;
    polyrace_access first, second;
} polyrace_race;
typedef struct polyrace_refusal {
    const char *kind, *message, *hint, *file, *op;
    int line, column;
    size_t config;
} polyrace_refusal;

POLYRACE_API polyrace_status polyrace_verdict_status(const polyrace_verdict *v);
/* "T0", "T1", "T1-launch"; null unless the status is ok. */
POLYRACE_API const char *polyrace_verdict_rung(const polyrace_verdict *v);
POLYRACE_API const char *polyrace_verdict_scope(const polyrace_verdict *v);
POLYRACE_API const char *polyrace_verdict_kernel(const polyrace_verdict *v);
POLYRACE_API size_t polyrace_verdict_config_count(const polyrace_verdict *v);
POLYRACE_API size_t polyrace_verdict_qualifier_count(const polyrace_verdict *v);
POLYRACE_API const char *polyrace_verdict_qualifier(const polyrace_verdict *v, size_t i);
POLYRACE_API size_t polyrace_verdict_race_count(const polyrace_verdict *v);
/* POLYRACE_USAGE when i is out of range. */
POLYRACE_API polyrace_error_kind polyrace_verdict_race(const polyrace_verdict *v, size_t i,
                                                       polyrace_race *out);
POLYRACE_API size_t polyrace_verdict_refusal_count(const polyrace_verdict *v);
POLYRACE_API polyrace_error_kind polyrace_verdict_refusal(const polyrace_verdict *v, size_t i,
                                                          polyrace_refusal *out);
POLYRACE_API size_t polyrace_verdict_out_of_bounds_count(const polyrace_verdict *v);
/* Non-zero: an internal error was contained in this verdict (refusal kind `internal`). */
POLYRACE_API int polyrace_verdict_has_internal_error(const polyrace_verdict *v);

/* Formats; COLOR and STATS may be or-ed to them. */
enum {
    POLYRACE_FORMAT_TEXT,
    POLYRACE_FORMAT_JSON,
    POLYRACE_FORMAT_JSONL,
    POLYRACE_FORMAT_COLOR = 0x100,
    POLYRACE_FORMAT_STATS = 0x200
};
POLYRACE_API polyrace_error_kind polyrace_verdict_write(polyrace_verdict *v, int format,
                                                        const polyrace_sink *sink,
                                                        polyrace_error *err);
POLYRACE_API void polyrace_verdict_free(polyrace_verdict *v); /* null is fine */

/* ---- this library --------------------------------------------------------------------------- */
POLYRACE_API const char *polyrace_version(void); /* "0.1.0" */
/* Versions of the engines it was built with: name "isl" or "z3". Null: built without it, or its library is not found. */
POLYRACE_API const char *polyrace_engine_version(const char *name);
/* One refusal kind: its meaning and advice, null when the slug is unknown; i counts the slugs. */
POLYRACE_API const char *polyrace_refusal_slug(size_t i); /* null past the end */
POLYRACE_API const char *polyrace_refusal_meaning(const char *slug);
POLYRACE_API const char *polyrace_refusal_advice(const char *slug);

#ifdef __cplusplus
}
#endif
#endif
