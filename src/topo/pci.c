/* SPDX-License-Identifier: BSD-3-Clause */
/* PCI addresses as text; see machine.h. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "topo/machine.h"

void ct_pci_format(const struct ct_pci *pci, char *out, size_t cap)
{
    if (pci->known) {
        snprintf(out, cap, "%04x:%02x:%02x.%x", pci->domain, pci->bus, pci->dev, pci->func);
    } else {
        snprintf(out, cap, "-");
    }
}

/* A hexadecimal number of at most `digits` digits, which ends at `stop`; else NULL. */
static const char *pci_number(const char *at, int digits, char stop, uint32_t *value)
{
    static const char hex[] = "0123456789abcdefABCDEF";
    const size_t      n = strspn(at, hex);
    if (n == 0 || n > (size_t)digits || at[n] != stop) {
        return NULL;
    }
    *value = (uint32_t)strtoul(at, NULL, 16);
    return at + n + (stop != '\0');
}

bool ct_pci_parse(const char *text, struct ct_pci *pci)
{
    const char *first = strchr(text, ':');
    uint32_t    domain = 0, bus, dev, func;
    if (first != NULL && strchr(first + 1, ':') != NULL) {
        text = pci_number(text, 8, ':', &domain);
    }
    if (text == NULL || (text = pci_number(text, 2, ':', &bus)) == NULL ||
        (text = pci_number(text, 2, '.', &dev)) == NULL ||
        pci_number(text, 1, '\0', &func) == NULL || dev > 31 || func > 7) {
        return false;
    }
    *pci = (struct ct_pci){domain, (uint8_t)bus, (uint8_t)dev, (uint8_t)func, true};
    return true;
}
