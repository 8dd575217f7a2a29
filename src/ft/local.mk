# ft: failures of processes, as communicators see them.
libctcore_la_SOURCES += \
	src/ft/agree.c src/ft/agree_lead.c src/ft/agree_msg.c \
	src/ft/failed.c src/ft/ft.h src/ft/own.h \
	src/ft/revoke.c src/ft/shrink.c
