# launcher/msg: see msg.h.
launcher_sources += \
	launcher/msg/conn.c launcher/msg/conn.h \
	launcher/msg/msg.h \
	launcher/msg/pack.c launcher/msg/pack.h \
	launcher/msg/types.h
