# launcher/daemon: see daemon.h.
launcher_sources += \
	launcher/daemon/daemon.h \
	launcher/daemon/end.c \
	launcher/daemon/nodestore.c launcher/daemon/nodestore.h \
	launcher/daemon/start.c \
	launcher/daemon/state.h
