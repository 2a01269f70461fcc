/* The programs of the grid that race, as cells. See pr_race_map in term/race_set.h.
 *
 * A cell stands for size[0] * size[1] * size[2] programs. Whether some of them race and whether all of them do are both
 * images of an exact set under "divide and round down", so a coarse map says nothing that is not so. */
#include "race_map.h"
#include <isl/constraint.h>
#include <isl/map.h>
#include <isl/point.h>
#include <isl/space.h>
#include <string.h>

typedef struct painter { pr_race_map *m; uint8_t bit; bool outside; } painter;

static isl_stat paint(__isl_take isl_point *p, void *user)
{
    painter *to = user;
    const pr_race_map *m = to->m;
    int64_t at = 0;
    for (int i = m->n_axes - 1; i >= 0 && !to->outside; i--) {
        isl_val *v = isl_point_get_coordinate_val(p, isl_dim_set, i);
        pr_i128 x = -1;
        if (!v || !pr_isl_i128(v, &x) || x < 0 || x >= m->cells[i]) to->outside = true;
        else at = at * m->cells[i] + (int64_t)x;
        isl_val_free(v);
    }
    isl_point_free(p);
    if (to->outside) return isl_stat_error;
    m->cell[at] |= to->bit;
    return isl_stat_ok;
}

/* { [x_0 .. x_n-1] -> [floor((x_i - from_i) / size_i)] } for cells that exist */
static __isl_give isl_map *cells_of(__isl_keep isl_set *like, const pr_race_map *m)
{
    isl_ctx *ctx = isl_set_get_ctx(like);
    isl_space *space = isl_space_map_from_set(isl_set_get_space(like));
    isl_map *map = isl_map_universe(isl_space_copy(space));
    for (int i = 0; i < m->n_axes; i++) {
        /* 0 <= x - from - size * c <= size - 1, 0 <= c < cells */
        int64_t rows[4][3] = { { 1, -m->size[i], -m->from[i] }, { -1, m->size[i], m->from[i] + m->size[i] - 1 },
                               { 0, 1, 0 }, { 0, -1, m->cells[i] - 1 } };
        for (int k = 0; k < 4; k++) {
            isl_constraint *c = isl_constraint_alloc_inequality(isl_local_space_from_space(isl_space_copy(space)));
            c = isl_constraint_set_coefficient_val(c, isl_dim_in, i, isl_val_int_from_si(ctx, rows[k][0]));
            c = isl_constraint_set_coefficient_val(c, isl_dim_out, i, isl_val_int_from_si(ctx, rows[k][1]));
            c = isl_constraint_set_constant_val(c, isl_val_int_from_si(ctx, rows[k][2]));
            map = isl_map_add_constraint(map, c);
        }
    }
    isl_space_free(space);
    return map;
}

static bool mark(pr_race_map *m, __isl_keep isl_map *cells, __isl_keep isl_set *programs, uint8_t bit)
{
    painter p = { m, bit, false };
    isl_set *at = isl_set_coalesce(isl_set_apply(isl_set_copy(programs), isl_map_copy(cells)));
    bool done = at && isl_set_foreach_point(at, paint, &p) == isl_stat_ok && !p.outside;
    isl_set_free(at);
    return done;
}

static __isl_give isl_set *grid_of(__isl_keep isl_set *like, const pr_race_map *m)
{
    isl_set *s = isl_set_universe(isl_set_get_space(like));
    for (int i = 0; i < m->n_axes; i++) {
        s = isl_set_lower_bound_si(s, isl_dim_set, (unsigned)i, 0);
        s = isl_set_upper_bound_val(s, isl_dim_set, (unsigned)i, isl_val_int_from_si(isl_set_get_ctx(like), m->extent[i] - 1));
    }
    return s;
}

/* dimensions [first, first + n) of the pairs */
static __isl_give isl_set *end_of(__isl_take isl_set *pairs, int first, int n, int copies)
{
    if (copies == 1) return pairs;
    pairs = isl_set_project_out(pairs, isl_dim_set, first ? 0 : (unsigned)n, (unsigned)n);
    return isl_set_reset_tuple_id(pairs);
}

static __isl_give isl_set *fixed_at(__isl_take isl_set *pairs, int first, const pr_race_map *m)
{
    isl_ctx *ctx = isl_set_get_ctx(pairs);
    for (int i = 0; i < m->n_axes; i++)
        pairs = isl_set_fix_val(pairs, isl_dim_set, (unsigned)(first + i), isl_val_int_from_si(ctx, m->witness[i]));
    return pairs;
}

enum { MAX_CASES = 16 };

void pr_isl_race_map(isl_ctx *ctx, __isl_keep isl_set *pairs, bool intra, int64_t max_ops, pr_arena *arena, pr_race_map *m)
{
    int n = m->n_axes, copies = intra ? 1 : 2;
    int64_t total = 1;
    for (int i = 0; i < n; i++) total *= m->cells[i];
    m->cell = NULL;
    m->why = !n ? "all programs are one" : pairs && isl_set_n_basic_set(pairs) > MAX_CASES ? "the relation falls into too many cases" : NULL;
    if (m->why || !pairs) return;
    m->cell = PR_NEW_N(arena, uint8_t, total);
    pr_isl_quota(ctx, max_ops);
    isl_set *all = isl_set_project_out(isl_set_copy(pairs), isl_dim_param, 0, (unsigned)isl_set_dim(pairs, isl_dim_param));
    isl_set *programs = end_of(isl_set_copy(all), 0, n, copies);
    if (!intra) programs = isl_set_union(programs, end_of(isl_set_copy(all), n, n, copies));
    programs = isl_set_coalesce(isl_set_compute_divs(programs));
    isl_set *grid = grid_of(programs, m);
    isl_set *others = isl_set_coalesce(isl_set_subtract(isl_set_copy(grid), isl_set_copy(programs)));
    isl_map *cells = cells_of(programs, m);
    bool fine = mark(m, cells, programs, PR_CELL_SOME) && mark(m, cells, others, PR_CELL_NOT_ALL);
    if (fine && !intra) {
        isl_set *with = end_of(fixed_at(isl_set_copy(all), 0, m), n, n, copies);
        with = isl_set_union(with, end_of(fixed_at(isl_set_copy(all), n, m), 0, n, copies));
        fine = mark(m, cells, with, PR_CELL_PARTNER);
        isl_set_free(with);
    }
    if (!fine || pr_isl_error(ctx) != PR_REFUSAL_NONE) {
        m->why = pr_isl_error(ctx) == PR_REFUSAL_BUDGET ? "the isl operation limit is used up" : "isl cannot list the programs";
        m->cell = NULL;
    }
    isl_set_free(all);
    isl_set_free(programs);
    isl_set_free(grid);
    isl_set_free(others);
    isl_map_free(cells);
}
