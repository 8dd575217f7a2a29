# launcher/status: see status.h.
launcher_sources += \
	launcher/status/ask.c launcher/status/ask.h \
	launcher/status/blockfile.c launcher/status/blockfile.h \
	launcher/status/command.c launcher/status/command.h \
	launcher/status/ranktable.c launcher/status/ranktable.h \
	launcher/status/server.c launcher/status/server.h \
	launcher/status/status.h \
	launcher/status/analyze.c launcher/status/analyze.h \
	launcher/status/tracefile.c launcher/status/tracefile.h \
	launcher/status/traces.c launcher/status/traces.h \
	launcher/status/store_dump.c launcher/status/store_dump.h
