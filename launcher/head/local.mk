# launcher/head: see head.h.
launcher_sources += \
	launcher/head/end.c \
	launcher/head/head.h \
	launcher/head/message.c \
	launcher/head/nodes.c \
	launcher/head/report.c \
	launcher/head/run.c launcher/head/run.h \
	launcher/head/state.h
