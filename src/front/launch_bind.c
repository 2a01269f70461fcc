/* Binding the arguments of one launch to a kernel's signature. See launch.h and ttir-front.md 8.
 *
 * The signature decides how an entry is read: an integer argument takes a number, a pointer a
 * tensor, a
 * descriptor a descriptor (whose shape and strides also fill the arguments that the compiler
 * appends).
 * Tensors whose addresses are not known name their storage by id; after all arguments were read,
 * each
 * id gets an invented base past every real address, 256-byte aligned and disjoint from the
 * others. */
#include <stdio.h>
#include <string.h>
#include "front/launch_doc.h"
#include "front/launch_tensor.h"

typedef struct binder {
    pr_launch_reader r;
    int config;
    json_t *own_args, *shared_args; /* of the configuration, of the launch; null = none */
    pr_json_at configs, config_at;  /* path parts; they point at each other */
    pr_json_at own_at, shared_at;
    pr_tensor_reader tensors;
    const pr_ir *ir;
    const pr_op *func;
    pr_launch *out;
    pr_refusal_vec *refusals;
} binder;

static void refuse(binder *b, const pr_value *arg, const char *message, const char *hint)
{
    pr_refusal f = { .kind = PR_REFUSAL_MISSING_BINDING, .message = message, .hint = hint };
    const pr_srcloc *loc = pr_srcloc_user(arg->loc);
    if (loc) {
        f.loc.file = loc->file;
        f.loc.line = loc->line;
        f.loc.col = loc->col;
    }
    f.loc.op = pr_str_of("tt.func");
    f.loc.text_line = b->func->line;
    pr_vec_push(b->tensors.arena, b->refusals, f);
}

/* The entry of argument i, null when there is none; *at becomes its path. */
static json_t *entry(binder *b, int i, pr_str name, pr_json_at *at)
{
    char *key = pr_arena_strndup(b->tensors.arena, name.s, name.n);
    json_t *places[2] = { b->own_args, b->shared_args };
    const pr_json_at *up[2] = { &b->own_at, &b->shared_at };
    for (int p = 0; p < 2; p++) {
        bool by_name = json_is_object(places[p]);
        if (!places[p]) continue;
        *at = (pr_json_at){ up[p], by_name ? key : NULL, i };
        json_t *v =
            by_name ? json_object_get(places[p], key) : json_array_get(places[p], (size_t)i);
        if (v) return v;
    }
    *at = (pr_json_at){ b->shared_args ? &b->shared_at : &b->own_at,
                        json_is_array(b->shared_args ? b->shared_args : b->own_args) ? NULL : key,
                        i };
    return NULL;
}

static pr_i128 divisibility_of(const pr_value *arg)
{
    pr_attr *a = pr_dict_get(arg->attrs, "tt.divisibility");
    if (!a) return 1;
    pr_i128 v = a->kind == PR_ATTR_INT                      ? a->integer
                : a->kind == PR_ATTR_DENSE && a->n_ints > 0 ? a->ints[0]
                                                            : 1;
    return v > 0 ? v : 1;
}

static pr_status bind_int(binder *b, json_t *v, const pr_json_at *at, const pr_value *arg,
                          pr_arg *out)
{
    int bits = arg->type->kind == PR_TYPE_INDEX ? 64 : arg->type->bits;
    pr_json_at scalar = { at, "scalar", 0 }, value = { &scalar, "value", 0 };
    if (json_is_object(v)) {
        json_t *s = json_object_get(v, "scalar");
        if (!s)
            return pr_launch_bad(&b->r, at, "expected a number for an argument of type i%d", bits);
        if (!json_is_object(s))
            return pr_launch_bad(&b->r, &scalar, "expected an object, got %s", pr_json_kind(s));
        v = json_object_get(s, "value");
        if (!v) return pr_launch_bad(&b->r, &value, "missing (null keeps it symbolic)");
        at = &value;
    }
    if (json_is_null(v)) {
        out->kind = PR_ARG_SYMBOLIC;
        return PR_OK;
    }
    pr_i128 n;
    pr_status s = pr_json_integer(&b->r, v, at, &n);
    if (s != PR_OK) return s;
    if (bits < 1 || bits > 64)
        return pr_launch_bad(&b->r, at, "integers of %d bits cannot be given", bits);
    if (n < pr_int_min(bits) || n >= (pr_i128)1 << bits)
        return pr_launch_bad(&b->r, at, "the value does not fit in i%d", bits);
    out->kind = PR_ARG_INT;
    out->value = bits == 1 ? (n != 0) : pr_wrap_signed(n, bits);
    pr_i128 divisor = divisibility_of(arg);
    if (pr_fmod(out->value, divisor) != 0)
        return pr_launch_bad(&b->r, at,
                             "the kernel was compiled for a multiple of %lld (tt.divisibility)",
                             (long long)divisor);
    return PR_OK;
}

static pr_status bind_float(binder *b, json_t *v, const pr_json_at *at, pr_arg *out)
{
    pr_json_at scalar = { at, "scalar", 0 }, value = { &scalar, "value", 0 };
    if (json_is_object(v) && json_is_object(json_object_get(v, "scalar"))) {
        v = json_object_get(json_object_get(v, "scalar"), "value");
        at = &value;
        if (!v) return pr_launch_bad(&b->r, at, "missing (null keeps it symbolic)");
    }
    out->kind = json_is_null(v) ? PR_ARG_SYMBOLIC : PR_ARG_FLOAT;
    if (json_is_number(v) || json_is_null(v) || json_is_boolean(v) || json_is_string(v))
        return PR_OK;
    return pr_launch_bad(&b->r, at, "expected a number, got %s", pr_json_kind(v));
}

/* Element size against the pointee of the text; i8 and i1 pointers may address anything. */
static bool sizes_agree(const pr_type *pointee, const pr_tensor *t)
{
    int bytes = pr_type_bytes(pointee);
    return bytes == t->elem_bytes || bytes == 0 || (pointee->kind == PR_TYPE_INT && bytes == 1);
}

/* Optional list of n integers; absent keeps fallback. */
static pr_status read_list(binder *b, json_t *object, const pr_json_at *up, const char *key, int n,
                           const int64_t *fallback, int64_t least, int64_t *out)
{
    json_t *v = json_object_get(object, key);
    pr_json_at at = { up, key, 0 };
    if (!v) {
        for (int k = 0; k < n; k++) out[k] = fallback[k];
        return PR_OK;
    }
    if (!json_is_array(v) || (int)json_array_size(v) != n)
        return pr_launch_bad(&b->r, &at, "expected an array of %d integers", n);
    for (int k = 0; k < n; k++) {
        pr_json_at item = { &at, NULL, k };
        pr_i128 x;
        pr_status s = pr_json_integer(&b->r, json_array_get(v, (size_t)k), &item, &x);
        if (s != PR_OK) return s;
        if (x < least || x > INT64_MAX / 16) return pr_launch_bad(&b->r, &item, "out of range");
        out[k] = (int64_t)x;
    }
    return PR_OK;
}

/* Shape, strides and block of a descriptor of this rank; what is absent is that of its tensor. */
static pr_status read_parts(binder *b, json_t *d, const pr_json_at *at, const pr_tensor *t, const pr_type *block, int rank, pr_arg *out)
{
    int64_t ones[PR_MAX_RANK] = { 1, 1, 1, 1, 1, 1, 1, 1 };
    bool known = block && block->kind == PR_TYPE_TENSOR;
    pr_status s = read_list(b, d, at, "shape", rank, t->shape, 0, out->desc_shape);
    if (s == PR_OK) s = read_list(b, d, at, "strides", rank, t->stride, 0, out->desc_stride);
    if (s == PR_OK) s = read_list(b, d, at, "block", rank, known ? block->shape : ones, 1, out->desc_block);
    pr_json_at padding_at = { at, "padding", 0 };
    json_t *padding = json_object_get(d, "padding");
    if (s == PR_OK && padding && !json_is_string(padding) && !json_is_null(padding))
        return pr_launch_bad(&b->r, &padding_at, "expected \"zero\" or \"nan\", got %s", pr_json_kind(padding));
    out->desc_nan = padding && json_is_string(padding) && strcmp(json_string_value(padding), "nan") == 0;
    json_t *round = json_object_get(d, "round_f32_to_tf32");
    out->desc_round = json_is_boolean(round) ? json_is_true(round) : -1;
    return s;
}

static pr_status bind_tensor(binder *b, json_t *v, const pr_json_at *at, const pr_value *arg,
                             pr_arg *out)
{
    if (json_is_null(v)) {
        out->kind = PR_ARG_SYMBOLIC;
        return PR_OK;
    }
    pr_json_at desc = { at, "descriptor", 0 };
    json_t *d = json_is_object(v) ? json_object_get(v, "descriptor") : NULL;
    if (json_is_object(d)) { /* a descriptor lowered to its base pointer */
        v = d;
        at = &desc;
    }
    pr_json_at body_at = { at, "tensor", 0 };
    json_t *body = json_is_object(v) ? json_object_get(v, "tensor") : NULL;
    if (!body)
        return pr_launch_bad(&b->r, at, "expected {\"tensor\": ...} for a pointer argument, got %s",
                             pr_json_kind(v));
    pr_tensor *t;
    bool usable;
    pr_status s = pr_tensor_read(&b->tensors, &b->r, body, &body_at, out->name,
                                 divisibility_of(arg), &t, &usable);
    if (s != PR_OK) return s;
    const pr_type *pointee = arg->type->elem;
    if (!usable) {
        refuse(b, arg,
               pr_arena_printf(b->tensors.arena,
                               "tensor %.*s is not contiguous and has neither strides nor storage",
                               PR_STR_ARG(out->name)),
               "give its strides in the launch file");
    } else if (pointee && !sizes_agree(pointee, t)) {
        refuse(
            b, arg,
            pr_arena_printf(b->tensors.arena,
                            "tensor %.*s has %d-byte elements, the kernel's pointer %d-byte ones",
                            PR_STR_ARG(out->name), t->elem_bytes, pr_type_bytes(pointee)),
            "give the dtype that the kernel was compiled for");
    } else {
        out->kind = PR_ARG_TENSOR;
        out->tensor = t;
        if (!json_is_object(d)) return PR_OK;
        json_t *shape = json_object_get(d, "shape");
        size_t rank = json_is_array(shape) ? json_array_size(shape) : (size_t)t->rank;
        if (rank > PR_MAX_RANK || ((int)rank != t->rank && !json_object_get(d, "strides")))
            return pr_launch_bad(&b->r, at, "the tensor has %d dimensions, the descriptor %d", t->rank, (int)rank);
        out->desc_rank = (int)rank;      /* its parts are arguments of their own */
        return read_parts(b, d, at, t, NULL, out->desc_rank, out);
    }
    out->kind = PR_ARG_SYMBOLIC;
    return PR_OK;
}

static pr_status bind_descriptor(binder *b, json_t *v, const pr_json_at *at, const pr_value *arg,
                                 pr_arg *out)
{
    if (json_is_null(v)) {
        out->kind = PR_ARG_SYMBOLIC;
        return PR_OK;
    }
    pr_json_at desc_at = { at, "descriptor", 0 }, body_at = { &desc_at, "tensor", 0 };
    json_t *d = json_is_object(v) ? json_object_get(v, "descriptor") : NULL;
    if (!json_is_object(d))
        return pr_launch_bad(&b->r, at,
                             "expected {\"descriptor\": {...}} for a descriptor argument");
    json_t *body = json_object_get(d, "tensor");
    if (!body) return pr_launch_bad(&b->r, &body_at, "missing: the tensor below the descriptor");
    pr_tensor *t;
    bool usable;
    pr_status s = pr_tensor_read(&b->tensors, &b->r, body, &body_at, out->name, 1, &t, &usable);
    if (s != PR_OK) return s;
    const pr_type *block = arg->type->elem;
    int rank = block && block->kind == PR_TYPE_TENSOR ? block->rank : t->rank;
    if (rank != t->rank && (!json_object_get(d, "shape") || !json_object_get(d, "strides")))
        return pr_launch_bad(&b->r, &desc_at, "the tensor has %d dimensions, the descriptor %d",
                             t->rank, rank);
    s = read_parts(b, d, &desc_at, t, block, rank, out);
    if (s != PR_OK) return s;
    const pr_type *element = block ? pr_type_scalar(block) : NULL;
    if (!usable || (element && !sizes_agree(element, t))) {
        refuse(b, arg,
               pr_arena_printf(b->tensors.arena,
                               "the tensor of descriptor %.*s does not match its type",
                               PR_STR_ARG(out->name)),
               NULL);
        out->kind = PR_ARG_SYMBOLIC;
        return PR_OK;
    }
    out->kind = PR_ARG_DESCRIPTOR;
    out->tensor = t;
    out->desc_rank = rank;
    return PR_OK;
}

/* Which part of the descriptor d is this: one of rank extents, then one of rank strides (also when the text has it a second time,
 * with a number behind it), PART_PADDING, PART_ROUND, or none (-1). */
enum { PART_PADDING = 2 * PR_MAX_RANK, PART_ROUND };

static int part_of(pr_str name, pr_str d, int rank)
{
    if (name.n < d.n + 2 || memcmp(name.s, d.s, d.n) != 0 || name.s[d.n] != '.') return -1;
    pr_str rest = { name.s + d.n + 1, name.n - d.n - 1 };
    static const char *const kinds[] = { "shape.", "stride." };
    if (pr_str_is(rest, "padding")) return PART_PADDING;
    if (pr_str_is(rest, "roundF32ToTF32")) return PART_ROUND;
    for (int k = 0; k < 2; k++) {
        size_t n = strlen(kinds[k]);
        if (!pr_str_starts(rest, kinds[k]) || rest.n <= n) continue;
        int at = rest.s[n] - '0';
        bool ends = rest.n == n + 1 || rest.s[n + 1] == '_';
        if (at >= 0 && at < rank && ends) return k * rank + at;
    }
    return -1;
}

/* The compiler appends shape and strides of a host descriptor to the signature, named `d.shape.0` ..., or unnamed right behind it.
 * Where the target has no descriptors d is its pointer, and two flags follow that concern values only. */
static bool bind_from_descriptor(binder *b, int i, bool named, pr_arg *out)
{
    pr_arg *args = b->out->args;
    for (int k = i - 1; k >= 0; k--) {
        int rank = args[k].desc_rank, part = -1;
        if (!rank) continue;
        if (named) part = part_of(out->name, args[k].name, rank);
        else if (i - k <= 2 * rank) part = i - k - 1;
        if (part < 0) continue;
        out->kind = part == PART_ROUND && args[k].desc_round < 0 ? PR_ARG_SYMBOLIC : PR_ARG_INT;
        out->value = part == PART_PADDING ? args[k].desc_nan : part == PART_ROUND ? args[k].desc_round
                   : part < rank ? args[k].desc_shape[part] : args[k].desc_stride[part - rank];
        return true;
    }
    return false;
}

static pr_status missing(binder *b, const pr_json_at *at, pr_str name)
{
    bool unnamed = pr_str_starts(name, "arg") && name.n > 3 && name.s[3] >= '0' && name.s[3] <= '9';
    return pr_launch_bad(
        &b->r, at,
        "missing: every argument of the kernel needs an entry (null keeps it symbolic)%s",
        unnamed ? "; the text does not name its arguments, an array binds in order" : "");
}

static pr_status bind_arg(binder *b, int i)
{
    const pr_value *arg = pr_region_block(b->func->regions[0])->args[i];
    pr_arg *out = &b->out->args[i];
    out->name = pr_ir_arg_name(b->ir, b->func, i);
    pr_type_kind kind = arg->type ? arg->type->kind : PR_TYPE_OPAQUE;
    pr_json_at at;
    json_t *v = entry(b, i, out->name, &at);
    bool is_int = kind == PR_TYPE_INT || kind == PR_TYPE_INDEX;
    if (!v && is_int && bind_from_descriptor(b, i, true, out)) return PR_OK;
    if (!v && is_int && bind_from_descriptor(b, i, false, out)) return PR_OK;
    if (!v) return missing(b, &at, out->name);
    if (is_int) return bind_int(b, v, &at, arg, out);
    if (kind == PR_TYPE_FLOAT) return bind_float(b, v, &at, out);
    if (kind == PR_TYPE_POINTER) return bind_tensor(b, v, &at, arg, out);
    if (kind == PR_TYPE_DESC) return bind_descriptor(b, v, &at, arg, out);
    out->kind = PR_ARG_SYMBOLIC;
    return PR_OK;
}

/* Two arguments cannot give one byte different contents: a verdict would rest on whichever is read. */
static pr_status contents_agree(binder *b)
{
    pr_launch *l = b->out;
    pr_tensor **tensors = PR_NEW_N(b->tensors.arena, pr_tensor *, l->n_args ? l->n_args : 1);
    int n = 0, at_fault = 0;
    for (int k = 0; k < l->n_args; k++)
        if (l->args[k].tensor) tensors[n++] = (pr_tensor *)l->args[k].tensor;
    pr_contents_clash c;
    if (!pr_contents_disagree(b->tensors.arena, tensors, n, &c)) return PR_OK;
    while (l->args[at_fault].tensor != c.b) at_fault++;
    pr_json_at at;
    entry(b, at_fault, l->args[at_fault].name, &at);
    return pr_launch_bad(&b->r, &at,
                         "contradictory contents: element %lld of " PR_STR_FMT " and element %lld of " PR_STR_FMT
                         " have a byte in common and different values there (%lld and %lld)",
                         (long long)c.element_b, PR_STR_ARG(c.b->name), (long long)c.element_a, PR_STR_ARG(c.a->name),
                         (long long)c.b->values[c.element_b], (long long)c.a->values[c.element_a]);
}

static json_t *own_or_shared(binder *b, json_t *own, const char *key, pr_json_at *at)
{
    json_t *v = own ? json_object_get(own, key) : NULL;
    *at = (pr_json_at){ v ? &b->config_at : pr_launch_reader_path(&b->r), key, 0 };
    return v ? v : json_object_get(b->r.launch, key);
}

static pr_str keep(binder *b, const json_t *v)
{
    if (!json_is_string(v)) return (pr_str){ "", 0 };
    size_t n = json_string_length(v);
    return (pr_str){ pr_arena_strndup(b->tensors.arena, json_string_value(v), n), n };
}

static pr_status bind_grid(binder *b, json_t *own, const int64_t *override)
{
    pr_launch *l = b->out;
    pr_json_at at;
    json_t *g = own_or_shared(b, own, "grid", &at);
    l->grid[0] = l->grid[1] = l->grid[2] = 1;
    if (override) {
        memcpy(l->grid, override, sizeof l->grid);
        l->grid_known = true;
        return PR_OK;
    }
    if (!g) return pr_launch_bad(&b->r, &at, "missing: the launch grid (null keeps it symbolic)");
    if (json_is_null(g)) return PR_OK;
    for (size_t k = 0; k < json_array_size(g); k++)
        l->grid[k] = json_integer_value(json_array_get(g, k));
    l->grid_known = true;
    return PR_OK;
}

static int count_of(json_t *config, const char *key, int fallback)
{
    json_t *v = config ? json_object_get(config, key) : NULL;
    return v ? (int)json_integer_value(v) : fallback;
}

pr_status pr_launch_bind(pr_arena *arena, pr_launch_doc *d, int i, int c, const pr_ir *ir,
                         const pr_op *func, const pr_launch_limits *limits,
                         const int64_t *grid_override, pr_launch *out, pr_refusal_vec *refusals,
                         pr_error *err)
{
    binder b = { .config = c, .ir = ir, .func = func, .out = out, .refusals = refusals };
    if (!pr_launch_reader_open(&b.r, d, i, err)) return PR_ERR_INPUT;
    pr_tensor_reader_init(&b.tensors, arena, limits, d->base_dir);
    const pr_json_at *up = pr_launch_reader_path(&b.r);
    json_t *own = json_array_get(json_object_get(b.r.launch, "configs"), (size_t)c);
    b.configs = (pr_json_at){ up, "configs", 0 };
    b.config_at = (pr_json_at){ &b.configs, NULL, c };
    b.own_at = (pr_json_at){ &b.config_at, "args", 0 };
    b.shared_at = (pr_json_at){ up, "args", 0 };
    b.own_args = own ? json_object_get(own, "args") : NULL;
    b.shared_args = json_object_get(b.r.launch, "args");

    pr_json_at at;
    *out = (pr_launch){ 0 };
    out->kernel = keep(&b, json_object_get(b.r.launch, "kernel"));
    out->target = keep(&b, own_or_shared(&b, own, "target", &at));
    out->triton = keep(&b, own_or_shared(&b, own, "triton", &at));
    json_t *config = own_or_shared(&b, own, "config", &at);
    out->num_warps = count_of(config, "num_warps", 4);
    out->num_ctas = count_of(config, "num_ctas", 1);
    out->config_json = pr_launch_doc_config_json(arena, d, i, c);
    json_t *assume = json_object_get(b.r.launch, "assume");
    out->n_assume = (int)json_array_size(assume);
    out->assume = PR_NEW_N(arena, pr_assume, out->n_assume);
    for (int k = 0; k < out->n_assume; k++)
        out->assume[k].text = keep(&b, json_array_get(assume, (size_t)k)).s;

    pr_status s = bind_grid(&b, own, grid_override);
    if (s != PR_OK) return s;
    pr_block *entry_block = pr_region_block(func->regions[0]);
    out->n_args = entry_block->n_args;
    out->args = PR_NEW_N(arena, pr_arg, out->n_args);
    json_t *arrays[2] = { b.own_args, b.shared_args };
    for (int k = 0; k < 2; k++)
        if (json_is_array(arrays[k]) && (int)json_array_size(arrays[k]) > out->n_args)
            return pr_launch_bad(
                &b.r, k ? &b.shared_at : &b.own_at,
                "%zu entries for %d arguments (leave out those folded at compile time)",
                json_array_size(arrays[k]), out->n_args);
    for (int k = 0; k < out->n_args; k++) {
        s = bind_arg(&b, k);
        if (s != PR_OK) return s;
    }
    s = pr_tensor_reader_finish(&b.tensors, &b.r);
    return s == PR_OK ? contents_agree(&b) : s;
}
