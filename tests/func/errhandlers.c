/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * errhandlers - error handlers as objects, with functions that note what they are called with, call
 * back into the library, and free what they are called about; codes of the program's own.
 */
#include <stdarg.h>

#include "check.h"

/* What the last call of a handler was about. */
static struct {
    int          calls, code;
    ctran_comm_t comm;
    char         text[512];
} last;

static void note(ctran_comm_t *comm, int *error_code, ...)
{
    va_list more;
    va_start(more, error_code);
    last.calls++;
    last.code = *error_code;
    last.comm = *comm;
    snprintf(last.text, sizeof last.text, "%s", va_arg(more, const char *));
    va_end(more);
}

static void expect_noted(int calls, int code, ctran_comm_t comm, const char *text)
{
    EXPECT_EQ(calls, last.calls);
    EXPECT_EQ(code, last.code);
    EXPECT_PTR(comm, last.comm);
    if (strstr(last.text, text) == NULL) {
        check_fail(__FILE__, __LINE__, "text: wanted one with '%s', found '%s'", text, last.text);
    }
    last.calls = 0;
}

static ctran_errhandler_t handler_of(ctran_comm_t comm)
{
    ctran_errhandler_t handler = CTRAN_ERRHANDLER_NULL;
    OK(ctran_comm_get_errhandler(comm, &handler));
    return handler;
}

/* A duplicate of the world, or of self, with a handler that is gone but for this use. */
static ctran_comm_t handled(ctran_comm_t of, ctran_comm_errhandler_function *fn)
{
    ctran_errhandler_t handler = CTRAN_ERRHANDLER_NULL;
    ctran_comm_t       comm;
    OK(ctran_comm_dup(of, &comm));
    OK(ctran_comm_create_errhandler(fn, &handler));
    OK(ctran_comm_set_errhandler(comm, handler));
    OK(ctran_errhandler_free(&handler));
    EXPECT_PTR(CTRAN_ERRHANDLER_NULL, handler);
    return comm;
}

static void called(void)
{
    ctran_comm_t    comm = handled(CTRAN_COMM_WORLD, note);
    ctran_request_t request;
    char            big[4] = "abc", small[2];
    EXPECT_RC(CTRAN_ERR_RANK, ctran_send(NULL, 0, CTRAN_BYTE, check_size, 0, comm));
    expect_noted(1, CTRAN_ERR_RANK, comm, "ctran_send: invalid rank: rank is ");
    EXPECT_RC(CTRAN_ERR_ROOT, ctran_bcast(NULL, 0, CTRAN_BYTE, -1, comm));
    expect_noted(1, CTRAN_ERR_ROOT, comm, "ctran_bcast: invalid root");
    /* From where the operation ends, not where it began. */
    OK(ctran_irecv(small, 1, CTRAN_CHAR, check_rank, 3, comm, &request));
    OK(ctran_send(big, 3, CTRAN_CHAR, check_rank, 3, comm));
    EXPECT_RC(CTRAN_ERR_TRUNCATE, ctran_wait(&request, CTRAN_STATUS_IGNORE));
    expect_noted(1, CTRAN_ERR_TRUNCATE, comm, "ctran_wait: message is longer");
    OK(ctran_comm_call_errhandler(comm, CTRAN_ERR_OP));
    expect_noted(1, CTRAN_ERR_OP, comm, "ctran_comm_call_errhandler");
    OK(ctran_barrier(comm));
    EXPECT_EQ(0, last.calls);
    OK(ctran_comm_free(&comm));
}

/* Of several failed requests the handler hears once. */
static void called_once(void)
{
    ctran_comm_t    comm = handled(CTRAN_COMM_SELF, note);
    ctran_request_t requests[3];
    ctran_status_t  statuses[3];
    char            small[3][2];
    for (int i = 0; i < 3; i++) {
        OK(ctran_irecv(small[i], 1, CTRAN_CHAR, 0, i, comm, &requests[i]));
        OK(ctran_send("abc", i == 1 ? 1 : 3, CTRAN_CHAR, 0, i, comm));
    }
    EXPECT_RC(CTRAN_ERR_IN_STATUS, ctran_waitall(3, requests, statuses));
    expect_noted(1, CTRAN_ERR_IN_STATUS, comm, "ctran_waitall");
    EXPECT_EQ(CTRAN_ERR_TRUNCATE, statuses[0].CTRAN_ERROR);
    EXPECT_EQ(CTRAN_SUCCESS, statuses[1].CTRAN_ERROR);
    EXPECT_EQ(CTRAN_ERR_TRUNCATE, statuses[2].CTRAN_ERROR);
    OK(ctran_comm_free(&comm));
}

/* An error without a communicator is self's; the other way to get there is a bad one. */
static void without_object(void)
{
    ctran_errhandler_t handler, old = handler_of(CTRAN_COMM_SELF);
    int                n;
    OK(ctran_comm_create_errhandler(note, &handler));
    OK(ctran_comm_set_errhandler(CTRAN_COMM_SELF, handler));
    EXPECT_RC(CTRAN_ERR_COMM, ctran_comm_rank(CTRAN_COMM_NULL, &n));
    expect_noted(1, CTRAN_ERR_COMM, CTRAN_COMM_SELF, "CTRAN_COMM_NULL");
    EXPECT_RC(CTRAN_ERR_ARG, ctran_get_count(CTRAN_STATUS_IGNORE, CTRAN_INT, NULL));
    expect_noted(1, CTRAN_ERR_ARG, CTRAN_COMM_SELF, "ctran_get_count");
    EXPECT_RC(CTRAN_ERR_ARG, ctran_error_class(-5, &n)); /* any thread's: nobody is asked */
    EXPECT_EQ(0, last.calls);
    OK(ctran_comm_set_errhandler(CTRAN_COMM_SELF, old));
    OK(ctran_errhandler_free(&handler));
}

/* ---- functions that do things ---------------------------------------------------------------- */

static int changed_to;

static void change(ctran_comm_t *comm, int *error_code, ...)
{
    (void)comm;
    *error_code = changed_to;
}

static void changes_the_code(void)
{
    ctran_comm_t comm = handled(CTRAN_COMM_SELF, change);
    int          own;
    OK(ctran_add_error_class(&own));
    changed_to = own;
    EXPECT_RC(own, ctran_send(NULL, 0, CTRAN_BYTE, 99, 0, comm));
    changed_to = CTRAN_SUCCESS; /* the call has not done what it should */
    EXPECT_RC(CTRAN_ERR_RANK, ctran_send(NULL, 0, CTRAN_BYTE, 99, 0, comm));
    OK(ctran_comm_free(&comm));
    OK(ctran_remove_error_class(own));
}

static ctran_errhandler_t mine;
static ctran_request_t    pending;
static int                in;

/* Talks on the communicator, makes and frees others, completes a request of its own. */
static void busy(ctran_comm_t *comm, int *error_code, ...)
{
    ctran_comm_t copy;
    int          sum = -1, flag = -1;
    EXPECT_EQ(CTRAN_ERR_TAG, *error_code);
    OK(ctran_comm_dup(*comm, &copy));
    OK(ctran_allreduce(&check_rank, &sum, 1, CTRAN_INT, CTRAN_SUM, copy));
    EXPECT_EQ(check_size * (check_size - 1) / 2, sum);
    OK(ctran_send(&check_rank, 1, CTRAN_INT, check_rank, 8, *comm));
    OK(ctran_wait(&pending, CTRAN_STATUS_IGNORE));
    EXPECT_EQ(check_rank, in);
    OK(ctran_comm_free(&copy));
    OK(ctran_iprobe(0, 77, *comm, &flag, CTRAN_STATUS_IGNORE));
    last.calls++;
}

static void calls_back(void)
{
    ctran_comm_t comm = handled(CTRAN_COMM_WORLD, busy);
    last.calls = 0;
    in = -1;
    OK(ctran_irecv(&in, 1, CTRAN_INT, check_rank, 8, comm, &pending));
    EXPECT_RC(CTRAN_ERR_TAG, ctran_send(NULL, 0, CTRAN_BYTE, check_rank, -1, comm));
    EXPECT_EQ(1, last.calls);
    last.calls = 0;
    OK(ctran_comm_free(&comm));
}

/* Frees its communicator and its handler, and fails itself once more. */
static void suicidal(ctran_comm_t *comm, int *error_code, ...)
{
    (void)error_code;
    if (last.calls++ == 0) {
        EXPECT_RC(CTRAN_ERR_RANK, ctran_send(NULL, 0, CTRAN_BYTE, 98, 0, *comm));
        OK(ctran_comm_set_errhandler(*comm, CTRAN_ERRORS_RETURN));
        OK(ctran_errhandler_free(&mine));
        OK(ctran_comm_free(comm));
        EXPECT_PTR(CTRAN_COMM_NULL, *comm);
    }
}

static void freed_while_in_use(void)
{
    ctran_comm_t comm, later;
    OK(ctran_comm_dup(CTRAN_COMM_SELF, &comm));
    OK(ctran_comm_create_errhandler(suicidal, &mine));
    OK(ctran_comm_set_errhandler(comm, mine));
    last.calls = 0;
    EXPECT_RC(CTRAN_ERR_RANK, ctran_send(NULL, 0, CTRAN_BYTE, 99, 0, comm));
    EXPECT_EQ(2, last.calls);
    EXPECT_PTR(CTRAN_ERRHANDLER_NULL, mine);
    /* The communicator's last operation outlives its handle, and so does its handler. */
    ctran_request_t request;
    char            small;
    comm = handled(CTRAN_COMM_SELF, note);
    last.calls = 0;
    OK(ctran_irecv(&small, 1, CTRAN_CHAR, 0, 0, comm, &request));
    OK(ctran_send("abc", 3, CTRAN_CHAR, 0, 0, comm));
    OK(ctran_comm_free(&comm));
    OK(ctran_comm_dup(CTRAN_COMM_SELF, &later));
    EXPECT_RC(CTRAN_ERR_TRUNCATE, ctran_wait(&request, CTRAN_STATUS_IGNORE));
    expect_noted(1, CTRAN_ERR_TRUNCATE, CTRAN_COMM_NULL, "ctran_wait");
    OK(ctran_comm_free(&later));
}

/* ---- objects --------------------------------------------------------------------------------- */

/* Each handle that get gives is one more, and is given back by itself. */
static void handles(void)
{
    ctran_errhandler_t first, second, third, stale;
    ctran_comm_t       comm, child;
    OK(ctran_comm_create_errhandler(note, &first));
    OK(ctran_comm_dup(CTRAN_COMM_WORLD, &comm));
    OK(ctran_comm_set_errhandler(comm, first));
    second = handler_of(comm);
    EXPECT_PTR(first, second);
    OK(ctran_comm_dup(comm, &child));
    third = handler_of(child);
    EXPECT_PTR(first, third);
    stale = first;
    OK(ctran_errhandler_free(&first));
    OK(ctran_comm_set_errhandler(comm, second)); /* its own, again */
    OK(ctran_errhandler_free(&second));
    OK(ctran_comm_set_errhandler(comm, CTRAN_ERRORS_RETURN));
    EXPECT_PTR(CTRAN_ERRORS_RETURN, handler_of(comm));
    OK(ctran_errhandler_free(&third));
    EXPECT_RC(CTRAN_ERR_ERRHANDLER, ctran_comm_set_errhandler(comm, stale));
    last.calls = 0;
    EXPECT_RC(CTRAN_ERR_RANK, ctran_send(NULL, 0, CTRAN_BYTE, -9, 0, child)); /* still there */
    expect_noted(1, CTRAN_ERR_RANK, child, "ctran_send");
    OK(ctran_comm_free(&comm));
    OK(ctran_comm_free(&child));
    /* A constant's handle can be given back any number of times. */
    for (int i = 0; i < 3; i++) {
        first = handler_of(CTRAN_COMM_WORLD);
        OK(ctran_errhandler_free(&first));
        EXPECT_PTR(CTRAN_ERRHANDLER_NULL, first);
    }
}

static void refused(void)
{
    ctran_errhandler_t freed, kept, handler = CTRAN_ERRHANDLER_NULL;
    OK(ctran_comm_create_errhandler(note, &freed));
    kept = freed;
    OK(ctran_errhandler_free(&freed));
    ctran_errhandler_t bad[] = {CTRAN_ERRHANDLER_NULL, NULL, kept, (ctran_errhandler_t)CTRAN_INT,
                                (ctran_errhandler_t)0x144};
    ctran_comm_t       comm;
    OK(ctran_comm_dup(CTRAN_COMM_SELF, &comm));
    OK(ctran_comm_set_errhandler(comm, CTRAN_ERRORS_RETURN));
    for (size_t i = 0; i < LEN(bad); i++) {
        ctran_errhandler_t copy = bad[i];
        EXPECT_RC(CTRAN_ERR_ERRHANDLER, ctran_errhandler_free(&copy));
        EXPECT_PTR(bad[i], copy);
        EXPECT_RC(CTRAN_ERR_ERRHANDLER, ctran_comm_set_errhandler(comm, bad[i]));
        EXPECT_PTR(CTRAN_ERRORS_RETURN, handler_of(comm));
    }
    EXPECT_RC(CTRAN_ERR_ARG, ctran_comm_create_errhandler(NULL, &handler));
    EXPECT_RC(CTRAN_ERR_ARG, ctran_comm_create_errhandler(note, NULL));
    EXPECT_PTR(CTRAN_ERRHANDLER_NULL, handler);
    EXPECT_RC(CTRAN_ERR_COMM, ctran_comm_set_errhandler(CTRAN_COMM_NULL, CTRAN_ERRORS_RETURN));
    OK(ctran_comm_free(&comm));
}

/* ---- codes ----------------------------------------------------------------------------------- */

static void expect_text(int code, const char *wanted)
{
    char text[CTRAN_MAX_ERROR_STRING];
    int  len = -1;
    OK(ctran_error_string(code, text, &len));
    EXPECT_EQ(strlen(wanted), len);
    EXPECT_EQ(0, strcmp(wanted, text));
}

static void codes_of_the_program(void)
{
    char longest[2 * CTRAN_MAX_ERROR_STRING];
    int  own, code, found = -1, flag = -1, *lastused;
    OK(ctran_add_error_class(&own));
    OK(ctran_add_error_code(own, &code));
    EXPECT(own > CTRAN_ERR_LASTCODE && code > own);
    OK(ctran_comm_get_attr(CTRAN_COMM_SELF, CTRAN_LASTUSEDCODE, &lastused, &flag));
    EXPECT_EQ(1, flag);
    EXPECT_EQ(code, *lastused);
    OK(ctran_error_class(code, &found));
    EXPECT_EQ(own, found);
    expect_text(code, "");
    OK(ctran_add_error_string(code, "the tea is cold"));
    OK(ctran_add_error_string(own, "kitchen"));
    expect_text(code, "the tea is cold");
    expect_text(own, "kitchen");
    memset(longest, 'x', sizeof longest - 1);
    longest[sizeof longest - 1] = '\0';
    OK(ctran_add_error_string(code, longest));
    longest[CTRAN_MAX_ERROR_STRING - 1] = '\0';
    expect_text(code, longest);
    OK(ctran_remove_error_string(code));
    expect_text(code, "");
    /* A handler gets them, with their text. */
    ctran_comm_t comm = handled(CTRAN_COMM_SELF, note);
    last.calls = 0;
    OK(ctran_comm_call_errhandler(comm, own));
    expect_noted(1, own, comm, "kitchen");
    OK(ctran_comm_free(&comm));
    EXPECT_RC(CTRAN_ERR_OTHER, ctran_remove_error_class(own));
    EXPECT_RC(CTRAN_ERR_ARG, ctran_remove_error_class(code));
    EXPECT_RC(CTRAN_ERR_ARG, ctran_remove_error_code(own));
    EXPECT_RC(CTRAN_ERR_ARG, ctran_remove_error_class(CTRAN_ERR_TAG));
    EXPECT_RC(CTRAN_ERR_ARG, ctran_add_error_string(CTRAN_ERR_TAG, "mine"));
    EXPECT_RC(CTRAN_ERR_ARG, ctran_add_error_string(code, NULL));
    EXPECT_RC(CTRAN_ERR_ARG, ctran_remove_error_string(code));
    OK(ctran_remove_error_code(code));
    OK(ctran_remove_error_class(own));
    EXPECT_RC(CTRAN_ERR_ARG, ctran_error_class(code, &found));
    EXPECT_RC(CTRAN_ERR_ARG, ctran_add_error_code(own, &found));
    EXPECT_EQ(own, found);
    OK(ctran_add_error_class(&found)); /* not the same again */
    EXPECT_EQ(code + 1, found);
    OK(ctran_remove_error_class(found));
}

int main(int argc, char **argv)
{
    static const struct subject subjects[] = {
        {"called", called},
        {"called once", called_once},
        {"without an object", without_object},
        {"changes the code", changes_the_code},
        {"calls back", calls_back},
        {"freed while in use", freed_while_in_use},
        {"handles", handles},
        {"refused", refused},
        {"codes of the program", codes_of_the_program},
    };
    int before, code;
    OK(ctran_add_error_class(&before));
    OK(ctran_add_error_code(before, &code));
    OK(ctran_add_error_string(code, "from before"));
    const char *initial = getenv("CTRAN_INITIAL_ERRHANDLER");
    check_start(argc, argv);
    expect_text(code, "from before");
    if (initial != NULL) {
        const bool is_return = strcmp(initial, "return") == 0;
        EXPECT_PTR(is_return ? CTRAN_ERRORS_RETURN : CTRAN_ERRORS_ABORT,
                   handler_of(CTRAN_COMM_WORLD));
        EXPECT_PTR(handler_of(CTRAN_COMM_WORLD), handler_of(CTRAN_COMM_SELF));
    }
    OK(ctran_comm_set_errhandler(CTRAN_COMM_SELF, CTRAN_ERRORS_RETURN));
    check_run(subjects, LEN(subjects));
    OK(ctran_comm_create_errhandler(note, &mine)); /* outlives what uses it */
    OK(ctran_comm_set_errhandler(CTRAN_COMM_WORLD, mine));
    int rc = check_end();
    expect_text(code, "from before");
    OK(ctran_errhandler_free(&mine)); /* at any time */
    return rc;
}
