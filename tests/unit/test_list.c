/* SPDX-License-Identifier: BSD-3-Clause */
/* Lists: random operations against arrays. */
#include "unit.h"

enum { NODES = 24, LISTS = 3, ROUNDS = 20000 };

struct item {
    uint32_t       value;
    struct ct_list node;
};

/* What the lists should hold. */
struct model {
    uint32_t at[LISTS][NODES], len[LISTS];
};

static void model_remove(struct model *m, uint32_t value)
{
    for (uint32_t l = 0; l < LISTS; l++) {
        for (uint32_t i = 0; i < m->len[l]; i++) {
            if (m->at[l][i] == value) {
                m->len[l]--;
                memmove(&m->at[l][i], &m->at[l][i + 1], (m->len[l] - i) * sizeof m->at[l][0]);
                return;
            }
        }
    }
}

static void compare(const struct ct_list *lists, const struct model *m)
{
    for (uint32_t l = 0; l < LISTS; l++) {
        uint32_t i = 0;
        assert_int_equal(ct_list_empty(&lists[l]), m->len[l] == 0);
        for (const struct ct_list *n = lists[l].next; n != &lists[l]; n = n->next, i++) {
            assert_true(i < m->len[l]);
            assert_int_equal(CT_LIST_ENTRY(n, struct item, node)->value, m->at[l][i]);
            assert_ptr_equal(n->next->prev, n);
        }
        assert_int_equal(i, m->len[l]);
    }
}

static void step(struct ct_list *lists, struct item *items, struct model *m, uint64_t *seed)
{
    uint32_t     l = unit_below(seed, LISTS), k = (l + 1) % LISTS;
    struct item *item = &items[unit_below(seed, NODES)];
    switch (unit_below(seed, 8)) {
    case 0: {
        struct ct_list *node = ct_list_pop(&lists[l]);
        assert_int_equal(node == NULL, m->len[l] == 0);
        if (node != NULL) {
            assert_int_equal(CT_LIST_ENTRY(node, struct item, node)->value, m->at[l][0]);
            assert_true(ct_list_empty(node));
            model_remove(m, m->at[l][0]);
        }
        break;
    }
    case 1:
        ct_list_splice(&lists[l], &lists[k]);
        memcpy(&m->at[l][m->len[l]], m->at[k], m->len[k] * sizeof m->at[k][0]);
        m->len[l] += m->len[k];
        m->len[k] = 0;
        break;
    case 2: /* unlinked or not: always harmless */
        ct_list_remove(&item->node);
        model_remove(m, item->value);
        break;
    default:
        ct_list_remove(&item->node);
        model_remove(m, item->value);
        ct_list_append(&lists[l], &item->node);
        m->at[l][m->len[l]++] = item->value;
    }
}

static void test_random(void **state)
{
    (void)state;
    struct ct_list lists[LISTS];
    struct item    items[NODES];
    struct model   m = {0};
    uint64_t       seed = 17;
    for (uint32_t l = 0; l < LISTS; l++) {
        ct_list_init(&lists[l]);
    }
    for (uint32_t i = 0; i < NODES; i++) {
        items[i].value = i;
        ct_list_init(&items[i].node);
    }
    for (unsigned r = 0; r < ROUNDS; r++) {
        step(lists, items, &m, &seed);
        compare(lists, &m);
    }
}

/* A walk that removes some of the nodes it passes sees each node once. */
static void test_remove_in_walk(void **state)
{
    (void)state;
    struct ct_list list;
    struct item    items[NODES];
    uint32_t       seen = 0, left = 0;
    ct_list_init(&list);
    for (uint32_t i = 0; i < NODES; i++) {
        items[i].value = i;
        ct_list_append(&list, &items[i].node);
    }
    CT_LIST_FOR (node, &list) {
        struct item *item = CT_LIST_ENTRY(node, struct item, node);
        assert_int_equal(item->value, seen++);
        if (item->value % 3 != 0) {
            ct_list_remove(node);
        }
    }
    assert_int_equal(seen, NODES);
    CT_LIST_FOR (node, &list) {
        assert_int_equal(CT_LIST_ENTRY(node, struct item, node)->value, 3 * left++);
    }
    assert_int_equal(left, NODES / 3);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_random),
        cmocka_unit_test(test_remove_in_walk),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
