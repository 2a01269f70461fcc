/* Leaves as isl basic sets, through constraint matrices (no isl expression is built).
 *
 * All columns are set dimensions: parameters as isl parameters would make isl solve for all their
 * values. Column 0 of a matrix is the constant. */
#include "lower.h"
#include <isl/space.h>

__isl_give isl_basic_set *pr_isl_leaf(isl_ctx *ctx, const pr_leaf *leaf)
{
    int n_eq = 0, n_ge = 0;
    for (int i = 0; i < leaf->n_rows; i++) {
        if (leaf->rows[i].equality) n_eq++;
        else n_ge++;
    }
    for (int j = 0; j < leaf->n_cols; j++) n_ge += (leaf->lo[j] > -PR_INF) + (leaf->hi[j] < PR_INF);

    int width = leaf->n_cols + 1;
    isl_mat *eq = isl_mat_alloc(ctx, n_eq, width), *ge = isl_mat_alloc(ctx, n_ge, width);
    int at[2] = { 0, 0 };
    for (int i = 0; i < leaf->n_rows; i++) {
        const pr_row *r = &leaf->rows[i];
        isl_mat **m = r->equality ? &eq : &ge;
        int row = at[r->equality]++;
        *m = pr_isl_mat_set(*m, row, 0, r->k);
        for (int j = 0; j < leaf->n_cols; j++) *m = pr_isl_mat_set(*m, row, j + 1, r->c[j]);
    }
    for (int j = 0; j < leaf->n_cols; j++) {
        for (int side = 0; side < 2; side++) {
            pr_i128 bound = side ? leaf->hi[j] : leaf->lo[j];
            if (bound <= -PR_INF || bound >= PR_INF) continue;
            int row = at[0]++;
            ge = pr_isl_mat_set(ge, row, 0, side ? bound : -bound);
            for (int i = 0; i < leaf->n_cols; i++) ge = pr_isl_mat_set(ge, row, i + 1, 0);
            ge = pr_isl_mat_set(ge, row, j + 1, side ? -1 : 1);
        }
    }
    isl_space *space = isl_space_set_alloc(ctx, 0, (unsigned)leaf->n_cols);
    return isl_basic_set_from_constraint_matrices(space, eq, ge, isl_dim_cst, isl_dim_param,
                                                  isl_dim_set, isl_dim_div);
}
