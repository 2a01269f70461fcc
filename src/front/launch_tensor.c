/* Tensors of a launch file: dtype, layout, storage interval, contents. See launch_tensor.h. */
#include "front/launch_tensor.h"
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Addresses have 64 bits. */
#define ADDRESS_END ((pr_i128)1 << 64)

static const struct dtype {
    const char *name;
    int bytes;
    char kind; /* f loat, i nt, u nsigned, b ool */
} dtypes[] = {
    { "bf16", 2, 'f' },
    { "bfloat16", 2, 'f' },
    { "bool", 1, 'b' },
    { "byte", 1, 'u' },
    { "char", 1, 'i' },
    { "complex128", 16, 'f' },
    { "complex32", 4, 'f' },
    { "complex64", 8, 'f' },
    { "double", 8, 'f' },
    { "f16", 2, 'f' },
    { "f32", 4, 'f' },
    { "f64", 8, 'f' },
    { "float", 4, 'f' },
    { "float16", 2, 'f' },
    { "float32", 4, 'f' },
    { "float4_e2m1fn_x2", 1, 'f' },
    { "float64", 8, 'f' },
    { "float8_e4m3fn", 1, 'f' },
    { "float8_e4m3fnuz", 1, 'f' },
    { "float8_e5m2", 1, 'f' },
    { "float8_e5m2fnuz", 1, 'f' },
    { "float8_e8m0fnu", 1, 'f' },
    { "fp16", 2, 'f' },
    { "fp32", 4, 'f' },
    { "fp64", 8, 'f' },
    { "fp8e4b15", 1, 'f' },
    { "fp8e4b8", 1, 'f' },
    { "fp8e4nv", 1, 'f' },
    { "fp8e5", 1, 'f' },
    { "fp8e5b16", 1, 'f' },
    { "half", 2, 'f' },
    { "i1", 1, 'b' },
    { "i16", 2, 'i' },
    { "i32", 4, 'i' },
    { "i64", 8, 'i' },
    { "i8", 1, 'i' },
    { "int", 4, 'i' },
    { "int1", 1, 'b' },
    { "int16", 2, 'i' },
    { "int32", 4, 'i' },
    { "int64", 8, 'i' },
    { "int8", 1, 'i' },
    { "long", 8, 'i' },
    { "short", 2, 'i' },
    { "tf32", 4, 'f' },
    { "u1", 1, 'b' },
    { "u16", 2, 'u' },
    { "u32", 4, 'u' },
    { "u64", 8, 'u' },
    { "u8", 1, 'u' },
    { "uint1", 1, 'b' },
    { "uint16", 2, 'u' },
    { "uint32", 4, 'u' },
    { "uint64", 8, 'u' },
    { "uint8", 1, 'u' },
};

/* Torch and Triton spellings; "torch." and the pointer star of a signature are dropped. */
static const struct dtype *dtype_find(const char *s)
{
    if (strncmp(s, "torch.", 6) == 0) s += 6;
    if (strncmp(s, "tl.", 3) == 0) s += 3;
    if (*s == '*') s++;
    for (size_t k = 0; k < PR_LEN(dtypes); k++)
        if (strcmp(dtypes[k].name, s) == 0) return &dtypes[k];
    return NULL;
}

void pr_tensor_reader_init(pr_tensor_reader *t, pr_arena *arena, const pr_launch_limits *limits,
                           const char *base_dir)
{
    *t = (pr_tensor_reader){ .arena = arena, .limits = *limits, .base_dir = base_dir };
    t->highest = (pr_i128)1 << 32;
}

pr_status pr_json_integer(pr_launch_reader *r, const json_t *v, const pr_json_at *at, pr_i128 *out)
{
    if (!v) return pr_launch_bad(r, at, "missing: expected an integer");
    if (json_is_integer(v)) {
        *out = json_integer_value(v);
        return PR_OK;
    }
    if (json_is_boolean(v)) {
        *out = json_is_true(v);
        return PR_OK;
    }
    if (json_is_string(v)) {
        pr_str s = { json_string_value(v), json_string_length(v) };
        bool decimal = s.n > 0;
        for (size_t k = s.n > 1 && s.s[0] == '-'; k < s.n; k++)
            decimal = decimal && s.s[k] >= '0' && s.s[k] <= '9';
        if (decimal && pr_i128_parse(s, out)) return PR_OK;
        return pr_launch_bad(r, at, "expected an integer, got the string \"%.40s\"",
                             json_string_value(v));
    }
    return pr_launch_bad(r, at, "expected an integer, got %s", pr_json_kind(v));
}

static pr_status in_range(pr_launch_reader *r, json_t *object, const pr_json_at *up,
                          const char *key, pr_i128 least, pr_i128 most, pr_i128 *out)
{
    pr_json_at at = { up, key, 0 };
    pr_status s = pr_json_integer(r, json_object_get(object, key), &at, out);
    if (s == PR_OK && (*out < least || *out > most)) return pr_launch_bad(r, &at, "out of range");
    return s;
}

static pr_status read_dims(pr_launch_reader *r, json_t *v, const pr_json_at *at, pr_i128 least,
                           int rank, int64_t *out)
{
    for (int k = 0; k < rank; k++) {
        pr_json_at item = { at, NULL, k };
        pr_i128 x;
        if (json_is_string(json_array_get(v, (size_t)k)))
            return pr_launch_bad(r, &item, "expected an integer, got a string");
        pr_status s = pr_json_integer(r, json_array_get(v, (size_t)k), &item, &x);
        if (s != PR_OK) return s;
        if (x < least || x > (pr_i128)1 << 48) return pr_launch_bad(r, &item, "out of range");
        out[k] = (int64_t)x;
    }
    return PR_OK;
}

static pr_status read_layout(pr_launch_reader *r, json_t *body, const pr_json_at *at, pr_tensor *t,
                             bool *usable)
{
    pr_json_at shape_at = { at, "shape", 0 }, strides_at = { at, "strides", 0 },
               contiguous_at = { at, "contiguous", 0 };
    json_t *shape = json_object_get(body, "shape"), *strides = json_object_get(body, "strides");
    json_t *contiguous = json_object_get(body, "contiguous");
    if (!json_is_array(shape))
        return pr_launch_bad(r, &shape_at,
                             shape ? "expected an array of integers, got %s" : "missing%.0s",
                             pr_json_kind(shape));
    if (json_array_size(shape) > PR_MAX_RANK)
        return pr_launch_bad(r, &shape_at, "more than %d dimensions", PR_MAX_RANK);
    t->rank = (int)json_array_size(shape);
    pr_status s = read_dims(r, shape, &shape_at, 0, t->rank, t->shape);
    if (s != PR_OK) return s;
    pr_i128 count = 1;
    for (int k = 0; k < t->rank; k++) {
        count *= t->shape[k];
        if (count > (pr_i128)1 << 56)
            return pr_launch_bad(r, &shape_at, "the tensor has too many elements");
    }
    t->numel = (int64_t)count;
    if (strides && !json_is_null(strides)) {
        if (!json_is_array(strides) || (int)json_array_size(strides) != t->rank)
            return pr_launch_bad(r, &strides_at,
                                 "expected an array of %d integers, one a dimension", t->rank);
        s = read_dims(r, strides, &strides_at, -((pr_i128)1 << 48), t->rank, t->stride);
        if (s != PR_OK) return s;
    } else {
        strides = NULL;
        int64_t run = 1;
        for (int k = t->rank; k-- > 0;) {
            t->stride[k] = run;
            run *= t->shape[k] ? t->shape[k] : 1;
        }
    }
    if (contiguous && !json_is_boolean(contiguous))
        return pr_launch_bad(r, &contiguous_at, "expected true or false, got %s",
                             pr_json_kind(contiguous));
    t->contiguous = true;
    int64_t run = 1;
    for (int k = t->rank; k-- > 0;) {
        if (t->shape[k] > 1 && t->stride[k] != run) t->contiguous = t->numel == 0;
        run *= t->shape[k];
        if (t->numel == 0) break;
    }
    *usable =
        !(contiguous && json_is_false(contiguous) && !strides && !json_object_get(body, "storage"));
    return PR_OK;
}

/* Bytes of the strided extent relative to the pointer: [*lo, *hi). */
static void extent(const pr_tensor *t, pr_i128 *lo, pr_i128 *hi)
{
    *lo = *hi = 0;
    if (t->numel == 0) return;
    for (int k = 0; k < t->rank; k++) {
        pr_i128 step = (pr_i128)(t->shape[k] - 1) * t->stride[k];
        if (step < 0) *lo += step;
        else *hi += step;
    }
    *lo *= t->elem_bytes;
    *hi = (*hi + 1) * t->elem_bytes;
}

static int storage_named(pr_tensor_reader *t, pr_str id, pr_i128 bytes)
{
    for (int k = 0; k < t->storages.n; k++)
        if (pr_str_eq(t->storages.data[k].id, id)) return k;
    pr_named_storage one = { { pr_arena_strndup(t->arena, id.s, id.n), id.n }, bytes, 0 };
    pr_vec_push(t->arena, &t->storages, one);
    return t->storages.n - 1;
}

static pr_status read_named(pr_tensor_reader *t, pr_launch_reader *r, json_t *storage,
                            const pr_json_at *at, pr_tensor *out)
{
    pr_json_at id_at = { at, "id", 0 }, bytes_at = { at, "bytes", 0 };
    json_t *id = json_object_get(storage, "id");
    if (!json_is_string(id))
        return pr_launch_bad(r, &id_at, "expected a string, got %s", pr_json_kind(id));
    pr_i128 offset = 0, bytes;
    pr_status s = PR_OK;
    if (json_object_get(storage, "offset"))
        s = in_range(r, storage, at, "offset", 0, (pr_i128)1 << 60, &offset);
    if (s == PR_OK) s = in_range(r, storage, at, "bytes", 0, (pr_i128)1 << 60, &bytes);
    if (s != PR_OK) return s;
    int k = storage_named(t, (pr_str){ json_string_value(id), json_string_length(id) }, bytes);
    if (t->storages.data[k].bytes != bytes)
        return pr_launch_bad(r, &bytes_at, "another argument gives this storage %lld bytes",
                             (long long)t->storages.data[k].bytes);
    out->synthetic = true;
    out->ptr = offset;
    out->storage_hi = bytes;
    pr_named_tensor n = { out, k };
    pr_vec_push(t->arena, &t->named, n);
    return PR_OK;
}

static pr_status read_place(pr_tensor_reader *t, pr_launch_reader *r, json_t *body,
                            const pr_json_at *at, pr_i128 divisibility, pr_tensor *out)
{
    json_t *storage = json_object_get(body, "storage");
    pr_json_at storage_at = { at, "storage", 0 }, ptr_at = { at, "ptr", 0 };
    if (json_is_null(storage)) storage = NULL;
    if (storage && !json_is_object(storage))
        return pr_launch_bad(r, &storage_at, "expected an object, got %s", pr_json_kind(storage));
    pr_i128 lo, hi;
    extent(out, &lo, &hi);
    pr_status s;
    if (storage && json_object_get(storage, "id")) {
        s = read_named(t, r, storage, &storage_at, out);
        if (s != PR_OK) return s;
    } else {
        s = in_range(r, body, at, "ptr", 0, ADDRESS_END - 1, &out->ptr);
        if (s != PR_OK) return s;
        out->storage_lo = out->ptr + lo;
        out->storage_hi = out->ptr + hi;
        if (storage) {
            pr_i128 from, bytes;
            s = in_range(r, storage, &storage_at, "ptr", 0, ADDRESS_END - 1, &from);
            if (s == PR_OK) s = in_range(r, storage, &storage_at, "bytes", 0, ADDRESS_END, &bytes);
            if (s != PR_OK) return s;
            out->storage_lo = from;
            out->storage_hi = from + bytes;
        }
        if (out->storage_lo < 0 || out->storage_hi > ADDRESS_END)
            return pr_launch_bad(r, &ptr_at, "the tensor does not fit in the address space");
        if (out->storage_hi > t->highest) t->highest = out->storage_hi;
    }
    if (out->numel > 0 && (out->ptr + lo < out->storage_lo || out->ptr + hi > out->storage_hi))
        return pr_launch_bad(r, &storage_at, "the tensor reaches outside its storage");
    if (divisibility <= 256 && pr_fmod(out->ptr, divisibility) != 0)
        return pr_launch_bad(r, &ptr_at,
                             "the kernel was compiled for a pointer that is a multiple of %lld"
                             " (tt.divisibility)",
                             (long long)divisibility);
    return PR_OK;
}

/* ---- contents -------------------------------------------------------------------------------- */
static const char *keep_text(pr_tensor_reader *t, const json_t *v)
{ return pr_arena_strndup(t->arena, json_string_value(v), json_string_length(v)); }

static pr_status fits_dtype(pr_launch_reader *r, const pr_json_at *at, const pr_tensor *t,
                            pr_i128 v, pr_i128 *out)
{
    int bits = t->elem_bytes * 8;
    bool fits = t->is_bool       ? v == 0 || v == 1
                : t->is_unsigned ? v >= 0 && v < (pr_i128)1 << bits
                                 : v >= pr_int_min(bits) && v <= pr_int_max(bits);
    if (!fits)
        return pr_launch_bad(r, at, "the value does not fit in " PR_STR_FMT, PR_STR_ARG(t->dtype));
    *out = t->is_bool ? v : pr_wrap_signed(v, bits);
    return PR_OK;
}

static pr_status contents_list(pr_tensor_reader *t, pr_launch_reader *r, json_t *v,
                               const pr_json_at *at, pr_tensor *out)
{
    if (!json_is_array(v))
        return pr_launch_bad(r, at, "expected an array, got %s", pr_json_kind(v));
    if ((int64_t)json_array_size(v) != out->numel)
        return pr_launch_bad(r, at, "%zu values for %lld elements", json_array_size(v),
                             (long long)out->numel);
    pr_i128 *values = PR_NEW_N(t->arena, pr_i128, out->numel);
    for (int64_t k = 0; k < out->numel; k++) {
        pr_json_at item = { at, NULL, (int)k };
        pr_i128 x;
        pr_status s = pr_json_integer(r, json_array_get(v, (size_t)k), &item, &x);
        if (s == PR_OK) s = fits_dtype(r, &item, out, x, &values[k]);
        if (s != PR_OK) return s;
    }
    out->values = values;
    out->has_values = true;
    return PR_OK;
}

static void contents_raw(pr_tensor_reader *t, const unsigned char *bytes, pr_tensor *out)
{
    pr_i128 *values = PR_NEW_N(t->arena, pr_i128, out->numel);
    int w = out->elem_bytes;
    for (int64_t k = 0; k < out->numel; k++) {
        pr_i128 v = 0;
        for (int b = w; b-- > 0;) v = v << 8 | bytes[k * w + b];
        values[k] = out->is_bool ? v != 0 : pr_wrap_signed(v, w * 8);
    }
    out->values = values;
    out->has_values = true;
}

static int base64_digit(char c)
{
    if (c >= 'A' && c <= 'Z') return c - 'A';
    if (c >= 'a' && c <= 'z') return c - 'a' + 26;
    if (c >= '0' && c <= '9') return c - '0' + 52;
    return c == '+' || c == '-' ? 62 : c == '/' || c == '_' ? 63 : -1;
}

static pr_status contents_base64(pr_tensor_reader *t, pr_launch_reader *r, json_t *v,
                                 const pr_json_at *at, pr_tensor *out)
{
    if (!json_is_string(v))
        return pr_launch_bad(r, at, "expected a base64 string, got %s", pr_json_kind(v));
    const char *s = json_string_value(v);
    size_t n = json_string_length(v), used = 0;
    unsigned char *bytes = pr_arena_alloc(t->arena, n + 4);
    unsigned held = 0, bits = 0;
    for (size_t k = 0; k < n && s[k] != '='; k++) {
        int digit = base64_digit(s[k]);
        if (digit < 0) return pr_launch_bad(r, at, "not base64 at character %zu", k + 1);
        held = held << 6 | (unsigned)digit;
        bits += 6;
        if (bits >= 8) bytes[used++] = (unsigned char)(held >> (bits -= 8));
    }
    if ((pr_i128)used != (pr_i128)out->numel * out->elem_bytes)
        return pr_launch_bad(r, at, "%zu bytes for %lld elements of %d bytes", used,
                             (long long)out->numel, out->elem_bytes);
    contents_raw(t, bytes, out);
    return PR_OK;
}

static pr_status contents_file(pr_tensor_reader *t, pr_launch_reader *r, json_t *v,
                               const pr_json_at *at, pr_tensor *out)
{
    if (!json_is_string(v)) return pr_launch_bad(r, at, "expected a path, got %s", pr_json_kind(v));
    const char *spelled = json_string_value(v);
    const char *path = spelled[0] == '/' || !t->base_dir[0]
                           ? spelled
                           : pr_arena_printf(t->arena, "%s/%s", t->base_dir, spelled);
    size_t want = (size_t)(out->numel * out->elem_bytes);
    unsigned char *bytes = pr_arena_alloc(t->arena, want + 1);
    FILE *f = fopen(path, "rb");
    if (!f) return pr_launch_bad(r, at, "cannot read %s", spelled);
    size_t got = fread(bytes, 1, want + 1, f);
    fclose(f);
    if (got != want) return pr_launch_bad(r, at, "%s does not hold %zu bytes", spelled, want);
    contents_raw(t, bytes, out);
    return PR_OK;
}

static pr_status read_contents(pr_tensor_reader *t, pr_launch_reader *r, json_t *body,
                               const pr_json_at *at, pr_tensor *out)
{
    static const char *const keys[] = { "values", "values_b64", "values_file" };
    pr_json_at reason_at = { at, "no_values", 0 };
    json_t *reason = json_object_get(body, "no_values"), *found = NULL;
    const char *key = NULL;
    for (size_t k = 0; k < PR_LEN(keys); k++) {
        json_t *v = json_object_get(body, keys[k]);
        if (!v || json_is_null(v)) continue;
        pr_json_at here = { at, keys[k], 0 };
        if (found) return pr_launch_bad(r, &here, "the contents are already given by %s", key);
        found = v;
        key = keys[k];
    }
    if (reason && !json_is_string(reason) && !json_is_null(reason))
        return pr_launch_bad(r, &reason_at, "expected a string, got %s", pr_json_kind(reason));
    if (json_is_string(reason)) out->no_values = keep_text(t, reason);
    if (!found) return PR_OK;
    int64_t bytes = out->numel * out->elem_bytes;
    if (!out->is_int && !out->is_bool)
        out->no_values =
            pr_arena_printf(t->arena, "float dtype " PR_STR_FMT, PR_STR_ARG(out->dtype));
    else if (out->numel == 0) out->no_values = "empty";
    else if (out->numel > t->limits.snapshot_elements)
        out->no_values =
            pr_arena_printf(t->arena, "too large (%lld elements, bound %lld)",
                            (long long)out->numel, (long long)t->limits.snapshot_elements);
    else if (t->snapshot_bytes + bytes > t->limits.snapshot_bytes) out->no_values = "launch cap";
    else {
        pr_json_at here = { at, key, 0 };
        t->snapshot_bytes += bytes;
        out->no_values = NULL;
        return key == keys[0]   ? contents_list(t, r, found, &here, out)
               : key == keys[1] ? contents_base64(t, r, found, &here, out)
                                : contents_file(t, r, found, &here, out);
    }
    return PR_OK;
}

pr_status pr_tensor_read(pr_tensor_reader *t, pr_launch_reader *r, json_t *body,
                         const pr_json_at *at, pr_str name, pr_i128 divisibility, pr_tensor **out,
                         bool *usable)
{
    if (!json_is_object(body))
        return pr_launch_bad(r, at, "expected an object, got %s", pr_json_kind(body));
    pr_tensor *x = PR_NEW(t->arena, pr_tensor);
    pr_json_at dtype_at = { at, "dtype", 0 };
    json_t *dtype = json_object_get(body, "dtype");
    if (!json_is_string(dtype))
        return pr_launch_bad(r, &dtype_at, dtype ? "expected a string, got %s" : "missing%.0s",
                             pr_json_kind(dtype));
    const struct dtype *d = dtype_find(json_string_value(dtype));
    if (!d) return pr_launch_bad(r, &dtype_at, "unknown dtype \"%.40s\"", json_string_value(dtype));
    x->name = name;
    x->dtype = (pr_str){ keep_text(t, dtype), json_string_length(dtype) };
    x->elem_bytes = d->bytes;
    x->is_int = d->kind == 'i' || d->kind == 'u';
    x->is_unsigned = d->kind == 'u';
    x->is_bool = d->kind == 'b';
    *out = x;
    pr_status s = read_layout(r, body, at, x, usable);
    if (s == PR_OK) s = read_place(t, r, body, at, divisibility, x);
    if (s == PR_OK) s = read_contents(t, r, body, at, x);
    return s;
}

pr_status pr_tensor_reader_finish(pr_tensor_reader *t, pr_launch_reader *r)
{
    pr_i128 next = (t->highest + 511) / 256 * 256;
    for (int k = 0; k < t->storages.n; k++) {
        t->storages.data[k].base = next;
        next += (t->storages.data[k].bytes + 511) / 256 * 256;
    }
    if (t->storages.n && next > ADDRESS_END)
        return pr_launch_bad(r, pr_launch_reader_path(r),
                             "no address space is left for the named storages");
    for (int k = 0; k < t->named.n; k++) {
        pr_tensor *x = t->named.data[k].tensor;
        pr_i128 base = t->storages.data[t->named.data[k].storage].base;
        x->ptr += base;
        x->storage_lo += base;
        x->storage_hi += base;
    }
    return PR_OK;
}
