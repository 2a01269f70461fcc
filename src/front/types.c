/* What do two types or attributes have in common, and how are they written? */
#include "front/types.h"
#include <string.h>

static bool list_eq(const pr_type **a, int n, const pr_type **b, int m)
{
    if (n != m) return false;
    for (int i = 0; i < n; i++)
        if (!pr_type_eq(a[i], b[i])) return false;
    return true;
}

bool pr_type_same_shape(const pr_type *a, const pr_type *b)
{
    if (!a || !b) return a == b;
    bool ta = a->kind == PR_TYPE_TENSOR, tb = b->kind == PR_TYPE_TENSOR;
    if (ta != tb) return false;
    if (!ta) return true;
    return a->rank == b->rank
           && (a->rank == 0
               || memcmp(a->shape, b->shape, sizeof a->shape[0] * (size_t)a->rank) == 0);
}

bool pr_type_eq(const pr_type *a, const pr_type *b)
{
    if (a == b) return true;
    if (!a || !b || a->kind != b->kind) return false;
    switch (a->kind) {
    case PR_TYPE_INT: return a->bits == b->bits && a->sign == b->sign;
    case PR_TYPE_INDEX:
    case PR_TYPE_NONE: return true;
    case PR_TYPE_POINTER: return a->addr_space == b->addr_space && pr_type_eq(a->elem, b->elem);
    case PR_TYPE_TENSOR:
        return pr_type_same_shape(a, b) && pr_str_eq(a->encoding, b->encoding)
               && pr_type_eq(a->elem, b->elem);
    case PR_TYPE_DESC: return pr_str_eq(a->encoding, b->encoding) && pr_type_eq(a->elem, b->elem);
    case PR_TYPE_FUNCTION:
        return list_eq(a->inputs, a->n_inputs, b->inputs, b->n_inputs)
               && list_eq(a->results, a->n_results, b->results, b->n_results);
    case PR_TYPE_FLOAT:
    case PR_TYPE_MEMDESC:
    case PR_TYPE_OPAQUE: return pr_str_eq(a->text, b->text);
    }
    return false;
}

const pr_type *pr_type_scalar(const pr_type *t)
{
    return t && t->kind == PR_TYPE_TENSOR ? t->elem : t;
}

int64_t pr_type_count(const pr_type *t)
{
    int64_t n = 1;
    if (t && t->kind == PR_TYPE_TENSOR)
        for (int i = 0; i < t->rank; i++) n *= t->shape[i];
    return n;
}

int pr_type_bytes(const pr_type *t)
{
    t = pr_type_scalar(t);
    if (!t) return 0;
    switch (t->kind) {
    case PR_TYPE_INT:
    case PR_TYPE_FLOAT:
    case PR_TYPE_INDEX: return t->bits <= 8 ? 1 : (t->bits + 7) / 8;
    case PR_TYPE_POINTER: return 8;
    default: return 0;
    }
}

static void print_list(pr_buf *b, const pr_type **types, int n)
{
    pr_buf_putc(b, '(');
    for (int i = 0; i < n; i++) {
        if (i) pr_buf_puts(b, ", ");
        pr_type_print(b, types[i]);
    }
    pr_buf_putc(b, ')');
}

static void print_dims(pr_buf *b, const pr_type *t)
{
    for (int i = 0; i < t->rank; i++) pr_buf_printf(b, "%lldx", (long long)t->shape[i]);
    pr_type_print(b, t->elem);
}

void pr_type_print(pr_buf *b, const pr_type *t)
{
    if (!t) {
        pr_buf_puts(b, "!polyrace.unknown");
        return;
    }
    switch (t->kind) {
    case PR_TYPE_INT:
        pr_buf_printf(b, "%s%d", t->sign == 1 ? "si" : t->sign == 2 ? "ui" : "i", t->bits);
        break;
    case PR_TYPE_INDEX: pr_buf_puts(b, "index"); break;
    case PR_TYPE_NONE: pr_buf_puts(b, "none"); break;
    case PR_TYPE_POINTER:
        pr_buf_puts(b, "!tt.ptr<");
        pr_type_print(b, t->elem);
        if (t->addr_space != 1) pr_buf_printf(b, ", %d", t->addr_space);
        pr_buf_putc(b, '>');
        break;
    case PR_TYPE_TENSOR:
        pr_buf_puts(b, "tensor<");
        print_dims(b, t);
        if (t->encoding.n) {
            pr_buf_puts(b, ", ");
            pr_buf_add(b, t->encoding.s, t->encoding.n);
        }
        pr_buf_putc(b, '>');
        break;
    case PR_TYPE_DESC:
        pr_buf_puts(b, "!tt.tensordesc<");
        print_dims(b, t->elem);
        if (t->encoding.n) {
            pr_buf_puts(b, ", ");
            pr_buf_add(b, t->encoding.s, t->encoding.n);
        }
        pr_buf_putc(b, '>');
        break;
    case PR_TYPE_FUNCTION:
        print_list(b, t->inputs, t->n_inputs);
        pr_buf_puts(b, " -> ");
        if (t->n_results == 1 && t->results[0] && t->results[0]->kind != PR_TYPE_FUNCTION)
            pr_type_print(b, t->results[0]);
        else print_list(b, t->results, t->n_results);
        break;
    case PR_TYPE_FLOAT:
    case PR_TYPE_MEMDESC:
    case PR_TYPE_OPAQUE: pr_buf_add(b, t->text.s, t->text.n); break;
    }
}

/* ---- attributes ------------------------------------------------------------------------------ */
static bool is_bare_id(pr_str s)
{
    for (size_t i = 0; i < s.n; i++) {
        char c = s.s[i];
        bool letter = (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_';
        if (!letter && !(i && ((c >= '0' && c <= '9') || c == '$' || c == '.'))) return false;
    }
    return s.n > 0;
}

void pr_attr_print_key(pr_buf *b, pr_str key)
{
    if (is_bare_id(key)) pr_buf_add(b, key.s, key.n);
    else pr_buf_quote(b, key, false);
}

void pr_symbol_print(pr_buf *b, pr_str symbol)
{
    pr_buf_putc(b, '@');
    pr_attr_print_key(b, symbol);
}

/* Nested references are joined by "::" in the text; each part gets its own '@'. */
static void print_symbol_path(pr_buf *b, pr_str s)
{
    size_t from = 0;
    for (size_t i = 0; i + 1 < s.n; i++) {
        if (s.s[i] != ':' || s.s[i + 1] != ':') continue;
        pr_symbol_print(b, (pr_str){ s.s + from, i - from });
        pr_buf_puts(b, "::");
        from = i + 2;
        i++;
    }
    pr_symbol_print(b, (pr_str){ s.s + from, s.n - from });
}

static void print_typed(pr_buf *b, const pr_type *t)
{
    if (!t) return;
    pr_buf_puts(b, " : ");
    pr_type_print(b, t);
}

void pr_attr_print(pr_buf *b, const pr_attr *a)
{
    switch (a->kind) {
    case PR_ATTR_UNIT: pr_buf_puts(b, "unit"); break;
    case PR_ATTR_BOOL: pr_buf_puts(b, a->boolean ? "true" : "false"); break;
    case PR_ATTR_INT:
        if (a->too_wide) pr_buf_add(b, a->text.s, a->text.n);
        else pr_buf_i128(b, a->integer);
        print_typed(b, a->type);
        break;
    case PR_ATTR_FLOAT:
        pr_buf_add(b, a->text.s, a->text.n);
        print_typed(b, a->type);
        break;
    case PR_ATTR_STRING:
        pr_buf_quote(b, a->text, false);
        print_typed(b, a->type);
        break;
    case PR_ATTR_TYPE: pr_type_print(b, a->type); break;
    case PR_ATTR_ARRAY:
        pr_buf_putc(b, '[');
        for (int i = 0; i < a->n_items; i++) {
            if (i) pr_buf_puts(b, ", ");
            pr_attr_print(b, a->items[i]);
        }
        pr_buf_putc(b, ']');
        break;
    case PR_ATTR_DENSE_ARRAY:
        pr_buf_puts(b, "array<");
        pr_type_print(b, a->type);
        for (int i = 0; i < a->n_ints; i++) {
            pr_buf_puts(b, i ? ", " : ": ");
            if (a->type->bits == 1) pr_buf_puts(b, a->ints[i] ? "true" : "false");
            else pr_buf_i128(b, a->ints[i]);
        }
        pr_buf_putc(b, '>');
        break;
    case PR_ATTR_DICT:
        pr_buf_putc(b, '{');
        for (int i = 0; i < a->n_entries; i++) {
            if (i) pr_buf_puts(b, ", ");
            pr_attr_print_key(b, a->entries[i].name);
            if (a->entries[i].value->kind == PR_ATTR_UNIT) continue;
            pr_buf_puts(b, " = ");
            pr_attr_print(b, a->entries[i].value);
        }
        pr_buf_putc(b, '}');
        break;
    case PR_ATTR_SYMBOL: print_symbol_path(b, a->text); break;
    case PR_ATTR_DENSE:
        pr_buf_puts(b, "dense<");
        pr_buf_add(b, a->text.s, a->text.n);
        pr_buf_putc(b, '>');
        print_typed(b, a->type);
        break;
    case PR_ATTR_RAW: pr_buf_add(b, a->text.s, a->text.n); break;
    }
}

static bool ints_eq(const pr_attr *a, const pr_attr *b)
{
    return a->n_ints == b->n_ints
           && (a->n_ints == 0
               || memcmp(a->ints, b->ints, sizeof a->ints[0] * (size_t)a->n_ints) == 0);
}

bool pr_attr_eq(const pr_attr *a, const pr_attr *b)
{
    if (a == b) return true;
    if (!a || !b || a->kind != b->kind || !pr_type_eq(a->type, b->type)) return false;
    switch (a->kind) {
    case PR_ATTR_UNIT:
    case PR_ATTR_TYPE: return true;
    case PR_ATTR_BOOL: return a->boolean == b->boolean;
    case PR_ATTR_INT:
        if (a->too_wide != b->too_wide) return false;
        return a->too_wide ? pr_str_eq(a->text, b->text) : a->integer == b->integer;
    case PR_ATTR_FLOAT:
    case PR_ATTR_STRING:
    case PR_ATTR_SYMBOL:
    case PR_ATTR_RAW: return pr_str_eq(a->text, b->text);
    case PR_ATTR_ARRAY:
        if (a->n_items != b->n_items) return false;
        for (int i = 0; i < a->n_items; i++)
            if (!pr_attr_eq(a->items[i], b->items[i])) return false;
        return true;
    case PR_ATTR_DENSE_ARRAY: return ints_eq(a, b);
    case PR_ATTR_DICT:
        if (a->n_entries != b->n_entries) return false;
        for (int i = 0; i < a->n_entries; i++)
            if (!pr_str_eq(a->entries[i].name, b->entries[i].name)
                || !pr_attr_eq(a->entries[i].value, b->entries[i].value)) return false;
        return true;
    case PR_ATTR_DENSE:
        return pr_str_eq(a->text, b->text) && a->dense_known == b->dense_known && ints_eq(a, b);
    }
    return false;
}
