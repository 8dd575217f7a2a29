# launcher/io: see io.h.
launcher_sources += \
	launcher/io/input.c launcher/io/input.h \
	launcher/io/io.h \
	launcher/io/merge.c launcher/io/merge.h \
	launcher/io/outdir.c launcher/io/outdir.h \
	launcher/io/output.c launcher/io/output.h \
	launcher/io/ownfd.c launcher/io/ownfd.h \
	launcher/io/pty.c launcher/io/pty.h \
	launcher/io/rankin.c launcher/io/rankin.h \
	launcher/io/rankio.c launcher/io/rankio.h \
	launcher/io/terminal.c launcher/io/terminal.h
