/* SPDX-License-Identifier: BSD-3-Clause */
/* Attributes of communicators. */
#include "group.h"

static int         copies, deletes, result, last_deleted;
static bool        pass;
static int         state, values[4];
static const int   FAILED = CTRAN_ERR_UNKNOWN;
static const void *deleted_of; /* extra_state as the delete function got it */

static int copy(ctran_comm_t comm, int keyval, void *extra, void *in, void *out, int *flag)
{
    int *value = in;
    int  size = -1;
    OK(ctran_comm_size(comm, &size));
    EXPECT(keyval != CTRAN_KEYVAL_INVALID);
    EXPECT_PTR(&state, extra);
    copies++;
    *flag = pass;
    *(void **)out = value + 1;
    return result;
}

static int delete (ctran_comm_t comm, int keyval, void *value, void *extra)
{
    int size = -1;
    OK(ctran_comm_size(comm, &size));
    EXPECT(keyval != CTRAN_KEYVAL_INVALID);
    deletes++;
    deleted_of = extra;
    last_deleted = (int)((int *)value - values);
    return result;
}

static void expect_attr(ctran_comm_t comm, int key, void *wanted)
{
    void *value = &state;
    int   flag = -1;
    OK(ctran_comm_get_attr(comm, key, &value, &flag));
    EXPECT_EQ(wanted != NULL, flag);
    EXPECT_PTR(wanted != NULL ? wanted : &state, value);
}

static void expect_calls(int wanted_copies, int wanted_deletes)
{
    EXPECT_EQ(wanted_copies, copies);
    EXPECT_EQ(wanted_deletes, deletes);
    copies = deletes = 0;
}

static ctran_comm_t start(int *key)
{
    ctran_comm_t comm;
    copies = deletes = 0;
    result = CTRAN_SUCCESS;
    pass = true;
    OK(ctran_comm_dup(CTRAN_COMM_WORLD, &comm));
    OK(ctran_comm_create_keyval(copy, delete, key, &state));
    return comm;
}

void attributes(void)
{
    int          key, kept;
    ctran_comm_t comm = start(&key), twin;
    expect_attr(comm, key, NULL);
    OK(ctran_comm_delete_attr(comm, key));
    OK(ctran_comm_set_attr(comm, key, &values[0]));
    expect_attr(comm, key, &values[0]);
    expect_attr(CTRAN_COMM_WORLD, key, NULL);
    expect_calls(0, 0);
    OK(ctran_comm_set_attr(comm, key, &values[1]));
    EXPECT_EQ(0, last_deleted);
    EXPECT_PTR(&state, deleted_of);
    expect_calls(0, 1);
    OK(ctran_comm_dup(comm, &twin));
    expect_attr(twin, key, &values[2]);
    expect_attr(comm, key, &values[1]);
    expect_calls(1, 0);
    /* The key goes, its values stay, with their functions. */
    kept = key;
    OK(ctran_comm_free_keyval(&key));
    EXPECT_EQ(CTRAN_KEYVAL_INVALID, key);
    OK(ctran_comm_delete_attr(comm, kept));
    expect_calls(0, 1);
    key = kept; /* there is one left: to free the key again has no effect */
    OK(ctran_comm_free_keyval(&key));
    EXPECT_EQ(CTRAN_KEYVAL_INVALID, key);
    OK(ctran_comm_free(&twin));
    EXPECT_EQ(2, last_deleted);
    expect_calls(0, 1);
    EXPECT_RC(CTRAN_ERR_KEYVAL, ctran_comm_set_attr(comm, kept, NULL));
    EXPECT_RC(CTRAN_ERR_KEYVAL, ctran_comm_free_keyval(&kept));
    OK(ctran_comm_free(&comm));
    expect_calls(0, 0);
}

/* Only dup copies, and only what it is told to; a free takes the last one first. */
void attributes_handed_on(void)
{
    int          key, same, never, *value;
    ctran_comm_t comm = start(&key), child;
    OK(ctran_comm_create_keyval(CTRAN_COMM_DUP_FN, CTRAN_COMM_NULL_DELETE_FN, &same, NULL));
    OK(ctran_comm_create_keyval(CTRAN_COMM_NULL_COPY_FN, delete, &never, &values));
    OK(ctran_comm_set_attr(comm, never, &values[3]));
    OK(ctran_comm_set_attr(comm, same, &values[1]));
    OK(ctran_comm_set_attr(comm, key, &values[0]));
    OK(ctran_comm_split(comm, 0, 0, &child));
    expect_attr(child, same, NULL);
    OK(ctran_comm_free(&child));
    pass = false;
    OK(ctran_comm_dup(comm, &child));
    expect_attr(child, same, &values[1]);
    expect_attr(child, never, NULL);
    expect_attr(child, key, NULL);
    expect_calls(1, 0);
    OK(ctran_comm_free(&child));
    expect_calls(0, 0);
    OK(ctran_comm_free(&comm));
    EXPECT_EQ(3, last_deleted);
    EXPECT_PTR(values, deleted_of);
    expect_calls(0, 2);
    OK(ctran_comm_free_keyval(&key));
    OK(ctran_comm_free_keyval(&same));
    OK(ctran_comm_free_keyval(&never));
    OK(ctran_comm_get_attr(CTRAN_COMM_WORLD, CTRAN_TAG_UB, &value, &key));
    EXPECT_EQ(1, key);
    EXPECT_EQ(CTRAN_TAG_MAX, *value);
    OK(ctran_comm_get_attr(CTRAN_COMM_SELF, CTRAN_WTIME_IS_GLOBAL, &value, &key));
    EXPECT_EQ(1, key);
    EXPECT_EQ(1, *value);
}

/* What a function returns is the call's error, and nothing has changed. */
void attributes_refused(void)
{
    int          key, flag, *value;
    ctran_comm_t comm = start(&key), child = CTRAN_COMM_NULL;
    OK(ctran_comm_set_attr(comm, key, &values[0]));
    result = FAILED;
    EXPECT_RC(FAILED, ctran_comm_set_attr(comm, key, &values[1]));
    EXPECT_RC(FAILED, ctran_comm_delete_attr(comm, key));
    EXPECT_RC(FAILED, ctran_comm_dup(comm, &child));
    EXPECT_PTR(CTRAN_COMM_NULL, child);
    child = comm;
    EXPECT_RC(FAILED, ctran_comm_free(&child));
    EXPECT_PTR(comm, child);
    expect_attr(comm, key, &values[0]);
    expect_calls(1, 3);
    result = CTRAN_SUCCESS;
    OK(ctran_comm_free(&comm));
    OK(ctran_comm_free_keyval(&key));
    const int bad[] = {CTRAN_KEYVAL_INVALID, -1, INT32_MAX};
    for (size_t i = 0; i < LEN(bad); i++) {
        key = bad[i];
        EXPECT_RC(CTRAN_ERR_KEYVAL, ctran_comm_get_attr(CTRAN_COMM_WORLD, key, &value, &flag));
        EXPECT_RC(CTRAN_ERR_KEYVAL, ctran_comm_free_keyval(&key));
    }
    OK(ctran_comm_create_keyval(CTRAN_COMM_NULL_COPY_FN, CTRAN_COMM_NULL_DELETE_FN, &key, NULL));
    int of_type, of_win;
    OK(ctran_type_create_keyval(CTRAN_TYPE_NULL_COPY_FN, CTRAN_TYPE_NULL_DELETE_FN, &of_type,
                                NULL));
    OK(ctran_win_create_keyval(CTRAN_WIN_NULL_COPY_FN, CTRAN_WIN_NULL_DELETE_FN, &of_win, NULL));
    int others[][2] = {{of_type, of_win}, {key, of_win}, {key, of_type}}; /* of other kinds */
    for (int i = 0; i < 2; i++) {
        EXPECT_RC(CTRAN_ERR_KEYVAL, ctran_comm_free_keyval(&others[0][i]));
        EXPECT_RC(CTRAN_ERR_KEYVAL, ctran_type_free_keyval(&others[1][i]));
        EXPECT_RC(CTRAN_ERR_KEYVAL, ctran_win_free_keyval(&others[2][i]));
    }
    OK(ctran_comm_free_keyval(&key));
    OK(ctran_type_free_keyval(&of_type));
    OK(ctran_win_free_keyval(&of_win));
    key = CTRAN_TAG_UB;
    EXPECT_RC(CTRAN_ERR_KEYVAL, ctran_comm_set_attr(CTRAN_COMM_WORLD, key, &values[0]));
    EXPECT_RC(CTRAN_ERR_KEYVAL, ctran_comm_delete_attr(CTRAN_COMM_WORLD, key));
    EXPECT_RC(CTRAN_ERR_KEYVAL, ctran_comm_free_keyval(&key));
}

static int at_end(ctran_comm_t comm, int keyval, void *value, void *extra)
{
    int flag = -1;
    OK(ctran_finalized(&flag));
    EXPECT_EQ(0, flag);
    EXPECT_PTR(CTRAN_COMM_SELF, comm);
    EXPECT(keyval != CTRAN_KEYVAL_INVALID);
    EXPECT_PTR(&state, extra);
    *(int *)value = ++state;
    return CTRAN_SUCCESS;
}

void attributes_at_end(void)
{
    int first, second;
    state = 0;
    OK(ctran_comm_create_keyval(CTRAN_COMM_NULL_COPY_FN, at_end, &first, &state));
    OK(ctran_comm_create_keyval(CTRAN_COMM_NULL_COPY_FN, at_end, &second, &state));
    OK(ctran_comm_set_attr(CTRAN_COMM_SELF, first, &values[0]));
    OK(ctran_comm_set_attr(CTRAN_COMM_SELF, second, &values[1]));
    OK(ctran_comm_free_keyval(&second));
}

int attributes_after_end(void)
{
    return state == 2 && values[0] == 2 && values[1] == 1 ? 0 : 1;
}
