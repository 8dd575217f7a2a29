# launcher/hosts: see hosts.h.
launcher_sources += \
	launcher/hosts/hosts.h \
	launcher/hosts/layout.c launcher/hosts/layout.h \
	launcher/hosts/list.c launcher/hosts/list.h \
	launcher/hosts/order.c launcher/hosts/order.h
