/* SPDX-License-Identifier: BSD-3-Clause */
/* Names and attributes of datatypes. */
#define CT_FOLDER "api"
#include "api/api.h"

/* ---- names ----------------------------------------------------------------------------------- */

int ctran_type_set_name(ctran_datatype_t datatype, const char *type_name)
{
    static const char      call[] = "ctran_type_set_name";
    const struct ct_dtype *type;
    struct ct_comm        *self;
    int                    rc = ct_check_own_type(call, datatype, &self, &type);
    if (rc == CTRAN_SUCCESS && type_name == NULL) {
        rc = ct_api_raise(self, CTRAN_ERR_ARG, call, "the name is NULL");
    }
    if (rc == CTRAN_SUCCESS) {
        rc = ct_dtype_set_name(self->p, type, type_name);
        rc = rc == CTRAN_SUCCESS ? rc : ct_api_raise(self, rc, call, "for a name");
    }
    return rc;
}

int ctran_type_get_name(ctran_datatype_t datatype, char *type_name, int *resultlen)
{
    static const char      call[] = "ctran_type_get_name";
    const struct ct_dtype *type;
    struct ct_comm        *self;
    int                    rc = ct_check_self(call, &self);
    if (rc == CTRAN_SUCCESS && (type_name == NULL || resultlen == NULL)) {
        rc = ct_api_raise(self, CTRAN_ERR_ARG, call, "an output is NULL");
    }
    if (rc == CTRAN_SUCCESS && datatype == CTRAN_DATATYPE_NULL) {
        strcpy(type_name, "CTRAN_DATATYPE_NULL");
    } else if (rc == CTRAN_SUCCESS) {
        rc = ct_check_type(self, call, datatype, &type);
        if (rc == CTRAN_SUCCESS) {
            ct_dtype_get_name(self->p, type, type_name);
        }
    }
    if (rc == CTRAN_SUCCESS) {
        *resultlen = (int)strlen(type_name);
    }
    return rc;
}

/* ---- attributes ------------------------------------------------------------------------------ */

int ctran_type_create_keyval(ctran_type_copy_attr_function   *type_copy_attr_fn,
                             ctran_type_delete_attr_function *type_delete_attr_fn, int *type_keyval,
                             void *extra_state)
{
    static const char call[] = "ctran_type_create_keyval";
    struct ct_comm   *self;
    int               rc = ct_check_self(call, &self);
    rc = rc == CTRAN_SUCCESS ? ct_check_out(self, call, type_keyval, "type_keyval") : rc;
    if (rc != CTRAN_SUCCESS) {
        return rc;
    }
    struct ct_keyval *keyval =
        ct_keyval_make(ct_dtype_keyvals(self->p), (ct_attr_fn *)type_copy_attr_fn,
                       (ct_attr_fn *)type_delete_attr_fn, extra_state);
    if (keyval == NULL) {
        return ct_api_raise(self, CTRAN_ERR_NO_MEM, call, "for a key");
    }
    *type_keyval = keyval->number;
    return CTRAN_SUCCESS;
}

/* The key is held for the caller. */
static int check_keyval(struct ct_comm *self, const char *call, int number, struct ct_keyval **out)
{
    *out = ct_keyval_hold(ct_dtype_keyvals(self->p), number);
    return *out != NULL
               ? CTRAN_SUCCESS
               : ct_api_raise(self, CTRAN_ERR_KEYVAL, call,
                              "%d is no key that ctran_type_create_keyval gave, or was freed",
                              number);
}

int ctran_type_free_keyval(int *type_keyval)
{
    static const char call[] = "ctran_type_free_keyval";
    struct ct_comm   *self;
    struct ct_keyval *keyval;
    int               rc = ct_check_self(call, &self);
    if (rc == CTRAN_SUCCESS) {
        rc = check_keyval(self, call, type_keyval != NULL ? *type_keyval : CTRAN_KEYVAL_INVALID,
                          &keyval);
    }
    if (rc != CTRAN_SUCCESS) {
        return rc;
    }
    ct_keyval_release(keyval);
    ct_keyval_drop(keyval);
    *type_keyval = CTRAN_KEYVAL_INVALID;
    return CTRAN_SUCCESS;
}

/* The attributes of a type, and a key, held. */
static int check(const char *call, ctran_datatype_t datatype, int number, struct ct_comm **self,
                 struct ct_attrs **attrs, struct ct_keyval **keyval)
{
    const struct ct_dtype *type;
    int                    rc = ct_check_own_type(call, datatype, self, &type);
    if (rc == CTRAN_SUCCESS) {
        *attrs = ct_dtype_attrs((*self)->p, type);
        rc = check_keyval(*self, call, number, keyval);
    }
    return rc;
}

int ctran_type_set_attr(ctran_datatype_t datatype, int type_keyval, void *attribute_val)
{
    static const char call[] = "ctran_type_set_attr";
    struct ct_comm   *self;
    struct ct_attrs  *attrs;
    struct ct_keyval *keyval;
    int               rc = check(call, datatype, type_keyval, &self, &attrs, &keyval);
    if (rc != CTRAN_SUCCESS) {
        return rc;
    }
    rc = ct_attr_set(attrs, keyval, attribute_val);
    ct_keyval_drop(keyval);
    return ct_api_pass(self, rc, call);
}

int ctran_type_get_attr(ctran_datatype_t datatype, int type_keyval, void *attribute_val, int *flag)
{
    static const char call[] = "ctran_type_get_attr";
    struct ct_comm   *self;
    struct ct_attrs  *attrs;
    struct ct_keyval *keyval;
    void             *value;
    int               rc = check(call, datatype, type_keyval, &self, &attrs, &keyval);
    if (rc != CTRAN_SUCCESS) {
        return rc;
    }
    rc = ct_check_out(self, call, attribute_val, "attribute_val");
    rc = rc == CTRAN_SUCCESS ? ct_check_out(self, call, flag, "flag") : rc;
    if (rc == CTRAN_SUCCESS) {
        *flag = ct_attr_get(attrs, keyval, &value);
    }
    ct_keyval_drop(keyval);
    if (rc != CTRAN_SUCCESS) {
        return rc;
    }
    if (*flag) {
        memcpy(attribute_val, &value, sizeof value);
    }
    return CTRAN_SUCCESS;
}

int ctran_type_delete_attr(ctran_datatype_t datatype, int type_keyval)
{
    static const char call[] = "ctran_type_delete_attr";
    struct ct_comm   *self;
    struct ct_attrs  *attrs;
    struct ct_keyval *keyval;
    int               rc = check(call, datatype, type_keyval, &self, &attrs, &keyval);
    if (rc != CTRAN_SUCCESS) {
        return rc;
    }
    rc = ct_attr_delete(attrs, keyval);
    ct_keyval_drop(keyval);
    return ct_api_pass(self, rc, call);
}
