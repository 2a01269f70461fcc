/* Names, meanings and kinds of findings (findings.def). */
#include "shm/bounded.h"

const char *pr_shm_finding_name(pr_shm_finding_id id)
{
    static const char *const names[] = {
#define FINDING(id, spelling, kind, meaning) spelling,
#include "shm/findings.def"
#undef FINDING
    };
    return names[id];
}
const char *pr_shm_finding_meaning(pr_shm_finding_id id)
{
    static const char *const texts[] = {
#define FINDING(id, spelling, kind, meaning) meaning,
#include "shm/findings.def"
#undef FINDING
    };
    return texts[id];
}
pr_shm_finding_kind pr_shm_finding_kind_of(pr_shm_finding_id id)
{
    static const pr_shm_finding_kind kinds[] = {
#define FINDING(id, spelling, kind, meaning) PR_SHM_##kind,
#include "shm/findings.def"
#undef FINDING
    };
    return kinds[id];
}
