/* What does a name mean here? Aliases of the file, values and block labels of a region.
 *
 * Names are interned; each keeps a stack of its visible definitions, and a scope pops what it
 * pushed. Looking up is therefore one hash probe however deep the regions are. A use without a
 * visible definition waits in p->pending; when its region ends it is resolved or handed to the
 * region around it, at most once per nesting level. */
#include "front/parse.h"

/* ---- tables ---------------------------------------------------------------------------------- */
static int *slots_new(pr_parser *p, int n)
{
    int *slots = PR_NEW_N(p->arena, int, n);
    for (int i = 0; i < n; i++) slots[i] = -1;
    return slots;
}

static unsigned slot_of(pr_str text, int n_slots)
{
    return (unsigned)pr_hash_bytes(text.s, text.n, 0) & (unsigned)(n_slots - 1);
}

static void names_grow(pr_parser *p)
{
    p->n_name_slots = p->n_name_slots ? p->n_name_slots * 2 : 256;
    p->name_slots = slots_new(p, p->n_name_slots);
    for (int i = 0; i < p->names.n; i++) {
        unsigned at = slot_of(p->names.data[i]->text, p->n_name_slots);
        while (p->name_slots[at] >= 0) at = (at + 1) & (unsigned)(p->n_name_slots - 1);
        p->name_slots[at] = i;
    }
}

pr_name *pr_name_intern(pr_parser *p, pr_str text)
{
    if (p->names.n * 2 >= p->n_name_slots) names_grow(p);
    unsigned at = slot_of(text, p->n_name_slots);
    for (; p->name_slots[at] >= 0; at = (at + 1) & (unsigned)(p->n_name_slots - 1)) {
        pr_name *n = p->names.data[p->name_slots[at]];
        if (pr_str_eq(n->text, text)) return n;
    }
    pr_name *n = PR_NEW(p->arena, pr_name);
    n->text = text;
    p->name_slots[at] = p->names.n;
    pr_vec_push(p->arena, &p->names, n);
    return n;
}

/* ---- aliases --------------------------------------------------------------------------------- */
void pr_parse_charge(pr_parser *p, size_t weight)
{
    p->charged += weight;
    if (p->charged > p->budget)
        pr_parse_fail(p, PR_ERR_LIMIT, p->tok.line, p->tok.col,
                      "aliases expand to more than %zu characters", p->budget);
}

void pr_parse_enter(pr_parser *p)
{
    if (++p->depth > p->limits.max_nesting)
        pr_parse_fail(p, PR_ERR_LIMIT, p->tok.line, p->tok.col,
                      "attributes and types nest deeper than %d", p->limits.max_nesting);
    if (p->depth > p->peak) p->peak = p->depth;
}

void pr_parse_leave(pr_parser *p) { p->depth--; }

/* Finds the definitions ahead of parsing, since uses may precede them: '#name =' and '!name ='
 * outside every bracket. Lexical mistakes are left to the parser. */
void pr_alias_collect(pr_parser *p, const char *text, size_t length)
{
    PR_VEC(pr_alias) found = { 0 };
    pr_lexer l;
    pr_lexer_init(&l, text, length);
    int nested = 0, outside = 0;    /* outside: brackets around the function                     */
    bool named = false;
    pr_token before = { 0 };
    for (;;) {
        pr_lexer here = l;
        pr_token t = pr_lexer_next(&l);
        if (t.kind == PR_TOK_EOF) {
            if (nested <= outside) p->cut_in = (pr_str){ 0 };
            p->end_line = t.line;
            p->end_col = t.col;
            break;
        }
        if (pr_str_is(t.text, "tt.func")) {
            outside = nested;
            named = true;
        } else if (named && t.kind == PR_TOK_SYMBOL) {
            p->cut_in = t.text;
            named = false;
        }
        if (t.kind == PR_TOK_LPAREN || t.kind == PR_TOK_LBRACE || t.kind == PR_TOK_LSQUARE)
            nested++;
        if (t.kind == PR_TOK_RPAREN || t.kind == PR_TOK_RBRACE || t.kind == PR_TOK_RSQUARE)
            nested -= nested > 0;
        if (t.kind == PR_TOK_EQUAL && nested == 0
            && (before.kind == PR_TOK_HASH || before.kind == PR_TOK_BANG)) {
            pr_alias a = { .name = before.text, .at = here };
            pr_vec_push(p->arena, &found, a);
        }
        before = t;
    }
    p->aliases = found.data;
    p->n_aliases = found.n;
    p->n_alias_slots = 16;
    while (p->n_alias_slots < found.n * 2) p->n_alias_slots *= 2;
    p->alias_slots = slots_new(p, p->n_alias_slots);
    for (int i = 0; i < found.n; i++) {
        unsigned at = slot_of(found.data[i].name, p->n_alias_slots);
        while (p->alias_slots[at] >= 0) {
            if (pr_str_eq(p->aliases[p->alias_slots[at]].name, found.data[i].name)) {
                pr_lexer l2 = found.data[i].at;
                pr_token eq = pr_lexer_next(&l2);
                pr_parse_fail(p, PR_ERR_INPUT, eq.line, eq.col,
                              "alias '" PR_STR_FMT "' defined twice",
                              PR_STR_ARG(found.data[i].name));
            }
            at = (at + 1) & (unsigned)(p->n_alias_slots - 1);
        }
        p->alias_slots[at] = i;
    }
}

pr_alias *pr_alias_find(const pr_parser *p, pr_str name)
{
    if (!p->n_aliases) return NULL;
    unsigned at = slot_of(name, p->n_alias_slots);
    for (; p->alias_slots[at] >= 0; at = (at + 1) & (unsigned)(p->n_alias_slots - 1)) {
        pr_alias *a = &p->aliases[p->alias_slots[at]];
        if (pr_str_eq(a->name, name)) return a;
    }
    return NULL;
}

static void alias_read(pr_parser *p, pr_alias *a)
{
    a->state = PR_ALIAS_OPEN;
    pr_lexer resume = pr_parse_here(p);
    int peak = p->peak, loc_peak = p->loc_peak;
    size_t expanded = p->expanded;
    p->expanded = 0;
    p->open_aliases++;
    p->peak = p->depth;
    p->loc_peak = p->loc_depth;
    pr_parse_enter(p);
    pr_parse_goto(p, a->at);
    pr_parse_expect(p, PR_TOK_EQUAL, "after alias name");
    const char *from = p->tok.text.s;
    if (a->name.s[0] == '!') a->type = pr_parse_type(p);
    else if (pr_parse_at_loc(p)) a->loc = pr_parse_loc(p);
    else a->attr = pr_parse_attr(p);
    a->weight = (size_t)(p->previous_end - from) + 16 + p->expanded;
    p->expanded = expanded;
    a->after = pr_parse_here(p);
    pr_parse_leave(p);
    a->height = p->peak - p->depth;
    a->loc_height = p->loc_peak - p->loc_depth;
    if (peak > p->peak) p->peak = peak;
    if (loc_peak > p->loc_peak) p->loc_peak = loc_peak;
    p->open_aliases--;
    a->state = PR_ALIAS_DONE;
    pr_parse_goto(p, resume);
}

void pr_alias_resolve(pr_parser *p, pr_alias *a, const pr_token *use)
{
    if (a->state == PR_ALIAS_OPEN)
        pr_parse_fail(p, PR_ERR_INPUT, use->line, use->col,
                      "alias '" PR_STR_FMT "' refers to itself", PR_STR_ARG(a->name));
    if (a->state == PR_ALIAS_NEW) alias_read(p, a);
    if (p->depth + a->height > p->limits.max_nesting
        || p->loc_depth + a->loc_height > p->limits.max_loc_nesting)
        pr_parse_fail(p, PR_ERR_LIMIT, use->line, use->col, "alias '" PR_STR_FMT "' nests too deep",
                      PR_STR_ARG(a->name));
    if (p->depth + a->height > p->peak) p->peak = p->depth + a->height;
    if (p->loc_depth + a->loc_height > p->loc_peak) p->loc_peak = p->loc_depth + a->loc_height;
    p->expanded += a->weight;
    pr_parse_charge(p, a->weight);
}

pr_str pr_alias_text(pr_parser *p, pr_alias *a)
{
    if (a->text.s) return a->text;
    pr_buf b;
    pr_buf_init(&b, p->arena);
    if (a->type) {
        pr_type_print(&b, a->type);
    } else if (a->attr) {
        pr_attr_print(&b, a->attr);
    } else {
        pr_buf_puts(&b, "loc(");
        pr_buf_add(&b, a->loc->raw.s, a->loc->raw.n);
        pr_buf_putc(&b, ')');
    }
    return a->text = (pr_str){ b.data, b.n };
}

/* ---- values ---------------------------------------------------------------------------------- */
void pr_scope_push(pr_parser *p, pr_scope *s, bool isolated)
{
    *s = (pr_scope){ .outer = p->scope, .first_pending = p->pending.n };
    s->depth = p->scope ? p->scope->depth + 1 : 0;
    s->floor = isolated || !p->scope ? s->depth : p->scope->floor;
    p->scope = s;
}

pr_binding *pr_scope_lookup(const pr_parser *p, const pr_name *n)
{
    return n->top && n->top->depth >= p->scope->floor ? n->top : NULL;
}

static pr_binding *bind(pr_parser *p, pr_name *n, int line, int col)
{
    pr_binding *b = PR_NEW(p->arena, pr_binding);
    b->below = n->top;
    b->next = p->scope->bindings;
    b->name = n;
    b->depth = p->scope->depth;
    b->line = line;
    b->col = col;
    n->top = b;
    p->scope->bindings = b;
    return b;
}

void pr_scope_define(pr_parser *p, pr_name *n, pr_value **values, int count, int line, int col)
{
    pr_binding *old = pr_scope_lookup(p, n);
    if (old)
        pr_parse_fail(p, PR_ERR_INPUT, line, col,
                      "value '" PR_STR_FMT "' defined twice, first at line %d", PR_STR_ARG(n->text),
                      old->line);
    pr_binding *b = bind(p, n, line, col);
    b->values = values;
    b->n = count;
}

pr_binding *pr_scope_block(pr_parser *p, pr_token label)
{
    pr_name *n = pr_name_intern(p, label.text);
    if (n->top && n->top->depth == p->scope->depth) return n->top;
    pr_binding *b = bind(p, n, label.line, label.col);
    b->block = PR_NEW(p->arena, pr_block);
    b->block->label = (pr_str){ label.text.s + 1, label.text.n - 1 };
    return b;
}

static void settle(pr_parser *p, const pr_pending *u, const pr_binding *b)
{
    if (u->result >= b->n)
        pr_parse_fail(p, PR_ERR_INPUT, u->line, u->col,
                      "'" PR_STR_FMT "' has %d values, result number %d does not exist",
                      PR_STR_ARG(u->name->text), b->n, u->result);
    pr_value *v = b->values[u->result];
    if (u->stated && !v->type) v->type = u->stated;
    if (u->stated && !pr_type_eq(u->stated, v->type)) {
        pr_buf has, said;
        pr_buf_init(&has, p->arena);
        pr_buf_init(&said, p->arena);
        pr_type_print(&has, v->type);
        pr_type_print(&said, u->stated);
        pr_parse_fail(p, PR_ERR_INPUT, u->line, u->col,
                      "'" PR_STR_FMT "' has type %.80s, used as %.80s", PR_STR_ARG(u->name->text),
                      has.data, said.data);
    }
    u->op->operands[u->operand] = v;
}

void pr_scope_use(pr_parser *p, pr_op *op, int i, const pr_use *u, const pr_type *stated)
{
    pr_pending pending = { op, i, u->result, u->name, stated, u->line, u->col };
    pr_binding *b = pr_scope_lookup(p, u->name);
    if (b) settle(p, &pending, b);
    else pr_vec_push(p->arena, &p->pending, pending);
}

void pr_scope_pop(pr_parser *p)
{
    pr_scope *s = p->scope;
    int kept = s->first_pending;
    for (int i = s->first_pending; i < p->pending.n; i++) {
        pr_pending *u = &p->pending.data[i];
        pr_binding *b = pr_scope_lookup(p, u->name);
        if (b) settle(p, u, b);
        else p->pending.data[kept++] = *u;
    }
    p->pending.n = kept;
    if (s->floor == s->depth && kept > s->first_pending) {
        pr_pending *u = &p->pending.data[s->first_pending];
        pr_parse_fail(p, PR_ERR_INPUT, u->line, u->col, "use of undefined value '" PR_STR_FMT "'",
                      PR_STR_ARG(u->name->text));
    }
    for (pr_binding *b = s->bindings; b; b = b->next) {
        if (b->block && !b->defined)
            pr_parse_fail(p, PR_ERR_INPUT, b->line, b->col, "block '" PR_STR_FMT "' is not defined",
                          PR_STR_ARG(b->name->text));
        b->name->top = b->below;
    }
    p->scope = s->outer;
}

pr_value *pr_value_new(pr_parser *p, const pr_type *type, pr_str name)
{
    pr_value *v = PR_NEW(p->arena, pr_value);
    v->type = type;
    v->name = name;
    v->id = p->n_values++;
    return v;
}
