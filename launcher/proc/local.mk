# launcher/proc: see proc.h.
launcher_sources += \
	launcher/proc/execwhy.c launcher/proc/execwhy.h \
	launcher/proc/proc.h \
	launcher/proc/procs.c launcher/proc/procs.h \
	launcher/proc/program.c launcher/proc/program.h \
	launcher/proc/reaper.c launcher/proc/reaper.h \
	launcher/proc/session.c launcher/proc/session.h
